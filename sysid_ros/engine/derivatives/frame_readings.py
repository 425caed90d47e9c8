# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sensors that are fixed to bodies: what each component reads, and where it is mounted."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.mechanics import in_fluid

_S, _O = mujoco.mjtSensor, mujoco.mjtObj

PLACE, DIRECTION, ORIENTATION, SPIN, DRIFT, TURNING, PULL = range(7)
"""What is measured: a point, a fixed direction, an orientation, angular and linear velocity,
angular and linear acceleration."""
BALL_ORIENTATION, BALL_SPIN = 7, 8
FIELD = 9  # the magnetic field, which is constant in the world
INTERACTION_FORCE, INTERACTION_TORQUE = 10, 11  # between the body and its parent
ACCELERATED = (TURNING, PULL, INTERACTION_FORCE, INTERACTION_TORQUE)
"""What depends on accelerations."""

# Sensors: the quantity, and whether it is given in the sensor's own frame.
FRAME_SENSORS = {
    int(_S.mjSENS_FRAMEPOS): (PLACE, False),
    int(_S.mjSENS_FRAMEQUAT): (ORIENTATION, False),
    int(_S.mjSENS_FRAMEXAXIS): (DIRECTION, False),
    int(_S.mjSENS_FRAMEYAXIS): (DIRECTION, False),
    int(_S.mjSENS_FRAMEZAXIS): (DIRECTION, False),
    int(_S.mjSENS_FRAMELINVEL): (DRIFT, False),
    int(_S.mjSENS_FRAMEANGVEL): (SPIN, False),
    int(_S.mjSENS_FRAMELINACC): (PULL, False),
    int(_S.mjSENS_FRAMEANGACC): (TURNING, False),
    int(_S.mjSENS_GYRO): (SPIN, True),
    int(_S.mjSENS_VELOCIMETER): (DRIFT, True),
    int(_S.mjSENS_ACCELEROMETER): (PULL, True),
    int(_S.mjSENS_MAGNETOMETER): (FIELD, True),
    int(_S.mjSENS_FORCE): (INTERACTION_FORCE, True),
    int(_S.mjSENS_TORQUE): (INTERACTION_TORQUE, True),
    int(_S.mjSENS_BALLQUAT): (BALL_ORIENTATION, True),
    int(_S.mjSENS_BALLANGVEL): (BALL_SPIN, True),
}
# Before its version 4 MuJoCo reads no acceleration of what stands still, gravity included.
_READ_AT_REST = mujoco.mj_version() >= 4_000_000
_AXES = {int(_S.mjSENS_FRAMEXAXIS): 0, int(_S.mjSENS_FRAMEYAXIS): 1, int(_S.mjSENS_FRAMEZAXIS): 2}


class FrameReadings(NamedTuple):
    """Components of sensors that are fixed to bodies."""

    row: IntArray  # (k,): the reading that each is
    quantity: IntArray  # (k,): as in FRAME_SENSORS
    local: IntArray  # (k,): whether in the sensor's own frame
    component: IntArray  # (k,)
    item: IntArray  # (k,): the body, or the first degree of freedom of a ball
    axis: IntArray  # (k,): which axis of the frame is its direction
    position: FloatArray  # (k, 3): of the frame on the body, m
    quaternion: FloatArray  # (k, 4)
    site: IntArray  # (k,): the site that it is, -1 for none
    reference: IntArray  # (k,): the body of the moving frame that it is seen from, -1 for none
    reference_quaternion: FloatArray  # (k, 4): of that frame on its body
    reference_site: IntArray  # (k,): as ``site``
    field: FloatArray  # (3,): magnetic
    accelerated: bool  # whether any measures accelerations
    loaded: bool  # whether any measures forces between bodies


def unsupported_frame(model: mujoco.MjModel, sensor: int) -> str | None:
    """Return why a sensor of a kind in FRAME_SENSORS cannot be differentiated, if it cannot."""
    kinds = (
        int(_O.mjOBJ_SITE), int(_O.mjOBJ_XBODY), int(_O.mjOBJ_BODY), int(_O.mjOBJ_JOINT)
    )  # fmt: skip
    if int(model.sensor_objtype[sensor]) not in kinds:
        return "a sensor's frame is neither a site nor a body's"
    if int(model.sensor_refid[sensor]) >= 0 and int(model.sensor_reftype[sensor]) not in kinds:
        return "a sensor measures in a frame that is neither a site's nor a body's"
    if FRAME_SENSORS[int(model.sensor_type[sensor])][0] in (INTERACTION_FORCE, INTERACTION_TORQUE):
        return _unsupported_force(model, int(model.site_bodyid[int(model.sensor_objid[sensor])]))
    return None


