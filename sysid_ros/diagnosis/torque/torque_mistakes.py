# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finds the changes that measured torques ask for, by letting hypotheses compete.

Every hypothesis is scored with the same statistic: what the best possible robot leaves
unexplained, first at few instants, then, where that promises something, at all. A repair is
accepted only if what it leaves is little in itself and much less than without it, in most stretches
of the recordings, and by a size that matters. A wrong nominal model cannot cause that, because the
model's masses and frictions do not enter.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sysid_ros.diagnosis.evidence import (
    Change,
    Explanation,
    Family,
    FindingKind,
    Recorded,
    Suspects,
    best_of,
    discrete,
    families,
    joint_labels,
    repaired,
)
from sysid_ros.diagnosis.fits import Misfit, decisive
from sysid_ros.diagnosis.torque.dynamics import Dynamics
from sysid_ros.diagnosis.torque.mistaken_thrusts import mistaken_thrusts
from sysid_ros.diagnosis.torque.torque_repairs import (
    PROMISING,
    Tried,
    exact,
    explanation_of,
    is_degrees,
    matters,
)

_BETTER = {FindingKind.OFFSET: 0.5, FindingKind.LAG: 0.5}  # of the power, that these may leave
_VISIBLE = {FindingKind.OFFSET: 0.05, FindingKind.LAG: 0.0}  # share unexplained as recorded ...
_OTHERWISE = 0.1  # ... at the least
_GOOD_SIGNS = 0.2  # of the power, that several signs may leave: each has its own row's evidence
_SETTLED = 0.01  # of the power, that a sign, a unit or an exchange leaves if it is all
_FEW_REVERSED = 3  # joints, of each of which position or torque may be the wrong one
_MOSTLY = 0.75  # of the stretches, in which the factor of a position must be better
_MOST_PAIRED = 3  # of which another mistake is looked for beside
_OFFSETS = (-1.0, -0.5, -0.25, -0.1, 0.1, 0.25, 0.5, 1.0)  # of torque, by its whole span


def torque_explanations(recorded: Recorded, test: Dynamics) -> list[Explanation]:
    """The mistake that explains the recordings best, or two of them; none where nothing does."""
    if (thrusts := mistaken_thrusts(recorded, test)) and not _are_late(recorded, test, thrusts):
        return thrusts
    before = test.misfit()
    tried = _tried(recorded, test, before)
    accepted = [one for one in tried if _accepted(one, before, recorded)]
    if accepted:
        return [explanation_of(recorded, test, before, accepted)]
    for first in tried[:_MOST_PAIRED]:
        after = repaired(recorded, first.change)
        other = Dynamics.of(after)
        if other is None:
            continue
        pairs = [
            one
            for one in _tried(after, other, first.misfit)
            if _accepted(one, first.misfit, after)
            and decisive(one.misfit, before)
            and decisive(one.misfit, test.misfit(one.change))
        ]
        if pairs:
            second = explanation_of(after, other, before, pairs)
            return _beside_each_other(recorded, before, first, second)
    return []


def _are_late(recorded: Recorded, test: Dynamics, thrusts: Sequence[Explanation]) -> bool:
    """Return whether one lag of all explains much more than a repair of several thrusts.

    Where their commands are alike but for their phase, each that is late looks like another's.
    """
    (late,) = families(recorded, Suspects(()))
    size, _ = best_of(late, test.glance, test.glance(), test.peek)
    left = min((test.misfit(one.change) for one in thrusts), key=lambda one: one.share)
    return test.misfit(late.change(size)).ratio(left) < _BETTER[FindingKind.LAG]


def position_factor(recorded: Recorded, test: Dynamics) -> Explanation | None:
    """The factor of a joint's position without which robots of any masses explain less.

    That need not be decisive: it is asked for where torque contradicts the masses of the model, so
    that something is wrong. Of torques' factors masses tell more: ``None`` where one explains most.

    Args:
      recorded: What was recorded.
      test: Its test.
    """
    before, glance = test.misfit(), test.glance()
    seen: list[Tried] = []
    for family in families(recorded, _suspects(test)):
        if family.kind is FindingKind.SCALE:
            size, misfit = best_of(family, test.glance, glance, test.peek)
            seen.append(Tried(family.change(size), size, misfit))
    found = [
        one for one in exact(test, before, glance, seen)
        if matters(one, recorded) and not is_degrees(recorded, one)
        and one.misfit.better_share(before) >= _MOSTLY
    ]  # fmt: skip
    best = explanation_of(recorded, test, before, found) if found else None
    positions = {*recorded.positions.values()}
    return None if best is None or positions.isdisjoint(best.change.signals) else best


def rival_of_mounting(recorded: Recorded, test: Dynamics) -> float:
    """The least share that is left by a mistake which looks as if all torques had another gravity.

    Those are reversed torques and the zero of a joint. One where none would be accepted.
    """
    before, glance, suspects = test.misfit(), test.glance(), _suspects(test)
    changes = [*_reversed_together(recorded, suspects, test), *discrete(recorded, suspects)]
    seen = [
        Tried(change, 0.0, test.glance(change))
        for change in changes
        if change.kind is FindingKind.SIGN
    ]
    for family in families(recorded, suspects):
        if family.kind is FindingKind.OFFSET:
            size, misfit = best_of(family, test.glance, glance, test.peek)
            seen.append(Tried(family.change(size), size, misfit))
    found = exact(test, before, glance, seen)
    return min((one.share for one in found if _accepted(one, before, recorded)), default=1.0)


