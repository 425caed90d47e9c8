# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows that go with contacts in the recorded postures."""

from __future__ import annotations

from dataclasses import replace

from sysid_ros.diagnosis import Contacts
from sysid_ros.engine.windows import RESTING
from sysid_ros.errors import listed
from sysid_ros.proposal.experiment_text import Draft

_FEW_CONTACTS = 0.4  # of the postures, that are left out: of all pairs of bodies together
_FEW_AFLOAT = 0.15  # likewise, where a body floats, which the rest of its motion depends on
_WINDOW_WITH_CONTACTS = 0.3  # s
_WINDOW_BY_FORCES = 0.1  # s; what stands by forces alone falls with a time constant of 0.1 to 0.3 s
_FEWEST_INTERVALS = 4  # of measurements in it
_NAMED = 3  # pairs of bodies in a sentence
_SETTLING = 0.1  # s that a floating body takes to rest on something, in which little is compared


def with_windows_for_contacts(
    draft: Draft, seen: Contacts, *, floating: bool, meshes: bool, pushed: float | None = None
) -> Draft:
    """Leave out what touches now and then, as an impact at a wrong time spoils all of a window.

    Where much would be left out, windows are short instead, and those of what rests on contacts
    count less the farther they are off. Where meshes never touch, simulations
    need not carry them.

    Args:
      draft: The proposal so far.
      seen: What touches in the recorded postures.
      floating: Whether the pose of a free body was measured, which settles first.
      meshes: Whether the model has meshes that may touch.
      pushed: Where forces alone drive the robot, the longest usual interval of its measurements
        [s]: without servos nothing holds a posture in a simulation, and what a wrong model makes
        of contacts in a usual window is a search's end.
    """
    if meshes and not (floating or draft.torque or seen.touching or seen.overlaps):
        why = "Nothing touches in the recorded postures, so that contacts need not be simulated."
        return replace(draft, contacts_left_out=True, window_reason=why)
    shares = {pair: share for pair, share in seen.touching.items() if share < 1.0}
    drawn = _drawn(seen)
    if not seen.come_and_go or not shares:
        return replace(draft, contacts_left_out=True, window_reason=drawn) if drawn else draft
    one, other = max(shares, key=lambda pair: shares[pair])
    largest = shares[one, other]
    touch = f"{one!r} and {other!r} touch in {100.0 * largest:.2g} % of the recorded postures"
    few = _FEW_AFLOAT if floating else _FEW_CONTACTS
    if largest <= RESTING and sum(shares.values()) <= few:
        more = f", {len(shares) - 1} more pairs of bodies in fewer" if len(shares) > 1 else ""
        why = f"{touch}{more}; an impact at a wrong time spoils a window, so these are left out."
        return replace(draft, contacts_left_out=True, window_reason=f"{why} {drawn}".rstrip())
    window = min(draft.window or _WINDOW_WITH_CONTACTS, _WINDOW_WITH_CONTACTS)
    if floating:
        # Windows that begin beside a touch-down are far off at first, and squares let them lead.
        window, draft = _WINDOW_WITH_CONTACTS + _SETTLING, replace(draft, loss="huber")
        if pushed is not None:
            window = min(max(_WINDOW_BY_FORCES, _FEWEST_INTERVALS * pushed), window)
    why = f"{touch}; in a short window a contact at a wrong time spoils little."
    return replace(draft, window=window, window_reason=why)


def _drawn(seen: Contacts) -> str:
    """A sentence about bodies that overlap more than they can; none without."""
    if not seen.drawn:
        return ""
    pairs = [
        f"{one!r} and {other!r} overlap by {1e3 * depth:.2g} mm"
        for (one, other), depth in sorted(seen.drawn.items(), key=lambda item: -item[1])
    ]
    return (
        f"{listed(pairs, _NAMED)}, which bodies that are there do not; contacts of these are "
        "not simulated. Exclude them in the model too, as they are drawn too large."
    )
