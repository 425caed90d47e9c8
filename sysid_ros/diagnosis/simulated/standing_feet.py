# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of legs against the floor that their feet stand on, where the base's pose is measured.

A foot that stands is on the floor, whatever moves the robot and whatever it weighs. Of legs that
stand while the base moves, one whose foot seems to be above or within the floor that the others
agree on has a mistaken position. Nor does a foot that seems to stand as long as it moves with the
base tell anything, as a leg that is held up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import (
    DECISIVE,
    DEGREE,
    Change,
    Explanation,
    Family,
    FindingKind,
    Recorded,
    best_of,
    both_ways,
    joint_labels,
    joint_pairs,
    profile_interval,
    repaired,
)
from sysid_ros.diagnosis.fits import Misfit, decisive, misfit_of

_ON_FLOOR = 0.02  # of a leg's length, by which feet that stand are above or within the floor
_ROUGHLY = 0.1  # of it, by which zeros are compared first
_STANDS = 0.6  # of the time, that a foot that stands may be elsewhere
_OFF = 0.5  # of it, that one whose position is mistaken is elsewhere at the least
_BETTER = 0.5  # of that, that a repair may leave
_OTHERS = 2  # feet that must stand beside the one in question
_LEAST_ROWS = 50  # postures
_BLOCK = 10  # of them, that make a stretch
_REACH = 0.15  # rad, about the rough size of a zero, in which the fine one is
_FINE = 21  # zeros about the best one, from which its interval is read
_FACTORS = (0.5, 2.0)
_TURNS = 0.1  # rad; what turns by less, in another unit, is put to zero rather
_MOSTLY = 0.5  # of the time, in which joints are within their ranges
_FAR = 100.0  # m
_MOST = 4  # legs that are repaired

_FIRST = (FindingKind.SWAP, FindingKind.SIGN)  # of two mistakes of a leg

_Part = tuple[Change, float]  # a repair with its size; 0 where it has none


@dataclass(frozen=True)
class _Leg:
    """Joints and the foot that they end in."""

    joints: tuple[int, ...]  # that are measured, from the base on
    geoms: tuple[int, ...]  # of the foot
    length: float  # usual distance of the foot from the base, m


@dataclass(frozen=True)
class _Repair:
    """Changes of positions, each with its size, and what is left of the time off the floor."""

    parts: tuple[_Part, ...]
    left: Misfit