def torque_offset(recorded: Recorded, test: Dynamics, best: Explanation) -> Explanation | None:
    """The constant torque on the joint whose zero explains best; ``None`` where it has no torque.

    Args:
      recorded: What was recorded.
      test: Its test.
      best: The zero of a joint's position, or what else explains.
    """
    own = [
        label
        for actuator, label in recorded.efforts.items()
        if recorded.positions.get(recorded.joint_of(actuator)) in best.change.offset
    ]
    if best.change.kind is not FindingKind.OFFSET or len(own) != 1:
        return None
    span = float(np.ptp(test.data.value[own[0]]))
    family = Family(FindingKind.OFFSET, (own[0],), tuple(span * one for one in _OFFSETS))
    size, misfit = best_of(family, test.misfit, test.misfit(), test.peek)
    return Explanation(family.change(size), size, best.before, misfit.share)


def _suspects(test: Dynamics) -> Suspects:
    """All joints with torques, those that are explained worst first."""
    shares = test.shares()
    return Suspects(tuple(sorted(shares, key=lambda j: -shares[j])), shares, test.silent)


def _beside_each_other(
    recorded: Recorded, before: Misfit, first: Tried, second: Explanation
) -> list[Explanation]:
    """Two repairs, the first looked for again beside the second: what is as good, and its size.

    An exchange comes first, and labels are then those of the repaired signals.
    """
    by_first = partial(_behind, swap=first.change)  # an exchange undoes itself
    second = _with_changes(second, by_first)
    rest = repaired(recorded, second.change)
    one = Explanation(first.change, first.size, before.share, second.after)
    if (test := Dynamics.of(rest)) is not None:
        left = test.misfit()
        found = [one for one in _tried(rest, test, left) if _accepted(one, left, rest)]
        one = explanation_of(rest, test, before, found) if found else one
    if second.change.kind is FindingKind.SWAP:
        return [second, one]
    return [one, _with_changes(second, partial(_behind, swap=one.change))]


def _with_changes(one: Explanation, moved: Callable[[Change], Change]) -> Explanation:
    others = tuple(map(moved, one.alternatives))
    return replace(one, change=moved(one.change), alternatives=others)


def _behind(change: Change, swap: Change) -> Change:
    """A change of values as it is behind an exchange; any other, and behind any other, as it is."""
    if swap.kind is not FindingKind.SWAP or change.kind is FindingKind.SWAP:
        return change

    def moved(values: Mapping[str, float]) -> dict[str, float]:
        return {swap.source(label): value for label, value in values.items()}

    scale, offset, delay = moved(change.scale), moved(change.offset), moved(change.delay)
    return replace(change, scale=scale, offset=offset, delay=delay)


def _tried(recorded: Recorded, test: Dynamics, before: Misfit) -> list[Tried]:
    """The most promising repairs, the best first."""
    hidden = before.share < _VISIBLE[FindingKind.OFFSET]
    suspects = Suspects(()) if hidden else _suspects(test)
    glance = test.glance()
    changes = [*_reversed_together(recorded, suspects, test), *discrete(recorded, suspects)]
    if recorded.poses and before.share <= _OTHERWISE:
        changes = []  # none could be accepted by itself, and contacts move with each position
    seen = [Tried(change, 0.0, test.glance(change)) for change in changes]
    found = exact(test, before, glance, seen)
    if any(one.share**2 < _SETTLED and _accepted(one, before, recorded) for one in found):
        return found
    for family in families(recorded, suspects):
        if before.share <= _VISIBLE.get(family.kind, _OTHERWISE):
            continue  # it could not be accepted
        if test.left_by_others(family.labels).ratio(glance) >= PROMISING:
            continue
        size, misfit = best_of(family, test.glance, glance, test.peek)
        one = Tried(family.change(size), size, misfit)
        if not is_degrees(recorded, one):
            seen.append(one)
    return exact(test, before, glance, seen)


def _reversed_together(recorded: Recorded, suspects: Suspects, test: Dynamics) -> list[Change]:
    """The reversed signs of several torques at once, none of which might help alone.

    Of few joints also that of what was measured in the place of any of their torques.
    """
    if not suspects.joints:
        return []
    wrong = test.reversed_joints()
    own = {a: one for a, one in recorded.efforts.items() if recorded.joint_of(a) in wrong}
    if not 1 < len(own) < len(recorded.efforts):
        return []  # one or all of them are tried anyway
    sides = [((one,), joint_labels(recorded, recorded.joint_of(a))) for a, one in own.items()]
    which = itertools.product(*(sides if len(own) <= _FEW_REVERSED else [one[:1] for one in sides]))
    found = [[*itertools.chain(*one)] for one in which]
    return [Change(FindingKind.SIGN, scale=dict.fromkeys(labels, -1.0)) for labels in found]


def _accepted(one: Tried, before: Misfit, recorded: Recorded) -> bool:
    """Return whether a repair is decisive, of something visible, and by a size that matters."""
    kind = one.change.kind
    visible = before.share > _VISIBLE.get(kind, _OTHERWISE)
    several = kind is FindingKind.SIGN and len(one.change.signals) > 1
    good = {"good": _GOOD_SIGNS} if several else {}
    better = decisive(one.misfit, before, _BETTER.get(kind), **good)
    return visible and better and matters(one, recorded)
