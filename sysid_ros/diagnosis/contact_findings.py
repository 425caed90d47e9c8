# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Findings about what the model touches, and about simulations that run away."""

from __future__ import annotations

from sysid_ros.diagnosis.contacts import Contacts, Overlap
from sysid_ros.diagnosis.finding import Finding, FindingKind

_NAMED = 6  # pairs of bodies in a sentence


def contact_findings(seen: Contacts, *, mistaken: bool = False) -> list[Finding]:
    """Findings of lasting overlaps and of windows that no simulation gets through.

    Args:
      seen: What touches in the recorded postures.
      mistaken: Whether other mistakes are known, any of which may be why a simulation runs away.
    """
    found = [_overlapping(seen.overlaps)] if seen.overlaps else []
    lost, tried = seen.diverged
    if lost and not mistaken:
        found.append(_running_away(lost, tried, bool(seen.overlaps)))
    return found


def _overlapping(overlaps: tuple[Overlap, ...]) -> Finding:
    pairs = [
        f"{one.bodies[0]!r} ({one.geoms[0]}) and {one.bodies[1]!r} ({one.geoms[1]}) by "
        f"{1000.0 * one.depth:.2g} mm"
        for one in overlaps[:_NAMED]
    ]
    more = f" and {len(overlaps) - _NAMED} more pairs" if len(overlaps) > _NAMED else ""
    excludes = "".join(
        f'<exclude body1="{one.bodies[0]}" body2="{one.bodies[1]}"/>' for one in overlaps
    )
    return Finding(
        FindingKind.OVERLAP,
        (),
        {"pairs": float(len(overlaps)), "depth": max(one.depth for one in overlaps)},
        "Bodies of the model overlap in every recorded posture, and contacts push them apart for "
        f"ever: {'; '.join(pairs)}{more}. MuJoCo leaves out contacts between a body and its "
        "parent, but not where the parent stands still. Exclude the pairs in the model, "
        f"<contact>{excludes}</contact>, or switch contacts off: "
        '<option><flag contact="disable"/></option>.',
        "",
        (),
    )


def _running_away(lost: int, tried: int, overlapping: bool) -> Finding:
    cause = (
        "The overlapping bodies may be the reason."
        if overlapping
        else "A time step too long for stiff servos or light bodies, a wrong unit of a command or "
        "wrong inertias may be the reason."
    )
    return Finding(
        FindingKind.RUNAWAY,
        (),
        {"windows": float(lost), "tried": float(tried)},
        f"With the model's own values the simulation flies apart in {lost} of {tried} stretches of "
        f"the recordings, from the recorded posture. {cause}",
        "",
        (),
    )
