# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The one mass that explains what all joints together take beside what the model's bodies do.

A score test of each body's mass, as :mod:`sysid_ros.engine.inverse_dynamics.wrong_masses` has of
measured torque. Joints count by what all masses together leave of them, errors are those of
stretches of time, and so many bodies are tried that their intervals are wider than of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray

_FEWEST = 6  # stretches
_OFF = 0.1  # by which a mass is another, interval included
_FAR_OFF = 0.3  # the same where a mass explains little; of a right model that touches itself, 0.25
_GAINED = 0.1  # of what is left, that a mass explains; of right models, that touch themselves, 0.09
_ALONE = 0.5  # of what is left of all joints, that a mass explains which alone is wrong
_BETTER_BLOCKS = 0.75  # of the stretches, in which it must be better
_PLAIN = 0.3  # of what has to be felt, where nothing is left that is as large
_HALF = 0.5  # of a mass, that must show
_ALARMS = 0.01  # of right models that one body is suspected of


@dataclass(frozen=True)
class JointTorque:
    """The torque of each mass on one joint, and the rest of it, cleared of all else."""

    columns: FloatArray  # by body, (n, bodies); zero where nothing is known of a mass
    target: FloatArray  # what the model's bodies leave, (n,)
    block: IndexArray  # the stretch of time of each row, (n,)
    size: float  # mean square of the whole torque

    def tells(self, body: int, share: float) -> bool:
        """Return whether half a mass more would be felt, and be more than what is left.

        Args:
          body: Its column.
          share: Of the joint's force, of which a third is felt.
        """
        change = _HALF * self.columns[:, body]
        more = change @ change > self.target @ self.target
        return bool(more and np.mean(change**2) > (_PLAIN * share) ** 2 * self.size)

    def shows(self, body: int, step: float, share: float) -> bool:
        """Return whether a relative change of a mass is felt and explains some of what is left.

        Args:
          body: Its column.
          step: The relative change.
          share: Of the joint's force, that it changes; a third of that is enough if it is more
            than what is left with it.
        """
        change = step * self.columns[:, body]
        left = self.target - change
        least = share * (_PLAIN if change @ change > left @ left else 1.0)
        felt = np.mean(change**2) > least**2 * self.size
        return bool(felt and left @ left < (1.0 - _GAINED) * (self.target @ self.target))


@dataclass(frozen=True)
class OneMass:
    """The place of a body among the columns, the change of its mass, and that one's error bound."""

    body: int  # its column
    step: float  # relative change of its mass
    reach: float  # half the width of the 95 % interval of that


def one_mass(joints: Sequence[JointTorque]) -> OneMass | None:
    """Find the mass that explains most; ``None`` where it may be the model's, or explains little.

    Args:
      joints: Those whose torque is known, with the same bodies.
    """
    if not joints:
        return None
    mixed, own, power = _sums(joints)
    if len(power) < _FEWEST or not power.shape[1]:
        return None
    count, total = len(power), own.sum(axis=0)
    steps = mixed.sum(axis=0) / np.maximum(total, 1e-300)
    gained = np.where(steps > -1.0, steps * mixed.sum(axis=0), 0.0)
    best = int(np.argmax(gained))
    step, scores = float(steps[best]), mixed[:, best] - steps[best] * own[:, best]
    error = math.sqrt(float(scores @ scores) * count / (count - 1)) / max(
        float(total[best]), 1e-300
    )
    likely, surely = (
        error * float(scipy.special.stdtrit(count - 1, 1.0 - 0.5 * alarms))
        for alarms in (0.05, _ALARMS / power.shape[1])
    )
    better = np.mean(step * (2.0 * mixed[:, best] - step * own[:, best]) > 0.0)
    explained = float(gained[best] / max(power[:, best].sum(), 1e-300))
    least = _OFF if explained >= _ALONE else _FAR_OFF
    if abs(step) - surely < least or better < _BETTER_BLOCKS or explained < _GAINED:
        return None
    return OneMass(best, step, likely)


def _sums(joints: Sequence[JointTorque]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """By stretch and body (b, bodies): column times target, squares of column and of target."""
    sums: FloatArray = np.zeros(
        (3, max(int(one.block.max()) for one in joints) + 1, joints[0].columns.shape[1])
    )
    for one in joints:
        left = (
            one.target - one.columns @ np.linalg.lstsq(one.columns, one.target, rcond=1e-6)[0]
            if one.columns.size
            else one.target
        )
        weight = 1.0 / max(float(left @ left), 1e-12 * len(left) * one.size, 1e-300)
        acts = one.columns.any(axis=0)
        target = one.target[:, None]
        products = (one.columns * target, one.columns**2, acts * target**2)
        for place, product in enumerate(products):
            np.add.at(sums[place], one.block, weight * product)
    mixed, own, power = sums[:, sums[2].any(axis=1)]
    return mixed, own, power
