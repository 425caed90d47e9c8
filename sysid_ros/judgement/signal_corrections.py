# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identified values beside the model: gains, biases and delays of signals."""

from __future__ import annotations

from collections.abc import Iterable

from sysid_ros.judgement.outcome import AppliedParameter

_NEUTRAL = {"gain": 1.0}  # of what changes nothing; zero for the others


def signal_corrections(applied: Iterable[AppliedParameter]) -> tuple[str, ...]:
    """Name the values that a model file cannot carry, though predictions were made with them.

    Args:
      applied: Every parameter with what it is written into.

    Returns:
      Such as ``servo_delay (delay of servo: 0.012 s)``.
    """
    return tuple(
        f"{one.name} ({attribute} of {_names(one.modifier['name'])}: {one.values[0]:.6g}"
        f"{' s' * (attribute == 'delay')})"
        for one in applied
        if one.modifier.get("type") == "signal"
        for attribute in [str(one.modifier["attribute"])]
        if one.values[0] != _NEUTRAL.get(attribute, 0.0)
    )


def corrections_warning(applied: Iterable[AppliedParameter]) -> tuple[str, ...]:
    """Return the warning that a model file predicts without them; none where there are none."""
    found = signal_corrections(applied)
    if not found:
        return ()
    return (
        f"A model file cannot carry {', '.join(found)}: the scores are with "
        f"{'it' if len(found) == 1 else 'them'}. sysid_ros evaluate with --parameters model.xml "
        "gives the score of the file as written.",
    )


def _names(name: str | list[str]) -> str:
    return name if isinstance(name, str) else ", ".join(name)
