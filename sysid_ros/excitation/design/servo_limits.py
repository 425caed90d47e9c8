# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The robot's limits where its servos lead it, which is not quite where a motion tells them to."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import places_in_qpos
from sysid_ros.excitation import ExcitationError
from sysid_ros.excitation.design.clearance import Clearance
from sysid_ros.excitation.design.demands import Demands
from sysid_ros.excitation.design.rest_spline import MotionFamily
from sysid_ros.excitation.design.servos import NoServoError, ServoMotion, servo_motion

_SHARE = 0.995  # of what would just keep the limits
_LEAST = 0.9  # of a motion that is kept in one go, as a robot does not answer in proportion
_TRIES = 12


@dataclass(frozen=True)
class Excess:
    """The limit that a simulated motion uses the most."""

    share: float  # of it; above 1 where it is exceeded
    words: str  # the joint, the limit and the time


def servo_excess(
    model: mujoco.MjModel, joints: tuple[str, ...], home: FloatArray, demands: Demands,
    made: ServoMotion,
) -> Excess:  # fmt: skip
    """Return what a motion under the model's own servos uses of the robot's limits.

    Positions, velocities and distances count; forces are limited by the servos themselves.
    """
    robot = demands.robot
    middle, half = 0.5 * (robot.lower + robot.upper), 0.5 * (robot.upper - robot.lower)
    used = (
        ("its range", np.abs(made.position - middle) / half, half),
        ("its velocity limit", np.abs(made.velocity) / robot.velocity, robot.velocity),
    )
    found = []
    for what, shares, limit in used:
        row, joint = np.unravel_index(int(np.argmax(shares)), shares.shape)
        share = float(shares[row, joint])
        over = (share - 1.0) * limit[joint]
        found.append(
            Excess(share, f"{joints[joint]} leaves {what} by {over:.2g} at {made.times[row]:.2f} s")
        )
    clearance = Clearance(model, joints, home, 0.0)
    near = clearance.near(made.position, 0.0)
    if near.distance.size and near.distance.min() < 0.0:
        worst = int(np.argmin(near.distance))
        what = clearance.describe(int(near.pair[worst]))
        found.append(
            Excess(1.0 / _LEAST, f"{what} touch at {made.times[near.sample[worst]]:.2f} s")
        )
    return max(found, key=lambda one: one.share)


def kept_by_servos(
    model: mujoco.MjModel, joints: tuple[str, ...], home: FloatArray, demands: Demands,
    spline: MotionFamily, control: FloatArray,
) -> FloatArray:  # fmt: skip
    """Draw a motion in until the model's servos keep the robot's limits along it.

    It is that of control points (k, n) about ``home``, the posture of the whole model, (nq,).

    Returns:
      Control points; the same where joints have no servos.

    Raises:
      ExcitationError: No motion of this form does, and why.
    """
    start = home[places_in_qpos(model, joints)]
    share = 1.0

    def commands(times: FloatArray) -> FloatArray:
        return np.asarray(start + spline.basis(times) @ (share * control))

    for _ in range(_TRIES):
        try:
            made = servo_motion(model, joints, home, spline.duration, commands)
        except NoServoError:
            return control
        excess = servo_excess(model, joints, home, demands, made)
        if excess.share <= 1.0:
            return share * control
        share *= max(_SHARE / excess.share, _LEAST)
    raise ExcitationError(
        f"under its own servos the model does not keep the limits: {excess.words}, even with "
        f"{100 * share:.0f} % of the motion; its gains are too low or its time step too long for it"
    )
