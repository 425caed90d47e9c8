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
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.dynamics import Dynamics
from sysid_ros.diagnosis.evidence import (
    LAGS,
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
    keeps_to_ranges,
    lag_interval,
    motion_range,
    named_degrees,
    repaired,
    resolution_of,
    size_interval,
)
from sysid_ros.diagnosis.fits import (
    Misfit,
    ThrustMixing,
    best_order,
    body_torques,
    decisive,
    joint_motion,
    moment_arms,
)
from sysid_ros.engine.elements import affine_force, joint_of
from sysid_ros.engine.signals import conjugate, rotated

_BETTER = {FindingKind.OFFSET: 0.5, FindingKind.LAG: 0.5}  # of the power, that these may leave
_VISIBLE = {FindingKind.OFFSET: 0.05, FindingKind.LAG: 0.0}  # share unexplained as recorded ...
_OTHERWISE = 0.1  # ... at the least
_GOOD_SIGNS = 0.2  # of the power, that several signs may leave: each has its own row's evidence
_PROMISING = 0.8  # ratio of powers at a glance
_MOSTLY = 0.75  # of the stretches, in which such a repair must be better
_SETTLED = 0.01  # of the power, that a sign, a unit or an exchange leaves if it is all
_MOST_TRIED = 6  # hypotheses that are scored at all instants
_FEW_REVERSED = 3  # joints, of each of which position or torque may be the wrong one
_MOST_PAIRED = 3  # of which another mistake is looked for beside
_SAME = 1.1  # ratio of powers up to which two repairs are as good as each other
_SMALLEST_OFFSET = 0.04  # rad
_OFFSETS = (-1.0, -0.5, -0.25, -0.1, 0.1, 0.25, 0.5, 1.0)  # of torque, by its whole span
_SMALLEST_FACTOR = 1.25
_SMALLEST_THRUST = 1.5  # factor of one of several thrusts
_SMALLEST_LAG = 0.004  # s
# Motion of a joint whose position may be in another unit.
_LEAST_TURN = math.radians(10.0)
_LEAST_TRAVEL = 0.01  # m
_LARGEST_LAG = 0.98 * LAGS[-1]  # s; there the best lag would be longer still
_ORDER = (
    FindingKind.SIGN,
    FindingKind.DEGREES,
    FindingKind.SWAP,
    FindingKind.OFFSET,
    FindingKind.SCALE,
    FindingKind.LAG,
)  # of equally good explanations, the first


@dataclass(frozen=True)
class _Tried:
    """A repair with its size and what it leaves."""

    change: Change
    size: float
    misfit: Misfit

    @property
    def share(self) -> float:
        """Residual with this repair over the torque's variation, 0 to 1."""
        return self.misfit.share


def torque_explanations(recorded: Recorded, test: Dynamics) -> list[Explanation]:
    """The mistake that explains the recordings best, or two of them; none where nothing does."""
    if thrusts := _mistaken_thrusts(recorded, test):
        return thrusts
    before = test.misfit()
    tried = _tried(recorded, test, before)
    accepted = [one for one in tried if _accepted(one, before, recorded)]
    if accepted:
        return [_explanation(recorded, test, before, accepted)]
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
            second = _explanation(after, other, before, pairs)
            return _beside_each_other(recorded, before, first, second)
    return []


def _mistaken_thrusts(recorded: Recorded, test: Dynamics) -> list[Explanation]:
    """Exchanges, signs or the factor of thrusts on a free body, as its motion tells them."""
    for joint in recorded.poses if test.flies else ():
        own = [
            actuator for actuator in recorded.efforts
            if recorded.joint_of(actuator) == joint and joint_of(recorded.model, actuator) is None
        ]  # fmt: skip
        seen = _mixing(recorded, test, joint, own) if len(own) > 1 else None
        if seen is None:
            continue
        before, (order, after) = seen[0].misfit(seen[1]), best_order(*seen)
        if before.share <= _OTHERWISE or not decisive(after, before):
            continue
        labels = [recorded.efforts[actuator] for actuator in own]
        pairs = tuple((labels[one], labels[other]) for one, other in order.exchanges)
        scale = {x: f for x, f in zip(labels, order.factors.tolist(), strict=True) if f != 1.0}
        shares = before.share, after.share
        if any(factor > 0.0 for factor in scale.values()):
            (factor,) = scale.values()
            if max(factor, 1.0 / factor) < _SMALLEST_THRUST:
                continue
            return [Explanation(Change(FindingKind.SCALE, scale=scale), factor, *shares)]
        changes = [Change(FindingKind.SWAP, exchange=pairs)] if pairs else []
        changes += [Change(FindingKind.SIGN, scale=scale)] if scale else []
        return [Explanation(one, 0.0, *shares) for one in changes]
    return []


