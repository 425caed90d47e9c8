# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Findings about values in words."""

from __future__ import annotations

import math

from sysid_ros.diagnosis.finding import Change, Finding, FindingKind
from sysid_ros.diagnosis.repair import ExperimentLines
from sysid_ros.errors import listed


def finding_of(
    change: Change,
    lines: ExperimentLines,
    evidence: dict[str, float],
    why: str,
    *,
    alternatives: tuple[Change, ...] = (),
    interval: tuple[float, float] | None = None,
) -> Finding:
    """Say what a change undoes, on what grounds, and how.

    Args:
      change: The repair.
      lines: The experiment's entries.
      evidence: Figures behind it.
      why: The grounds, as a sentence.
      alternatives: Changes that would repair it as well.
      interval: Of the change's number, 95 %.
    """
    repair = lines.with_change(change)
    others = tuple(label for other in alternatives for label in other.signals)
    also = f" {_all(others)} could be the wrong one as well." if others else ""
    return Finding(
        kind=change.kind,
        signals=tuple(dict.fromkeys((*change.signals, *others))),
        evidence=evidence,
        sentence=f"{_claim(change, interval)} {why}{also}",
        repair=repair.text,
        overrides=repair.overrides,
    )


def _claim(change: Change, interval: tuple[float, float] | None) -> str:
    names = _all(change.signals)
    several = len(change.signals) > 1
    if change.kind is FindingKind.SIGN:
        return f"{names} {'have' if several else 'has'} the wrong sign."
    if change.kind is FindingKind.DEGREES:
        factor = next(iter(change.scale.values()))
        if factor < 1.0:
            return f"{names} {'are' if several else 'is'} in degrees; the model uses radians."
        return f"{names} {'were' if several else 'was'} divided by 57.3 once too often."
    if change.kind is FindingKind.SWAP:
        pairs = ", and ".join(f"{one!r} with {other!r}" for one, other in change.exchange)
        return f"Exchanged: {pairs}."
    if change.kind is FindingKind.OFFSET:
        label, offset = next(iter(change.offset.items()))
        return f"{label!r} is off by {-offset:.3g}{_within(interval, -1.0)}."
    if change.kind is FindingKind.SCALE:
        factor = next(iter(change.scale.values()))
        inverse = None if interval is None else (1.0 / interval[1], 1.0 / interval[0])
        factors = [f"{1.0 / one:.3g}" for one in change.scale.values()]
        if len({*factors}) == 1:
            del factors[1:]
        return (
            f"{names} {'are' if several else 'is'} {', '.join(factors)} times what was measured"
            + (f"{_within(inverse, 1.0)}.")
        )
    delay = next(iter(change.delay.values()))
    verb = "take" if several else "takes"
    milliseconds = None if interval is None else (1e3 * interval[0], 1e3 * interval[1])
    early = "after" if delay > 0.0 else "before"
    within = _within(milliseconds, math.copysign(1.0, delay))
    return f"{names} {verb} effect {abs(1e3 * delay):.3g} ms{within} {early} {_its(several)} stamp."


def _within(interval: tuple[float, float] | None, sign: float) -> str:
    if interval is None:
        return ""
    low, high = sorted(sign * end for end in interval)
    return f" (95 % interval {low:.3g} to {high:.3g})"


def _its(several: bool) -> str:
    return "their" if several else "its"


def _all(names: tuple[str, ...]) -> str:
    return listed(map(repr, names), None, last=" and ")
