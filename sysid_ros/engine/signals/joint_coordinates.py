# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured signals that tell coordinates of joints: of hinges, slides, ball and free joints.

A free joint is measured by ``framepos`` and ``framequat`` sensors of its body or of a site on it,
such as a motion capture system or an odometry gives; a ball joint by ``ballquat``, or by the
orientation of a frame behind it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import FREE
from sysid_ros.engine.signals.mappings import SUFFIXES, SignalType, joint_widths, sensor_id
from sysid_ros.engine.signals.tangent import conjugate, quaternion_product, rotated

_S, _O = mujoco.mjtSensor, mujoco.mjtObj
_WIDTHS = {int(_S.mjSENS_JOINTPOS): 1, int(_S.mjSENS_FRAMEPOS): 3, int(_S.mjSENS_FRAMEQUAT): 4,
           int(_S.mjSENS_BALLQUAT): 4}  # fmt: skip
_OF_JOINTS = (int(_S.mjSENS_JOINTPOS), int(_S.mjSENS_BALLQUAT))


@dataclass(frozen=True)
class JointSignal:
    """A measured signal that tells coordinates of one joint."""

    joint: int  # its number
    first: int  # the first coordinate in qpos
    width: int  # how many there are: 1, a position's 3, an orientation's 4, a pose's 7
    # position (3,) and orientation (4,) on the joint's body of the frame that is measured instead
    # of the body's own; ``None`` for that
    mounted: tuple[FloatArray, FloatArray] | None = None

    @property
    def coordinates(self) -> range:
        """The coordinates in qpos."""
        return range(self.first, self.first + self.width)

    def body_orientation(self, measured: FloatArray) -> FloatArray:
        """Unit quaternions of the joint's body, (n, 4), from measured ones of any length."""
        unit = measured / np.linalg.norm(measured, axis=1, keepdims=True)
        if self.mounted is None:
            return np.asarray(unit)
        return quaternion_product(unit, conjugate(self.mounted[1]))

    def body_position(self, measured: FloatArray, orientation: FloatArray) -> FloatArray:
        """Positions of the body's origin, (n, 3), from measured ones and its unit quaternions."""
        if self.mounted is None:
            return measured
        return measured - rotated(orientation, self.mounted[0])


def joint_signal(model: mujoco.MjModel, name: str) -> JointSignal | None:
    """The coordinates that a measured signal tells; ``None`` if it tells others, or none.

    Args:
      model: Has the sensor of that name, or the joint that it is the state of.
      name: The signal's.
    """
    sensor = sensor_id(model, name)
    if sensor < 0:
        return _state(model, name)
    width = _WIDTHS.get(int(model.sensor_type[sensor]))
    if width is None or int(model.sensor_refid[sensor]) >= 0:
        return None
    if int(model.sensor_type[sensor]) in _OF_JOINTS:
        joint = int(model.sensor_objid[sensor])
        return JointSignal(joint, int(model.jnt_qposadr[joint]), width)
    body, mounted = _frame(model, sensor)
    joint = _free_joint(model, body)
    if joint < 0:
        return None
    shift = 0 if width == 3 else 3
    return JointSignal(joint, int(model.jnt_qposadr[joint]) + shift, width, mounted)


def oriented_frame(model: mujoco.MjModel, name: str) -> tuple[int, FloatArray] | None:
    """The body that carries a frame, and the frame's unit quaternion on it, (4,).

    Args:
      model: The compiled model.
      name: A signal's; ``None`` is returned for what does not tell an orientation in the world.
    """
    sensor = sensor_id(model, name)
    if sensor < 0 or int(model.sensor_type[sensor]) != int(_S.mjSENS_FRAMEQUAT):
        return None
    body, mounted = _frame(model, sensor)
    root = int(model.body_rootid[body])
    if int(model.sensor_refid[sensor]) >= 0 or body == 0 or int(model.body_mocapid[root]) >= 0:
        return None
    return body, np.array([1.0, 0.0, 0.0, 0.0]) if mounted is None else mounted[1]


def base_is_known(model: mujoco.MjModel, told: Iterable[JointSignal | None]) -> bool:
    """Tell whether signals tell the pose of every free body, or there is none."""
    known = {coordinate for one in told if one is not None for coordinate in one.coordinates}
    free = np.asarray(model.jnt_qposadr)[np.asarray(model.jnt_type) == FREE].tolist()
    return all(known.issuperset(range(first, first + 7)) for first in free)


def _state(model: mujoco.MjModel, name: str) -> JointSignal | None:
    """The coordinates of a joint that a signal is all of."""
    named = name.removesuffix(SUFFIXES[SignalType.MjStateQPos])
    joint = joint_named(model, named) if named != name else None
    if joint is None:
        return None
    return JointSignal(joint, int(model.jnt_qposadr[joint]), joint_widths(model, joint)[0])


def joint_named(model: mujoco.MjModel, name: str) -> int | None:
    """A joint by its name, or a free one by its body's; ``None`` where there is neither."""
    joint = mujoco.mj_name2id(model, int(_O.mjOBJ_JOINT), name)
    if joint < 0:
        joint = _free_joint(model, mujoco.mj_name2id(model, int(_O.mjOBJ_BODY), name))
    return joint if joint >= 0 else None


def _free_joint(model: mujoco.MjModel, body: int) -> int:
    """The free joint of a body; -1 where it has none, or is none."""
    joint = int(model.body_jntadr[body]) if body >= 0 else -1
    return joint if joint >= 0 and int(model.jnt_type[joint]) == FREE else -1


def _frame(model: mujoco.MjModel, sensor: int) -> tuple[int, tuple[FloatArray, FloatArray] | None]:
    """The body that a frame sensor is fixed to, and its frame there; the world for other things."""
    kind, item = int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor])
    if kind == int(_O.mjOBJ_SITE):
        place = model.site_pos[item].copy(), model.site_quat[item].copy()
        return int(model.site_bodyid[item]), place
    if kind == int(_O.mjOBJ_BODY):  # its inertial frame
        return item, (model.body_ipos[item].copy(), model.body_iquat[item].copy())
    return (item if kind == int(_O.mjOBJ_XBODY) else 0), None