def _mixing(
    recorded: Recorded, test: Dynamics, joint: int, thrusts: list[int]
) -> tuple[ThrustMixing, FloatArray] | None:
    """The effects of thrusts on a free joint as it moved, and per unit of each input, (6, l)."""
    model, data = recorded.model, test.data
    qpos, qvel, qacc = joint_motion(model, *data.motion(recorded.coordinates))
    first, turn = int(model.jnt_dofadr[joint]), int(model.jnt_qposadr[joint]) + 3
    dofs, back = slice(first, first + 6), conjugate(qpos[:, turn : turn + 4])
    wanted = body_torques(model, qpos, qvel, qacc).sum(axis=2)[:, dofs]
    wanted[:, :3] = rotated(back, wanted[:, :3])
    arms = moment_arms(model, qpos[:1])[0, thrusts, dofs]
    arms[:, :3] = rotated(np.repeat(back[:1], len(thrusts), axis=0), arms[:, :3])
    units = [np.diff(affine_force(model, one, np.array([0.0, 1.0]))) for one in thrusts]
    value, rate, _ = data.motion([recorded.efforts[one] for one in thrusts])
    mixing = ThrustMixing.of(value, rate, wanted, data.block)
    return None if mixing is None else (mixing, (arms * units).T)


def position_factor(recorded: Recorded, test: Dynamics) -> Explanation | None:
    """The factor of a joint's position without which robots of any masses explain less.

    That need not be decisive: it is asked for where torque contradicts the masses of the model, so
    that something is wrong. Of torques' factors masses tell more: ``None`` where one explains most.

    Args:
      recorded: What was recorded.
      test: Its test.
    """
    before, glance = test.misfit(), test.glance()
    seen: list[_Tried] = []
    for family in families(recorded, _suspects(test)):
        if family.kind is FindingKind.SCALE:
            size, misfit = best_of(family, test.glance, glance, test.peek)
            seen.append(_Tried(family.change(size), size, misfit))
    found = [
        one for one in _exact(test, before, glance, seen)
        if max(one.size, 1.0 / one.size) >= _SMALLEST_FACTOR and _still_moves(recorded, one.change)
        and not _is_degrees(recorded, one) and one.misfit.better_share(before) >= _MOSTLY
    ]  # fmt: skip
    best = _explanation(recorded, test, before, found) if found else None
    positions = {*recorded.positions.values()}
    return None if best is None or positions.isdisjoint(best.change.signals) else best


def rival_of_mounting(recorded: Recorded, test: Dynamics) -> float:
    """The least share that is left by a mistake which looks as if all torques had another gravity.

    Those are reversed torques and the zero of a joint. One where none would be accepted.
    """
    before, glance, suspects = test.misfit(), test.glance(), _suspects(test)
    changes = [*_reversed_together(recorded, suspects, test), *discrete(recorded, suspects)]
    seen = [
        _Tried(change, 0.0, test.glance(change))
        for change in changes
        if change.kind is FindingKind.SIGN
    ]
    for family in families(recorded, suspects):
        if family.kind is FindingKind.OFFSET:
            size, misfit = best_of(family, test.glance, glance, test.peek)
            seen.append(_Tried(family.change(size), size, misfit))
    found = _exact(test, before, glance, seen)
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
    recorded: Recorded, before: Misfit, first: _Tried, second: Explanation
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
        one = _explanation(rest, test, before, found) if found else one
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


