# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Units that names of fields and topics say, as ``pitch_deg`` and ``speed_setpoint_rpm`` do.

Else it is the definition of a message's type that says one.
"""

from __future__ import annotations

import re

import mujoco

from sysid_ros.engine.elements import HINGE, SCALAR, is_servo, joint_of, takes_velocity
from sysid_ros.proposal.signals.lines import SERVOS, Line

_WORDS = {
    "rpm": "rpm", "deg": "deg", "degs": "deg", "degree": "deg", "degrees": "deg",
    "dps": "deg/s", "rev": "rev", "revs": "rev", "revolutions": "rev", "turns": "rev", "mm": "mm",
    "millimeters": "mm", "millimetres": "mm",
}  # fmt: skip
_POSITION = int(mujoco.mjtSensor.mjSENS_JOINTPOS)
_FOR = {  # by whether a joint is a hinge, and whether a velocity is told
    (True, False): {"deg": "deg", "rev": "rev"},
    (True, True): {"deg": "deg/s", "deg/s": "deg/s", "rpm": "rpm", "rev": "rev"},
    (False, False): {"mm": "mm"},
    (False, True): {"mm": "mm/s"},
}


def told_unit(model: mujoco.MjModel, line: Line) -> str:
    """The unit that the own name of a line's field or topic says, or else its type's definition.

    It is none that the joint cannot have.

    Args:
      model: The compiled model.
      line: Of a joint's position or velocity, or of what a servo is asked for; others say nothing.
    """
    if (joint := _joint_of(model, line)) is None:
        return ""
    own = re.sub(r"\[[^\]]*\]", "", line.channel.field).rpartition(".")[2]
    words = re.split(r"[\W_]+", f"{own} {line.channel.topic.rpartition('/')[2]}".lower())
    units = _FOR[int(model.jnt_type[joint]) == HINGE, _is_rate(model, line)]
    told = (units.get(_WORDS.get(word, ""), "") for word in words)
    return next(filter(None, told), units.get(line.channel.unit, ""))


def _joint_of(model: mujoco.MjModel, line: Line) -> int | None:
    """The hinge or slide that a line tells of; none of motors, of gears and of bodies."""
    if line.kind == "actuator":
        actuator = model.actuator(line.name).id
        joint = joint_of(model, actuator)
        served = is_servo(model, actuator) or takes_velocity(model, actuator)
        return joint if served and float(model.actuator_gear[actuator, 0]) == 1.0 else None
    if line.kind == "sensor":
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, line.name)
        shows = sensor >= 0 and int(model.sensor_type[sensor]) == _POSITION
        return int(model.sensor_objid[sensor]) if shows else None
    if line.kind not in ("qpos", "qvel", *SERVOS):
        return None
    joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, line.name)
    return joint if joint >= 0 and int(model.jnt_type[joint]) in SCALAR else None


def _is_rate(model: mujoco.MjModel, line: Line) -> bool:
    if line.kind == "actuator":
        return takes_velocity(model, model.actuator(line.name).id)
    return line.kind in ("qvel", "velocity_servo")