def _unsupported_force(model: mujoco.MjModel, body: int) -> str | None:
    """The same for the force between a body and its parent."""
    if int(model.body_weldid[body]) == 0:
        return "a force or torque sensor is on a body that stands still"
    if np.any(np.asarray(model.actuator_trntype) == int(mujoco.mjtTrn.mjTRN_SITE)):
        return "a force or torque sensor is beside thrusters"
    if in_fluid(model):
        return "a force or torque sensor is in a fluid"
    return None


def frame_readings(
    model: mujoco.MjModel, sensors: IntArray, components: IntArray, rows: IntArray
) -> FrameReadings:
    """The readings among components of sensors, without those that MuJoCo leaves at zero.

    Args:
      model: The compiled model.
      sensors: Sensors of kinds in FRAME_SENSORS, (k,).
      components: Which component of the sensor, (k,).
      rows: Which reading each is, (k,).
    """
    read = np.array([_is_read(model, int(sensor)) for sensor in sensors], dtype=bool)
    sensors, components, rows = sensors[read], components[read], rows[read]
    kinds = np.asarray(model.sensor_type)[sensors]
    what = np.array([FRAME_SENSORS[int(kind)] for kind in kinds], dtype=np.int64).reshape(-1, 2)
    places = [_mounting(model, int(sensor)) for sensor in sensors]
    references = [_reference(model, int(sensor)) for sensor in sensors]
    return FrameReadings(
        rows.astype(np.int64),
        np.ascontiguousarray(what[:, 0]),
        np.ascontiguousarray(what[:, 1]),
        components.astype(np.int64),
        np.array([place[0] for place in places], dtype=np.int64),
        np.array([_AXES.get(int(kind), 0) for kind in kinds], dtype=np.int64),
        np.array([place[1] for place in places], dtype=np.float64).reshape(-1, 3),
        np.array([place[2] for place in places], dtype=np.float64).reshape(-1, 4),
        np.array([place[3] for place in places], dtype=np.int64),
        np.array([place[0] for place in references], dtype=np.int64),
        np.array([place[2] for place in references], dtype=np.float64).reshape(-1, 4),
        np.array([place[3] for place in references], dtype=np.int64),
        np.array(model.opt.magnetic, dtype=np.float64),
        bool(np.isin(what[:, 0], ACCELERATED).any()),
        bool(np.isin(what[:, 0], (INTERACTION_FORCE, INTERACTION_TORQUE)).any()),
    )


def _is_read(model: mujoco.MjModel, sensor: int) -> bool:
    if _READ_AT_REST or FRAME_SENSORS[int(model.sensor_type[sensor])][0] != PULL:
        return True
    return int(model.body_weldid[_mounting(model, sensor)[0]]) != 0


_Mounting = tuple[int, Any, Any, int]
_NOT_TURNED = np.array([1.0, 0.0, 0.0, 0.0])


def _mounting(model: mujoco.MjModel, sensor: int) -> _Mounting:
    """The body of a sensor or the first dof of its joint, its frame's place on it, and its site."""
    kind, item = int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor])
    if kind == int(_O.mjOBJ_JOINT):
        return int(model.jnt_dofadr[item]), np.zeros(3), _NOT_TURNED, -1
    return _place(model, kind, item)


def _reference(model: mujoco.MjModel, sensor: int) -> _Mounting:
    """The same of the moving frame that a sensor measures in."""
    kind, item = int(model.sensor_reftype[sensor]), int(model.sensor_refid[sensor])
    return (-1, np.zeros(3), _NOT_TURNED, -1) if item < 0 else _place(model, kind, item)


def _place(model: mujoco.MjModel, kind: int, item: int) -> _Mounting:
    if kind == int(_O.mjOBJ_SITE):
        return int(model.site_bodyid[item]), model.site_pos[item], model.site_quat[item], item
    if kind == int(_O.mjOBJ_BODY):  # its inertial frame
        return item, model.body_ipos[item], model.body_iquat[item], -1
    return item, np.zeros(3), _NOT_TURNED, -1


def frames_alike(one: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Return whether the inertial frames that are measured are where they were."""
    seen = np.asarray(one.sensor_objtype) == int(_O.mjOBJ_BODY)
    from_there = np.asarray(one.sensor_reftype) == int(_O.mjOBJ_BODY)
    bodies = np.append(np.asarray(one.sensor_objid)[seen], np.asarray(one.sensor_refid)[from_there])
    return all(
        np.array_equal(getattr(one, name)[bodies], getattr(other, name)[bodies])
        for name in ("body_ipos", "body_iquat")
    )