def _tried(recorded: Recorded, test: Dynamics, before: Misfit) -> list[_Tried]:
    """The most promising repairs, the best first."""
    hidden = before.share < _VISIBLE[FindingKind.OFFSET]
    suspects = Suspects(()) if hidden else _suspects(test)
    glance = test.glance()
    changes = [*_reversed_together(recorded, suspects, test), *discrete(recorded, suspects)]
    if recorded.poses and before.share <= _OTHERWISE:
        changes = []  # none could be accepted by itself, and contacts move with each position
    seen = [_Tried(change, 0.0, test.glance(change)) for change in changes]
    found = _exact(test, before, glance, seen)
    if any(one.share**2 < _SETTLED and _accepted(one, before, recorded) for one in found):
        return found
    for family in families(recorded, suspects):
        if before.share <= _VISIBLE.get(family.kind, _OTHERWISE):
            continue  # it could not be accepted
        if test.left_by_others(family.labels).ratio(glance) >= _PROMISING:
            continue
        size, misfit = best_of(family, test.glance, glance, test.peek)
        one = _Tried(family.change(size), size, misfit)
        if not _is_degrees(recorded, one):
            seen.append(one)
    return _exact(test, before, glance, seen)


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


def _exact(test: Dynamics, before: Misfit, glance: Misfit, seen: list[_Tried]) -> list[_Tried]:
    """Those that promise something at a glance, scored at all instants, the best first."""
    promising = [one for one in seen if one.misfit.ratio(glance) < _PROMISING]
    promising.sort(key=lambda one: one.share)
    exact = [replace(one, misfit=test.misfit(one.change)) for one in promising[:_MOST_TRIED]]
    exact = [one for one in exact if one.misfit.ratio(before) < _PROMISING]
    return sorted(exact, key=lambda one: one.share)


def _accepted(one: _Tried, before: Misfit, recorded: Recorded) -> bool:
    """Return whether a repair is decisive, of something visible, and by a size that matters."""
    kind, size = one.change.kind, one.size
    matters = True
    if kind is FindingKind.OFFSET:
        matters = abs(size) >= _SMALLEST_OFFSET and keeps_to_ranges(recorded, one.change.offset)
    elif kind is FindingKind.SCALE:
        matters = max(size, 1.0 / size) >= _SMALLEST_FACTOR and _still_moves(recorded, one.change)
    elif kind is FindingKind.LAG:
        matters = max(_SMALLEST_LAG, 0.75 * recorded.interval) <= abs(size) < _LARGEST_LAG
    elif kind is FindingKind.DEGREES:
        matters = _still_moves(recorded, one.change)
    visible = before.share > _VISIBLE.get(kind, _OTHERWISE)
    several = kind is FindingKind.SIGN and len(one.change.signals) > 1
    good = {"good": _GOOD_SIGNS} if several else {}
    return matters and visible and decisive(one.misfit, before, _BETTER.get(kind), **good)


def _still_moves(recorded: Recorded, change: Change) -> bool:
    """Return whether a joint moves in the other unit: one that hardly does obeys any model."""
    joints = [joint for joint, label in recorded.positions.items() if label in change.signals]
    after = repaired(recorded, change)
    least = {j: _LEAST_TURN if recorded.is_hinge(j) else _LEAST_TRAVEL for j in joints}
    return not joints or any(motion_range(after, j)[0] >= least[j] for j in joints)


def _is_degrees(recorded: Recorded, one: _Tried) -> bool:
    """Return whether a position's scale is that of degrees, which are a hypothesis of their own."""
    positions = {*recorded.positions.values()}
    scaled = one.change.kind is FindingKind.SCALE and positions & {*one.change.signals}
    return bool(scaled) and named_degrees(one.size)


def _explanation(
    recorded: Recorded, test: Dynamics, before: Misfit, accepted: list[_Tried]
) -> Explanation:
    """The simplest of the best, and what is as good."""
    least = min(one.share for one in accepted)
    equal = [one for one in accepted if one.share**2 <= _SAME * least**2 + 1e-8]
    best = min(equal, key=_simplicity)
    kind = best.change.kind
    others = tuple(
        other.change
        for other in equal
        if other is not best and other.change.kind is kind and kind is not FindingKind.LAG
    )
    interval = (
        lag_interval(
            best.change, best.size, test.misfit, resolution_of(recorded, best.change.signals)
        )
        if kind is FindingKind.LAG
        else size_interval(best.change, best.size, test.misfit)
    )
    return Explanation(best.change, best.size, before.share, best.share, interval, others)


def _simplicity(one: _Tried) -> tuple[int, int, float]:
    return len(one.change.signals), _ORDER.index(one.change.kind), one.share