@dataclass(frozen=True)
class _Standing:
    """Recorded postures of a base on legs, over one floor.

    Attributes:
      postures: (n, nq).
      height: Of the floor that most feet are on, over the model's [m].
    """

    recorded: Recorded
    floor: int  # its geom
    legs: tuple[_Leg, ...]
    postures: FloatArray
    height: float = 0.0

    @classmethod
    def of(cls, recorded: Recorded) -> _Standing | None:
        """``None`` unless a base whose pose is measured has three measured legs or more."""
        model = recorded.model
        floors = [
            geom for geom in range(model.ngeom)
            if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE
            and model.body_weldid[model.geom_bodyid[geom]] == 0
        ]  # fmt: skip
        if len(floors) != 1 or len(recorded.poses) != 1 or not recorded.coordinates:
            return None
        postures = recorded.postures()
        legs = _legs(recorded, floors[0], postures)
        if len(legs) <= _OTHERS or len(postures) < _LEAST_ROWS:
            return None
        test = cls(recorded, floors[0], legs, postures)
        levels = [float(np.median(test.heights(leg))) for leg in legs]
        tests = [replace(test, height=level) for level in levels]
        return min(tests, key=lambda one: sum(one.misfit(leg).share ** 2 for leg in legs))

    def heights(
        self, leg: _Leg, changes: Sequence[Change] = (), *, held: bool = False
    ) -> FloatArray:
        """Of a foot over the model's floor after some repairs [m], (n,).

        Args:
          leg: Whose.
          changes: Of positions, done in turn.
          held: Whether the leg stays as it was at first.
        """
        model, postures = self.recorded.model, self._changed(leg, changes)
        if held:
            own = model.jnt_qposadr[[*leg.joints]]
            postures[:, own] = postures[0, own]
        data, found = mujoco.MjData(model), np.empty(len(postures))
        for row, qpos in enumerate(postures):
            data.qpos[:] = qpos
            mujoco.mj_kinematics(model, data)
            found[row] = min(
                mujoco.mj_geomDistance(model, data, self.floor, geom, _FAR, None)
                for geom in leg.geoms
            )
        return found

    def _changed(self, leg: _Leg, changes: Sequence[Change]) -> FloatArray:
        """The postures with a leg's positions repaired, (n, nq)."""
        postures: FloatArray = self.postures.copy()
        places = {self.recorded.positions[joint]: self._place(joint) for joint in leg.joints}
        for change in changes:
            before = postures.copy()
            for label, place in places.items():
                own = before[:, places.get(change.source(label), place)]
                scale, offset = change.scale.get(label, 1.0), change.offset.get(label, 0.0)
                postures[:, place] = scale * own + offset
        return postures

    def _place(self, joint: int) -> int:
        return int(self.recorded.model.jnt_qposadr[joint])

    def keeps_to_ranges(self, leg: _Leg, *changes: Change) -> bool:
        """Return whether a leg's repaired positions are within its joints' ranges mostly."""
        model, postures = self.recorded.model, self._changed(leg, changes)
        for joint in leg.joints:
            low, high = model.jnt_range[joint]
            own = postures[:, self._place(joint)]
            if model.jnt_limited[joint] and np.mean((low <= own) & (own <= high)) < _MOSTLY:
                return False
        return True

    def misfit(self, leg: _Leg, *changes: Change, within: float = _ON_FLOOR) -> Misfit:
        """The share of the time in which a foot is off the floor, as a power."""
        off = (self.heights(leg, changes) - self.height) / (within * leg.length)
        left = np.sqrt(off**2 / (1.0 + off**2))  # Geman and McClure's loss
        return misfit_of(left[:, None], np.arange(len(left)) // _BLOCK)

    def would_carry(self, leg: _Leg) -> bool:
        """Return whether the base moves feet that are held still against it off the floor."""
        own = self.heights(leg, held=True)
        return bool(np.std(own) > _ON_FLOOR * leg.length)

    def explanations(self, leg: _Leg) -> list[Explanation]:
        """The mistake of a leg's positions, or two, with which its foot stands as others do."""
        before = self.misfit(leg)
        stand = sum(self.misfit(one).share ** 2 < _STANDS for one in self.legs if one is not leg)
        if before.share**2 < _OFF or stand < _OTHERS or not self.would_carry(leg):
            return []
        alone = list(self._repairs(leg))
        single = self._as_good(leg, before, alone)
        if single and self._is_possible(leg, single[0]):
            return self._told(leg, before, single)
        first = [one for one in alone if one.parts[0][0].kind in _FIRST]
        pairs = [pair for one in first for pair in self._repairs(leg, *one.parts)]
        double = self._as_good(leg, before, pairs)[:1]
        if double and (not single or self._is_possible(leg, double[0])):
            return self._told(leg, before, double)
        return self._told(leg, before, single) if single else []

    def _as_good(self, leg: _Leg, before: Misfit, tried: Sequence[_Repair]) -> list[_Repair]:
        """Repairs that explain about as much as the best, the more probable first.

        Those that keep to the ranges of joints come before others, and a zero, of any size, last.
        """
        found = [one for one in tried if decisive(one.left, before, _BETTER, _STANDS)]
        found = [one for one in found if self._is_possible(leg, one)] or found
        least = min((one.left.share for one in found), default=0.0)
        good = [one for one in found if DECISIVE * one.left.share**2 <= least**2]
        return sorted(
            good, key=lambda one: (one.parts[-1][0].kind is FindingKind.OFFSET, one.left.share)
        )

    def _is_possible(self, leg: _Leg, one: _Repair) -> bool:
        return self.keeps_to_ranges(leg, *(change for change, _ in one.parts))

    def _told(self, leg: _Leg, before: Misfit, found: Sequence[_Repair]) -> list[Explanation]:
        """The best repairs as explanations, with those that explain as much beside a single one."""
        parts, left = found[0].parts, found[0].left
        own = parts[-1][0].signals
        rivals = [one.parts[-1][0] for one in found[1:] if one.parts[-1][0].signals != own]
        told = []
        for change, size in parts:
            interval = None
            if change.kind is FindingKind.OFFSET:
                interval = self._interval(leg, change, size, [x for x, _ in parts if x != change])
                if interval[0] <= 0.0 <= interval[1]:
                    return []
            told.append(
                Explanation(change, size, before.share, left.share, interval, tuple(rivals))
            )
        return told

    def _interval(
        self, leg: _Leg, change: Change, size: float, others: Sequence[Change]
    ) -> tuple[float, float]:
        """95 % interval of a zero, no narrower than what floors and feet leave open."""
        family = Family(change.kind, change.signals, ())
        sizes = np.linspace(size - _REACH, size + _REACH, _FINE).tolist()
        powers = [self.misfit(leg, *others, family.change(one)).blocks for one in sizes]
        return profile_interval(sizes, np.stack(powers, axis=1), size, _ON_FLOOR)

    def _repairs(self, leg: _Leg, *first: _Part) -> Iterator[_Repair]:
        """Each mistake of a leg's positions that is left beside others, of its best size.

        Exchanges come before any other.
        """
        done = [change for change, _ in first]
        parts: list[_Part] = [] if done else [(one, 0.0) for one in self._exchanges(leg)]
        for joint in leg.joints:
            labels = joint_labels(self.recorded, joint)
            if any(not one.exchange and {*labels} & {*one.signals} for one in done):
                continue
            scales = [(FindingKind.SIGN, -1.0, 0.0)]
            scales += [(FindingKind.SCALE, one, one) for one in _FACTORS]
            if self.recorded.is_hinge(joint):
                turned = float(np.ptp(self.postures[:, self._place(joint)]))
                scales += [
                    (FindingKind.DEGREES, one, 0.0)
                    for one in (DEGREE, 1.0 / DEGREE) if one * turned > _TURNS
                ]  # fmt: skip
                parts.append(self._zero(leg, labels[0], done))
            parts += [
                (Change(kind, scale=dict.fromkeys(labels, by)), size) for kind, by, size in scales
            ]
        for part in parts:
            yield _Repair((*first, part), self.misfit(leg, *done, part[0]))

    def _exchanges(self, leg: _Leg) -> Iterator[Change]:
        hinges = [joint for joint in leg.joints if self.recorded.is_hinge(joint)]
        for pair in itertools.combinations(hinges, 2):
            yield Change(FindingKind.SWAP, exchange=joint_pairs(self.recorded, *pair))

    def _zero(self, leg: _Leg, label: str, done: Sequence[Change]) -> _Part:
        """The zero of a joint with which its foot is on the floor for longest."""
        family = Family(FindingKind.OFFSET, (label,), both_ways())

        def rough(change: Change) -> Misfit:
            return self.misfit(leg, *done, change, within=_ROUGHLY)

        size, _ = best_of(family, rough, rough(family.change(0.0)))
        found = scipy.optimize.minimize_scalar(
            lambda own: self.misfit(leg, *done, family.change(own)).share,
            bounds=(size - _REACH, size + _REACH), method="bounded", options={"xatol": 1e-3},
        )  # fmt: skip
        return family.change(float(found.x)), float(found.x)


def standing_explanations(recorded: Recorded) -> list[Explanation]:
    """The wrong sign, unit, factor, zero or place of a leg's position, or two of one leg.

    Args:
      recorded: What was recorded.
    """
    found: list[Explanation] = []
    for _ in range(_MOST):
        test = _Standing.of(recorded)
        if test is None:
            break
        legs = sorted(test.legs, key=lambda leg: -test.misfit(leg).share)
        told = next((told for leg in legs if (told := test.explanations(leg))), [])
        if not told:
            break
        found += told
        for one in told:
            recorded = repaired(recorded, one.change)
    return found


def _legs(recorded: Recorded, floor: int, postures: FloatArray) -> tuple[_Leg, ...]:
    """The chains of measured joints from a free base to bodies that carry none and may touch."""
    model = recorded.model
    base = int(model.jnt_bodyid[next(iter(recorded.poses))])
    carrying = {int(model.body_weldid[model.body_parentid[b]]) for b in _moving(model)}
    found = []
    for body in _moving(model):
        joints = _joints_to(model, body, base)
        geoms = tuple(
            geom for geom in range(model.ngeom)
            if model.body_weldid[model.geom_bodyid[geom]] == body and _may_touch(model, geom, floor)
        )  # fmt: skip
        if body in carrying or not geoms or not joints or not {*joints} <= {*recorded.positions}:
            continue
        data, apart = mujoco.MjData(model), []
        for qpos in postures[::_BLOCK]:
            data.qpos[:] = qpos
            mujoco.mj_kinematics(model, data)
            apart.append(max(np.linalg.norm(data.geom_xpos[g] - data.xpos[base]) for g in geoms))
        found.append(_Leg(joints, geoms, float(np.median(apart))))
    return tuple(found)


def _moving(model: mujoco.MjModel) -> list[int]:
    """Bodies that move against their parents."""
    return [b for b in range(1, model.nbody) if model.body_weldid[b] == b]


def _joints_to(model: mujoco.MjModel, body: int, base: int) -> tuple[int, ...]:
    """Joints from a base to a body, in order; none if it does not hang on that base."""
    joints: list[int] = []
    while body not in (0, base):
        first = int(model.body_jntadr[body])
        joints = [*range(first, first + int(model.body_jntnum[body])), *joints]
        body = int(model.body_weldid[model.body_parentid[body]])
    return tuple(joints) if body == base else ()


def _may_touch(model: mujoco.MjModel, geom: int, floor: int) -> bool:
    one, other = model.geom_contype, model.geom_conaffinity
    return bool(one[geom] & other[floor] or one[floor] & other[geom])
