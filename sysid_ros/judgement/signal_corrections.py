# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identified values beside the model: gains, biases and delays of signals."""

from __future__ import annotations

from collections.abc import Iterable

from sysid_ros.errors import listed
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
        f"{one.name} ({target.attribute} of {', '.join(target.names)}: {one.values[0]:.6g}"
        f"{' s' * (target.attribute == 'delay')})"
        for one in applied
        for target in [one.target]
        if target.element == "signal" and one.values[0] != _NEUTRAL.get(target.attribute, 0.0)
    )


def corrections_warning(applied: Iterable[AppliedParameter]) -> tuple[str, ...]:
    """Return the warning that a model file predicts without them; none where there are none."""
    found = signal_corrections(applied)
    if not found:
        return ()
    return (
        f"A model file cannot carry {listed(found)}: the scores are with "
        f"{'it' if len(found) == 1 else 'them'}. sysid_ros evaluate with --parameters model.xml "
        "gives the score of the file as written.",
    )
