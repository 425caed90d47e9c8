# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A page that shows a designed motion before anything moves."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import HINGE, places_in_qpos, places_in_qvel
from sysid_ros.engine.regressor import Regressor
from sysid_ros.excitation.design.clearance import Clearance, Nearest
from sysid_ros.excitation.design.demands import MovingRobot
from sysid_ros.excitation.design.designed_motion import DesignedMotion
from sysid_ros.excitation.design.fitted_parameters import KINDS
from sysid_ros.excitation.design.servo_limits import servo_excess
from sysid_ros.excitation.design.servos import NoServoError, ServoMotion, servo_motion
from sysid_ros.excitation.design.torque_information import FRICTION_SHARE, JointMotion, whole_motion
from sysid_ros.pictures import FRAMES_PER_SECOND, Poses
from sysid_ros.report import number, render_page
from sysid_ros.video import Video, drawing_poses

_FRAMES = 100  # at the most; longer motions are shown faster
_CURVE = 600  # points of a curve
_LOOKS = 200  # instants at which distances are looked at
_HORIZON = 0.3  # m beyond which nothing is near
_NORMAL = 1.96  # standard errors in half an interval of 95 %


def render_preview(
    title: str,
    spec: mujoco.MjSpec,
    robot: MovingRobot,
    motion: DesignedMotion,
    ways: tuple[str, ...],
) -> str:
    """Render a motion with its limits, distances, predicted intervals and an animation.

    Returns:
      One HTML document that loads nothing.
    """
    model, home, demands = robot.model, robot.home, robot.demands
    clearance = Clearance(model, motion.joints, home, demands.clearance)
    times = np.linspace(0.0, motion.duration, _LOOKS)
    nearest = clearance.nearest(motion.values(times), _HORIZON)
    try:
        followed = servo_motion(model, motion.joints, home, motion.duration, motion.values)
    except NoServoError:
        followed = None
    video = _motion_video(spec, home, motion, followed)
    return render_page(
        "motion.html.j2",
        alone=("video.js",),
        title=title,
        told_by=motion.told_by,
        video=video,
        film=base64.b64encode(video.content or b"").decode("ascii"),
        speed=_shown_speed(motion.duration),
        followed=None if followed is None else _followed(robot, motion, followed),
        summary=_summary(motion),
        parameters=_parameters(motion),
        distances=(_distance(clearance, times, nearest), *ways),
        clearance=_curve(times, nearest.distance, demands.clearance),
        times=np.linspace(0.0, motion.duration, _CURVE).tolist(),
        joints=_joints(robot, motion, followed),
    )


def _summary(motion: DesignedMotion) -> str:
    return (
        f"{motion.duration:g} s, {len(motion.joints)} joints, {len(motion.names)} parameters, "
        f"condition number {motion.condition:.1f}."
    )


def _parameters(motion: DesignedMotion) -> list[dict[str, Any]]:
    """Rows of the table, the least known first."""
    now = motion.errors_before
    rows = [
        {
            "name": name,
            "value": number(motion.nominal[i], 4),
            "now": None if now is None else number(_NORMAL * now[i], 3),
            "then": number(_NORMAL * motion.standard_errors[i], 3),
            "share": number(100.0 * _NORMAL * motion.relative_errors[i], 3)
            if motion.nominal[i]
            else "",
        }
        for i, name in enumerate(motion.names)
    ]
    return [rows[i] for i in motion.vaguest_first]


def _distance(clearance: Clearance, times: FloatArray, nearest: Nearest) -> str:
    if not np.any(np.isfinite(nearest.distance)):
        return f"No pair of geoms comes nearer than {_HORIZON:g} m."
    at = int(np.nanargmin(nearest.distance))
    return (
        f"The nearest are {clearance.describe(int(nearest.pair[at]))}: "
        f"{1e3 * nearest.distance[at]:.0f} mm after {times[at]:.1f} s, where "
        f"{1e3 * clearance.least:g} mm are asked for."
    )


