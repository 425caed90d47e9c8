# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The force on one joint at many instants, and the part of it that the model's masses take."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.diagnosis.fits.one_mass import JointTorque

_FELT = 0.01  # of a joint's force, that another gravity changes; servos' laws are no better known
_BETTER_BLOCKS = 0.75  # of the stretches, in which it must be better
_CLEAR = 0.8  # of the power left with the model's gravity, that another factor may leave
_OPEN = 1e-6  # share of a mass's torque that nothing else explains, below which nothing is known
_ODD = 6.0  # of the usual remainder, from which something else acts on a joint
_NEAR = 4  # instants on either side, that a filter spreads it to
_MOST_ODD = 0.3  # of the instants; where there are more, it is no exception
_ROUNDS = 4


@dataclass(frozen=True)
class JointForces:
    """Force on one joint, gravity by body, and what else acts on it, over n instants."""

    joint: int  # its number
    force: FloatArray  # (n,)
    gravity: FloatArray  # of the model's bodies, (n, bodies)
    inertial: FloatArray  # the same of their inertia, (n, bodies)
    others: FloatArray  # what acts besides, each of an unknown size, (n, k)
    block: IndexArray  # the stretch of time of each instant, (n,)

    def ordinary(self) -> JointForces:
        """The same without instants at which no masses and no friction explain the force.

        A touch lasts a moment, and is many times as large as all else that is left.
        """
        matrix = np.column_stack([self.gravity, self.inertial, self.others])
        size = np.linalg.norm(matrix, axis=0)
        matrix = (matrix / np.maximum(size, 1e-300))[:, size > 1e-9 * size.max(initial=0.0)]
        use = np.ones(len(self.force), dtype=np.bool_)
        for _ in range(_ROUNDS):
            found = np.linalg.lstsq(matrix[use], self.force[use], rcond=1e-9)[0]
            left = np.abs(self.force - matrix @ found)
            odd = left > _ODD * 1.4826 * float(np.median(left[use]))
            kept = np.convolve(odd, np.ones(2 * _NEAR + 1), "same") < 0.5
            if np.mean(kept) < 1.0 - _MOST_ODD or np.array_equal(kept, use):
                break
            use = kept
        return self.at(use)

    def at(self, use: BoolArray) -> JointForces:
        """The same at some of the instants, (n,)."""
        parts = ("force", "gravity", "inertial", "others", "block")
        return replace(self, **{name: getattr(self, name)[use] for name in parts})

    def factor(self) -> tuple[float, float, float] | None:
        """The factor of the model's gravity with its interval; ``None`` where nothing is clear."""
        whole, free = self.gravity.sum(axis=1), self._beside_gravity()
        matrix = np.column_stack([whole, free])
        size = np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
        matrix = matrix / size
        inverse = np.linalg.pinv(matrix.T @ matrix, rcond=1e-8)
        found = inverse @ (matrix.T @ self.force)
        left, before = self.force - matrix @ found, _without(free, self.force - whole)
        off = (1.0 - found[0] / size[0]) * _without(free, whole)
        if np.mean(off**2) < _FELT**2 * np.mean(self.force**2):
            return None
        parts = [self.block == number for number in np.unique(self.block)]
        better = np.mean([left[part] @ left[part] < before[part] @ before[part] for part in parts])
        if left @ left > _CLEAR * (before @ before) or better < _BETTER_BLOCKS:
            return None
        scores = np.stack([matrix[part].T @ left[part] for part in parts])
        spread = inverse @ (scores.T @ scores) @ inverse * len(parts) / (len(parts) - 1)
        quantile = float(scipy.special.stdtrit(len(parts) - 1, 0.975))
        reach = quantile * math.sqrt(float(spread[0, 0])) / float(size[0])
        factor = float(found[0] / size[0])
        return factor - reach, factor, factor + reach

    def torque(self) -> JointTorque:
        """Return what each mass takes, and what the model's leave, without what else there is."""
        whole = self.gravity + self.inertial
        columns = _without(self.others, whole)
        columns = columns * (np.sum(columns**2, axis=0) > _OPEN * np.sum(whole**2, axis=0))
        left = _without(self.others, self.force - whole.sum(axis=1))
        return JointTorque(columns, left, self.block, float(np.mean(self.force**2)))

    def gravity_alone(self) -> tuple[FloatArray, FloatArray]:
        """The force that gravity leaves (n,), and gravity by body (n, bodies), in usual forces.

        Both without what else there is.
        """
        known = np.column_stack([self.force - self.gravity.sum(axis=1), self.gravity])
        free = _without(self._beside_gravity(), known) / max(float(np.std(self.force)), 1e-12)
        return free[:, 0], free[:, 1:]

    def _beside_gravity(self) -> FloatArray:
        """The rest that acts, and all bodies' inertias together of an unknown size, (n, k + 1)."""
        return np.column_stack([self.inertial.sum(axis=1), self.others])


def _without(others: FloatArray, force: FloatArray) -> FloatArray:
    """The part of a force (n,) or (n, k) that nothing else explains."""
    return np.asarray(force - others @ np.linalg.lstsq(others, force, rcond=None)[0])
