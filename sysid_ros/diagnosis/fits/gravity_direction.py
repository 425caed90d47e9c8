# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The gravity with which some robot explains the torques: how an arm is mounted.

A description of an arm stands upright, a real one may hang from a ceiling or a wall.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.fits.misfit import Misfit, decisive

_USUAL = 9.81  # m/s^2, of models without gravity
_PROMISING = 0.5  # of the power left as modelled, that a direction may leave at a glance
_STEPS = (0.35, 0.12, 0.04)  # rad, by which the best direction is turned
_AS_GOOD = 1.1  # ratio of powers up to which an axis explains as well as what lies near it
_NEAR_AXIS = 0.1  # rad


def other_gravity(
    glance: Callable[[FloatArray], Misfit], exact: Callable[[FloatArray], Misfit], own: FloatArray
) -> tuple[FloatArray, Misfit] | None:
    """Find another gravity that explains the recordings decisively better.

    Args:
      glance: What some robot leaves under a gravity, from few instants.
      exact: The same from all of them.
      own: The model's, (3,) m/s^2.

    Returns:
      The gravity, (3,) m/s^2, and what it leaves; ``None`` where the model's is as good. Zero where
      none explains as much as the best direction.
    """
    size = size_of_gravity(own)
    corners = [np.array(one) for one in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(one)]
    tried = [size * one / np.linalg.norm(one) for one in corners]
    before, seen = glance(own).share, [(glance(one).share, tuple(one)) for one in tried]
    least, first = min(seen)
    if least**2 > _PROMISING * before**2:  # a base that leans a little lies nearest to upright
        least, first = before, tuple(own)
    best, least = _turned(glance, np.array(first), least)
    none = glance(np.zeros(3)).share  # of drives that bear the weight, or motion on a level
    if none**2 <= _AS_GOOD * least**2:
        best, least = np.zeros(3), none
    if least**2 > _PROMISING * before**2:
        return None
    best = _on_an_axis(best, glance) if np.any(best) else best
    after = exact(best)
    return (best, after) if decisive(after, exact(own)) else None


def size_of_gravity(own: FloatArray) -> float:
    """The size that a robot's gravity has [m/s^2], the Earth's for a model without any."""
    return float(np.linalg.norm(own)) or _USUAL


def _turned(
    glance: Callable[[FloatArray], Misfit], best: FloatArray, least: float
) -> tuple[FloatArray, float]:
    """The best direction near another one, and the share that it leaves."""
    for step in _STEPS:
        improved = True
        while improved:
            improved = False
            for turn in (*np.eye(3), *-np.eye(3)):
                one = best + step * np.cross(turn, best)
                one *= np.linalg.norm(best) / np.linalg.norm(one)
                share = glance(one).share
                if share < 0.99 * least:
                    best, least, improved = one, share, True
    return best, least


def _on_an_axis(best: FloatArray, glance: Callable[[FloatArray], Misfit]) -> FloatArray:
    """The axis beside a direction where that explains as much: how arms are mounted."""
    size, place = float(np.linalg.norm(best)), int(np.argmax(np.abs(best)))
    axis = np.zeros(3)
    axis[place] = np.copysign(size, best[place])
    near = float(np.linalg.norm(best - axis)) < _NEAR_AXIS * size
    return axis if near and glance(axis).ratio(glance(best)) < _AS_GOOD else best


def turned_first_joint(
    model: mujoco.MjModel, own: FloatArray, other: FloatArray
) -> tuple[str, float] | None:
    """The hinge that all of a robot hangs on, if turning it does what another gravity does.

    Args:
      model: The robot, in its reference posture where it stands.
      own: Its gravity, (3,).
      other: Another of the same size, (3,).

    Returns:
      Its name and the angle by which its zero is off [rad]; ``None`` where there is none.
    """
    if (
        not model.njnt
        or not np.any(own)
        or np.any(model.body_weldid[model.body_parentid[model.jnt_bodyid[1:]]] == 0)
    ):
        return None
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    axis = data.xaxis[0]
    across, along = own - (axis @ own) * axis, axis @ (other - own)
    angle = float(np.arctan2(axis @ np.cross(across, other), across @ other))
    is_hinge = model.jnt_type[0] == mujoco.mjtJoint.mjJNT_HINGE
    if not is_hinge or abs(along) > _NEAR_AXIS * float(np.linalg.norm(across)):
        return None
    return str(model.joint(0).name), angle
