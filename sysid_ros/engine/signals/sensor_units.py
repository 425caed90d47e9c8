# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Units and roles of MuJoCo's sensors, for scores in physical units."""

from __future__ import annotations

import re
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import FREE, SLIDE, is_angle, is_straight, moves_straight

_S = mujoco.mjtSensor
_O = mujoco.mjtObj
_W = mujoco.mjtWrap

_FIXED = {
    _S.mjSENS_ACCELEROMETER: "m/s^2", _S.mjSENS_VELOCIMETER: "m/s", _S.mjSENS_GYRO: "rad/s",
    _S.mjSENS_FORCE: "N", _S.mjSENS_TORQUE: "N m", _S.mjSENS_TOUCH: "N",
    _S.mjSENS_TENDONPOS: "m", _S.mjSENS_TENDONVEL: "m/s", _S.mjSENS_FRAMEPOS: "m",
    _S.mjSENS_FRAMELINVEL: "m/s", _S.mjSENS_FRAMELINACC: "m/s^2", _S.mjSENS_FRAMEANGVEL: "rad/s",
    _S.mjSENS_FRAMEANGACC: "rad/s^2", _S.mjSENS_SUBTREECOM: "m", _S.mjSENS_SUBTREELINVEL: "m/s",
    _S.mjSENS_FRAMEQUAT: "rad", _S.mjSENS_BALLQUAT: "rad",
    _S.mjSENS_BALLANGVEL: "rad/s", _S.mjSENS_RANGEFINDER: "m",
}  # fmt: skip
_BY_JOINT = {
    _S.mjSENS_JOINTPOS: ("rad", "m"),
    _S.mjSENS_JOINTVEL: ("rad/s", "m/s"),
    _S.mjSENS_JOINTACTFRC: ("N m", "N"),
    _S.mjSENS_ACTUATORPOS: ("rad", "m"),
    _S.mjSENS_ACTUATORVEL: ("rad/s", "m/s"),
    _S.mjSENS_ACTUATORFRC: ("N m", "N"),
}
# Of a tendon whose length is an angle.
_OF_TENDON = {_S.mjSENS_TENDONPOS: "rad", _S.mjSENS_TENDONVEL: "rad/s"}
_POSITIONS = frozenset(
    int(kind)
    for kind in (
        _S.mjSENS_JOINTPOS, _S.mjSENS_ACTUATORPOS, _S.mjSENS_TENDONPOS, _S.mjSENS_FRAMEPOS,
        _S.mjSENS_SUBTREECOM,
    )
)  # fmt: skip


# Of a model whose lengths are millimetres, as gravity tells; masses are kg there as well.
_OF_MILLIMETRES = {"m": "mm", "N": "mN", "N m": "uN m", "Pa": "kPa"}
_LENGTHS = re.compile(r"\b(N m|N|m|Pa)\b")  # in units
_MILLIMETRES = (5e3, 2e4)  # mm/s^2, that gravity is there

# Sensors whose every axis has an offset of its own, as MJCF calls them: of an IMU, and of a wrist.
UNZEROED = {
    int(_S.mjSENS_GYRO): "gyro",
    int(_S.mjSENS_ACCELEROMETER): "accelerometer",
    int(_S.mjSENS_FORCE): "force",
    int(_S.mjSENS_TORQUE): "torque",
}
# Of three components along the axes of a frame.
_VECTORS = frozenset(
    int(kind)
    for kind in (
        _S.mjSENS_ACCELEROMETER, _S.mjSENS_VELOCIMETER, _S.mjSENS_GYRO, _S.mjSENS_FORCE,
        _S.mjSENS_TORQUE, _S.mjSENS_MAGNETOMETER, _S.mjSENS_FRAMEPOS, _S.mjSENS_FRAMELINVEL,
        _S.mjSENS_FRAMELINACC, _S.mjSENS_FRAMEANGVEL, _S.mjSENS_FRAMEANGACC,
        _S.mjSENS_SUBTREECOM, _S.mjSENS_SUBTREELINVEL, _S.mjSENS_BALLANGVEL,
    )
)  # fmt: skip


def is_vector_named(spec: Any, name: str) -> bool:
    """Return whether a sensor of an MjSpec tells a vector along the axes of a frame."""
    sensor = spec.sensor(name)
    return sensor is not None and int(sensor.type) in _VECTORS