def _curve(times: FloatArray, distance: FloatArray, least: float) -> dict[str, Any] | None:
    if not np.any(np.isfinite(distance)):
        return None
    return {"times": times.tolist(), "data": distance.tolist(), "least": least, "horizon": _HORIZON}


def _followed(robot: MovingRobot, motion: DesignedMotion, followed: ServoMotion) -> str:
    """A sentence about the motion that the model makes under its own servos."""
    behind = np.abs(followed.position - motion.values(followed.times))
    row, joint = np.unravel_index(int(np.argmax(behind)), behind.shape)
    used = servo_excess(robot.model, motion.joints, robot.home, robot.demands, followed)
    kept = f"uses {100.0 * used.share:.0f} % of the robot's limits of position and velocity"
    return (
        f"Under its own servos the model follows within {behind[row, joint]:.3g} "
        f"({motion.joints[joint]}, after {followed.times[row]:.1f} s), and "
        f"{kept if used.share <= 1.0 else used.words}."
    )


def _joints(
    robot: MovingRobot, motion: DesignedMotion, followed: ServoMotion | None
) -> list[dict[str, Any]]:
    """The curves of every joint with their limits."""
    model, demands, limits = robot.model, robot.demands, robot.demands.limits
    times = np.linspace(0.0, motion.duration, _CURVE)
    played = motion.motion(times)
    torque = _torque(robot, played)
    position = velocity = effort = None
    if followed is not None:
        shown = followed.at(times)
        position, velocity, effort = shown.position, shown.velocity, shown.torque
    quantities = (
        ("position", played.position, limits.lower, limits.upper, position),
        ("velocity", played.velocity, -limits.velocity, limits.velocity, velocity),
        ("acceleration", played.acceleration, -limits.acceleration, limits.acceleration, None),
        ("torque", torque, -demands.effort, demands.effort, effort),
    )
    found = []
    for i, name in enumerate(motion.joints):
        turns = int(model.jnt_type[model.joint(name).id]) == HINGE
        units = ("rad", "rad/s", "rad/s^2", "N m") if turns else ("m", "m/s", "m/s^2", "N")
        curves = [
            {
                "label": f"{what}, {unit}",
                "data": values[:, i].tolist(),
                "limits": [float(low[i]), float(high[i])],
                "other": () if made is None else made[:, i].tolist(),
            }
            for (what, values, low, high, made), unit in zip(quantities, units, strict=True)
        ]
        found.append({"name": name, "curves": curves})
    return found


def _torque(robot: MovingRobot, played: JointMotion) -> FloatArray:
    """The model's torque (m, n) along a motion, with friction as the design sees it."""
    model, joints = robot.model, robot.joints
    smooth = FRICTION_SHARE * float(robot.demands.limits.velocity.min())
    regressor = Regressor(model, kinds=KINDS, friction_velocity=smooth)
    whole = whole_motion(model, joints, robot.home, played)
    dofs = places_in_qvel(model, joints)
    return np.asarray((regressor.rows(whole) @ regressor.columns.nominal)[:, dofs])


def _shown_speed(duration: float) -> float:
    """By how much a motion of so many seconds is shown faster than it is."""
    return max(1.0, duration * FRAMES_PER_SECOND / _FRAMES)


def _motion_video(
    spec: mujoco.MjSpec, home: FloatArray, motion: DesignedMotion, followed: ServoMotion | None
) -> Video:
    """Draw a motion of a robot; as its ghost, what the robot makes of it under its own servos."""
    rate = FRAMES_PER_SECOND / _shown_speed(motion.duration)
    times = np.arange(0.0, motion.duration, 1.0 / rate)
    model = spec.compile()
    planned = np.tile(home, (len(times), 1))
    planned[:, places_in_qpos(model, motion.joints)] = motion.values(times)
    ghost = None if followed is None else followed.at(times).qpos
    shown = Poses(planned, fitted=ghost)
    with (
        tempfile.TemporaryDirectory() as folder,
        drawing_poses(model, shown, Path(folder)) as video,
    ):
        return video()
