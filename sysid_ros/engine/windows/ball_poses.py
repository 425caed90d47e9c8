# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Start states of ball joints that an orientation behind them tells, such as that of an IMU.

Nothing on a robot measures a ball joint itself. The orientation of a frame behind it is that of
everything before the joint, the joint's own, and that of what is between joint and frame: where
the other joints that turn the frame are measured, the joint's own is what is left.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import BALL, FREE, SLIDE, bodies_above, joints_above
from sysid_ros.engine.signals import (
    MIN_SAMPLES,
    Piecewise,
    TimeSeries,
    conjugate,
    oriented_frame,
    quaternion_product,
    without_sign_jumps,
)
from sysid_ros.engine.windows.measured_joints import MeasuredJoint
from sysid_ros.engine.windows.spatial_starts import (
    MeasuredPose,
    Motion,
    motion_of,
    orientation_at,
    pose_of,
)

_STILL = np.array([1.0, 0.0, 0.0, 0.0])

_Turning = MeasuredJoint | Motion


def ball_poses(
    model: mujoco.MjModel,
    sensordata: TimeSeries,
    joints: Mapping[int, MeasuredJoint],
    poses: Mapping[int, MeasuredPose],
    cutoff: float,
) -> dict[int, MeasuredPose]:
    """The motion of the ball joints that orientations behind them tell.

    Args:
      model: The compiled model.
      sensordata: The measurements; NaN where nothing was measured.
      joints: The measured motion of hinges, by joint id.
      poses: That of free and ball joints.
      cutoff: Of the low-pass in front of the derivative, Hz.

    Returns:
      One entry per joint id, of those that ``poses`` lacks.
    """
    known: dict[int, _Turning] = {**joints}
    known |= {j: pose.orientation for j, pose in poses.items() if pose.orientation is not None}
    told = ((oriented_frame(model, name), name) for name in sensordata.signal_mapping or {})
    frames = [(*frame, name) for frame, name in told if frame is not None]
    found = dict[int, MeasuredPose]()
    # A frame nearer to the world may tell a joint that another one is behind as well.
    for body, mounted, name in sorted(frames, key=lambda one: one[0]):
        turning = [j for j in joints_above(model, body) if int(model.jnt_type[j]) != SLIDE]
        untold = [joint for joint in turning if joint not in known]
        if len(untold) != 1 or int(model.jnt_type[untold[0]]) != BALL:
            continue
        times, measured = sensordata.known(name)
        sure = np.linalg.norm(measured, axis=1) > 0.0
        for joint in turning:
            sure &= joint not in known or _values(known[joint]).is_known(times)
        if np.count_nonzero(sure) >= MIN_SAMPLES:
            turned = measured[sure] / np.linalg.norm(measured[sure], axis=1, keepdims=True)
            turned = quaternion_product(turned, conjugate(mounted))
            turned = _own(model, body, untold[0], known, times[sure], turned)
            known[untold[0]] = motion = motion_of(name, times[sure], turned, cutoff)
            found[untold[0]] = pose_of(None, motion)
    return found


def _own(
    model: mujoco.MjModel,
    body: int,
    joint: int,
    known: Mapping[int, _Turning],
    times: FloatArray,
    turned: FloatArray,
) -> FloatArray:
    """The orientations of a ball joint, (n, 4), where a body behind it is turned.

    Args:
      model: The compiled model.
      body: The body's number.
      joint: The ball joint's.
      known: The motion of all other joints that turn the body.
      times: Instants, (n,) s.
      turned: Unit quaternions of the body in the world, (n, 4).
    """
    before = after = _STILL
    for above in reversed([*bodies_above(model, body)]):
        after = quaternion_product(after, model.body_quat[above])
        first = int(model.body_jntadr[above])
        for each in range(first, first + int(model.body_jntnum[above])):
            if each == joint:
                before, after = after, _STILL
            elif int(model.jnt_type[each]) == FREE:
                after = _turn(model, each, known[each], times)
            elif int(model.jnt_type[each]) != SLIDE:
                after = quaternion_product(after, _turn(model, each, known[each], times))
    behind = quaternion_product(turned, conjugate(after))
    return without_sign_jumps(quaternion_product(conjugate(before), behind))


def _values(one: _Turning) -> Piecewise:
    return one.values if isinstance(one, Motion) else one.position


def _turn(model: mujoco.MjModel, joint: int, one: _Turning, times: FloatArray) -> FloatArray:
    """The unit quaternions by which a joint turns what it carries, (n, 4)."""
    if isinstance(one, Motion):
        return orientation_at(one, times)
    half = 0.5 * (one.position(times) - float(model.qpos0[model.jnt_qposadr[joint]]))
    return np.concatenate(
        [np.cos(half)[:, None], np.sin(half)[:, None] * model.jnt_axis[joint]], axis=1
    )