def sensor_unit(model: mujoco.MjModel, sensor: int) -> str:
    """Unit of a sensor's reading, SI or with a model's millimetres; empty where it has none."""
    kind = _S(int(model.sensor_type[sensor]))
    unit = _FIXED.get(kind, "")
    if kind in _OF_TENDON and is_angle(model, int(model.sensor_objid[sensor])):
        unit = _OF_TENDON[kind]
    if kind in _BY_JOINT:
        unit = _BY_JOINT[kind][int(_is_linear(model, sensor))]
    return unit_in(model.opt.gravity, unit)


def unit_in(gravity: FloatArray, unit: str) -> str:
    """An SI unit, as ``kg m^2``, as a model has it whose gravity, (3,), tells its lengths' unit."""
    low, high = _MILLIMETRES
    if not low < float(np.linalg.norm(gravity)) < high:
        return unit
    return _LENGTHS.sub(lambda found: _OF_MILLIMETRES[found[0]], unit)


def in_metres(unit: str) -> str:
    """The unit that is the same of a model with metres."""
    return unit.replace("uN", "N").replace("mN", "N").replace("mm", "m").replace("kPa", "Pa")


def unit_of_sensor_named(spec: Any, name: str) -> str:
    """Unit of the reading of a sensor of an MjSpec; empty for what is none, as an actuator."""
    sensor = spec.sensor(name)
    return "" if sensor is None else unit_in(spec.option.gravity, _unit_of(spec, sensor))


def _unit_of(spec: Any, sensor: Any) -> str:
    kind, read = _S(int(sensor.type)), sensor.objname
    if kind in _OF_TENDON and not is_straight(spec, "tendon", read):
        return _OF_TENDON[kind]
    if kind not in _BY_JOINT:
        return _FIXED.get(kind, "")
    of_actuator = int(sensor.objtype) == int(_O.mjOBJ_ACTUATOR)
    return _BY_JOINT[kind][int(is_straight(spec, "actuator" if of_actuator else "joint", read))]


def force_unit(model: mujoco.MjModel, dof: int) -> str:
    """Unit of the force on a degree of freedom, SI or with a model's millimetres."""
    joint = int(model.dof_jntid[dof])
    free = int(model.jnt_type[joint]) == FREE
    moved = free and dof - int(model.jnt_dofadr[joint]) < 3
    straight = moved or int(model.jnt_type[joint]) == SLIDE
    return unit_in(model.opt.gravity, "N" if straight else "N m")


def rate_unit(force: str) -> str:
    """The unit of the velocity of what a force in that unit moves."""
    return {"N": "m/s", "mN": "mm/s"}.get(force, "rad/s")


def place_unit(model: mujoco.MjModel, joint: int) -> str:
    """Unit of a hinge's or a slide's position, SI or with a model's millimetres."""
    slides = int(model.jnt_type[joint]) == SLIDE
    return unit_in(model.opt.gravity, "m" if slides else "rad")


def is_position(model: mujoco.MjModel, sensor: int) -> bool:
    """Return whether a sensor reads a position or an angle."""
    return int(model.sensor_type[sensor]) in _POSITIONS


def joint_shown(model: mujoco.MjModel, sensor: int) -> str:
    """The joint whose state a sensor reads; empty for every other sensor."""
    if int(model.sensor_objtype[sensor]) != int(_O.mjOBJ_JOINT):
        return ""
    return str(model.joint(int(model.sensor_objid[sensor])).name)


def summed_joints(model: mujoco.MjModel, tendon: int) -> list[int]:
    """The joints whose positions a tendon's length is the plain sum of; none of another tendon."""
    first = int(model.tendon_adr[tendon])
    parts = slice(first, first + int(model.tendon_num[tendon]))
    joints = model.wrap_type[parts] == _W.mjWRAP_JOINT
    plain = np.all(joints) and np.all(model.wrap_prm[parts] == 1.0)
    return [int(joint) for joint in model.wrap_objid[parts]] if plain else []


def _is_linear(model: mujoco.MjModel, sensor: int) -> bool:
    """Return whether the joint behind a joint or actuator sensor slides."""
    target = int(model.sensor_objid[sensor])
    if int(model.sensor_objtype[sensor]) == int(_O.mjOBJ_ACTUATOR):
        return moves_straight(model, target)
    return int(model.jnt_type[target]) == SLIDE
