# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Angles of wheels against the pose of the base that rolls on them.

A wheel that rolls is still where it touches the floor. So the motion of the base says how fast each
wheel turns, whatever drives it, and what the model weighs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.diagnosis.evidence import (
    DEGREE,
    Change,
    Explanation,
    Family,
    FindingKind,
    Recorded,
    filtered,
    joint_labels,
    joint_pairs,
    moves,
    named_degrees,
    size_interval,
)
from sysid_ros.diagnosis.fits import Misfit, decisive, joint_motion, misfit_of, rolling_rates

_LEAST_ROWS = 50  # instants
_INSTANTS = 300  # that are looked at
_TOUCHING = 0.8  # of the instants, in which all wheels must roll
_VISIBLE = 0.1  # of the speed: wheels slip and radii are rounded
_SMALLEST_FACTOR = 1.25  # of an angle; by less a wheel's radius may be off

# Repairs with their sizes, and what is left beside them.
_Left = tuple[tuple[tuple[Change, float], ...], Misfit]


@dataclass(frozen=True)
class _Rolling:
    """The rates of w wheels as measured and as the base moved on them, at n instants [rad/s].

    Attributes:
      labels: Of each wheel's angle and, where it is measured, its velocity.
      pairs: What is exchanged where two wheels are, by their places.
      turned: (n, w).
      rolled: (n, w).
      turning: The part of that with which the base turns, (n, w).
      block: (n,) the stretch of time of each instant.
    """

    labels: tuple[tuple[str, ...], ...]
    pairs: dict[tuple[int, int], tuple[tuple[str, str], ...]]
    turned: FloatArray
    rolled: FloatArray
    turning: FloatArray
    block: IndexArray

    @classmethod
    def of(cls, recorded: Recorded) -> _Rolling | None:
        """The wheels of a base whose pose is measured; ``None`` unless two at least roll."""
        model = recorded.model
        wheels = [
            joint for joint in recorded.positions
            if recorded.is_hinge(joint) and not model.jnt_limited[joint] and moves(recorded, joint)
            and int(model.body_jntnum[model.jnt_bodyid[joint]]) == 1
        ]  # fmt: skip
        if not recorded.poses or len(wheels) < 2 or not recorded.coordinates:
            return None
        data = filtered(recorded, recorded.coordinates, _LEAST_ROWS)
        if data is None:
            return None
        data = data.thinned(_INSTANTS)
        qpos, qvel, _ = joint_motion(model, *data.motion(recorded.coordinates))
        rolled = rolling_rates(model, qpos, qvel, wheels)
        turning = rolling_rates(model, qpos, _turns(recorded, qvel), wheels)
        known = np.mean(np.isfinite(rolled), axis=0) >= _TOUCHING
        own = [joint for joint, rolls in zip(wheels, known, strict=True) if rolls]
        inside = np.all(np.isfinite(rolled[:, known]), axis=1)
        if len(own) < 2 or np.count_nonzero(inside) < _LEAST_ROWS:
            return None
        dofs = [int(model.jnt_dofadr[joint]) for joint in own]
        labels = tuple(joint_labels(recorded, joint) for joint in own)
        pairs = {
            (a, b): joint_pairs(recorded, own[a], own[b])
            for a, b in itertools.combinations(range(len(own)), 2)
        }
        turned, chosen = qvel[np.ix_(inside, dofs)], np.ix_(inside, known)
        return cls(labels, pairs, turned, rolled[chosen], turning[chosen], data.block[inside])

    def misfit(self, *changes: Change) -> Misfit:
        """The speed at which wheels slip after some repairs, over that at which they roll."""
        turned, place = self.turned, {own[0]: k for k, own in enumerate(self.labels)}
        for change in changes:
            order = [place[change.source(own[0])] for own in self.labels]
            turned = turned[:, order] * [change.scale.get(own[0], 1.0) for own in self.labels]
        return misfit_of((turned - self.rolled) / self._usual, self.block)

    def skidding(self) -> Misfit:
        """The same as recorded, of wheels that turn faster than their base does, by one share."""
        slip, skid = (self.turned - self.rolled) / self._usual, self.turning / self._usual
        share = float(np.vdot(slip, skid)) / max(float(np.vdot(skid, skid)), 1e-300)
        return misfit_of(slip - max(share, 0.0) * skid, self.block)

    @property
    def _usual(self) -> FloatArray:
        usual = np.sqrt(np.mean(self.rolled**2, axis=0))
        return np.asarray(np.maximum(usual, 1e-9))

    def discrete(self) -> Iterator[Change]:
        """Signs, degrees for radians and exchanges."""
        for own in self.labels:
            yield Change(FindingKind.SIGN, scale=dict.fromkeys(own, -1.0))
            for factor in (DEGREE, 1.0 / DEGREE):
                yield Change(FindingKind.DEGREES, scale=dict.fromkeys(own, factor))
        for pair in self.pairs.values():
            yield Change(FindingKind.SWAP, exchange=pair)

    def scales(self) -> Iterator[tuple[Change, float]]:
        """The factor of each wheel's angle with which it rolls best, where it is another."""
        for own, turned, rolled in zip(self.labels, self.turned.T, self.rolled.T, strict=True):
            size = float(turned @ rolled) / max(float(turned @ turned), 1e-300)
            if size > 0.0 and max(size, 1.0 / size) >= _SMALLEST_FACTOR and not named_degrees(size):
                yield Family(FindingKind.SCALE, own, ()).change(size), size

    def concerns_all(self, changes: Sequence[Change]) -> bool:
        """Return whether repairs do the same to all wheels, as to the pose instead."""
        factors = [
            float(np.prod([one.scale.get(own[0], 1.0) for one in changes])) for own in self.labels
        ]
        alike = 1.0 / _SMALLEST_FACTOR < max(factors) / min(factors) < _SMALLEST_FACTOR
        return alike and not any(one.exchange for one in changes)


