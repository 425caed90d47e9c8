# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The unit of all torques, by the model's own masses.

A factor common to all torques looks like other masses, so that no comparison among them can show
it. The model's own masses can, if they are trusted within a factor of six: a thousand times as
much are millinewton metres, not a heavier robot, and a tenth on every joint are motor currents.
"""

from __future__ import annotations

import math

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.dynamics import Dynamics
from sysid_ros.diagnosis.explanation import Explanation
from sysid_ros.diagnosis.finding import Change, FindingKind
from sysid_ros.diagnosis.fits import Misfit, body_torques, own_torques
from sysid_ros.diagnosis.recorded import Recorded

_TRUSTED = 6.0  # factor by which the model's masses may be off
_UNIT = 1.5  # how far from a power of ten the factor of a unit may be, for other masses
_ALIKE = 3.0  # how far from all torques' factor a motor's own may be
_LEFT = 0.7  # share of the torques that the model's bodies and some friction may leave
_MUCH_BETTER = 0.5  # ratio of unexplained powers, of any factor over a trusted one
_BETTER_BLOCKS = 0.75  # of the stretches, in which it must be better


def torque_unit(recorded: Recorded, test: Dynamics) -> Explanation | None:
    """The factor by which all torques are too large or too small for the model's bodies.

    Args:
      recorded: What was recorded.
      test: Its test.

    Returns:
      A factor for all that is a power of ten, or that of each joint's motor, as for currents;
      ``None`` for a factor that other masses, friction or rotors can explain.
    """
    motion = test.data.motion(recorded.all_positions)
    bodies = body_torques(recorded.model, *motion).sum(axis=2)
    own = own_torques(recorded.model, *motion)
    columns = np.concatenate([bodies[:, :, None], own], axis=2)
    free, solution = test.fitted(columns)
    factor = float(solution[0])
    if free.share > _LEFT or 1.0 / _TRUSTED <= factor <= _TRUSTED or factor <= 0.0:
        return None
    left_out = range(test.tested) if test.tested > 1 else ()
    if any(_is_right(*test.fitted(columns, without=row)) for row in left_out):
        return None  # one torque is in another unit, or in none, and outweighs the others
    trusted = _TRUSTED if factor > 1.0 else 1.0 / _TRUSTED
    bound, _ = test.fitted(own, known=trusted * bodies)
    if free.ratio(bound) > _MUCH_BETTER or free.better_share(bound) < _BETTER_BLOCKS:
        return None
    power = round(math.log10(factor))
    if abs(power) > 1 and 1.0 / _UNIT < factor / 10.0**power < _UNIT:
        scale = dict.fromkeys(recorded.efforts.values(), 10.0**-power)
    else:
        scale = _motor_gains(recorded, test, bodies, own, factor)
    size = next(iter(scale.values()))
    return Explanation(Change(FindingKind.SCALE, scale=scale), size, bound.share, free.share)


def _motor_gains(
    recorded: Recorded, test: Dynamics, bodies: FloatArray, own: FloatArray, factor: float
) -> dict[str, float]:
    """The factor of each torque that makes it what the model's bodies take, by label.

    Args:
      recorded: What was recorded.
      test: Its test.
      bodies: Torque of the model's bodies, (n, nv).
      own: Of each joint by itself, (n, nv, k).
      factor: Of all torques, over that of the bodies: that of joints which do not show their own.
    """
    apart = bodies[:, :, None] * np.eye(bodies.shape[1])
    _, solution = test.fitted(np.concatenate([apart, own], axis=2))
    scale = {}
    for actuator, label in recorded.efforts.items():
        found = float(solution[recorded.model.jnt_dofadr[recorded.joint_of(actuator)]])
        alike = factor / _ALIKE < found < factor * _ALIKE
        scale[label] = float(f"{1.0 / (found if alike else factor):.2g}")
    return scale


def _is_right(left: Misfit, solution: FloatArray) -> bool:
    """Return whether torques have about the size that the model's masses give them."""
    return left.share <= _LEFT and 1.0 / _TRUSTED <= float(solution[0]) <= _TRUSTED