def _turns(recorded: Recorded, qvel: FloatArray) -> FloatArray:
    """The part of velocities (n, nv) with which bases turn."""
    found = np.zeros_like(qvel)
    for joint in recorded.poses:
        dof = int(recorded.model.jnt_dofadr[joint])
        found[:, dof + 3 : dof + 6] = qvel[:, dof + 3 : dof + 6]
    return found


def rolling_explanations(recorded: Recorded) -> list[Explanation]:
    """The wrong sign, unit, factor or place of a wheel's angle, or two of these.

    What concerns all wheels alike is not told: the pose, or their radius, may be wrong as well. Nor
    is what skidding explains, as of four wheels that nothing steers, which turn by it.

    Args:
      recorded: What was recorded.
    """
    test = _Rolling.of(recorded)
    if test is None or (before := test.misfit()).share < _VISIBLE:
        return []
    signs = [(change, 0.0) for change in test.discrete()]
    alone = [(one, test.misfit(one[0])) for one in (*signs, *test.scales())]
    found: list[_Left] = [((one,), left) for one, left in alone if decisive(left, before)]
    for (one, first), (other, second) in itertools.permutations(alone if not found else [], 2):
        if other[0].exchange and not one[0].exchange:
            continue  # an exchange comes first
        left = test.misfit(one[0], other[0])
        if decisive(left, before) and decisive(left, first) and decisive(left, second):
            found.append(((one, other), left))
    skidding = test.skidding()
    found = [one for one in found if decisive(one[1], skidding)]
    found = [one for one in found if not test.concerns_all([change for change, _ in one[0]])]
    if not found:
        return []
    changes, left = min(found, key=lambda one: (len(one[0]), one[1].share))

    def interval(change: Change, size: float) -> tuple[float, float] | None:
        others = [one for one, _ in changes if one is not change]
        return size_interval(change, size, partial(test.misfit, *others))

    return [Explanation(*one, before.share, left.share, interval=interval(*one)) for one in changes]
