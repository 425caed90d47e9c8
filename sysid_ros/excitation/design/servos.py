# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model's own position servos: which move a robot's joints, and where a motion leads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements import (
    actuators_on,
    first_inputs,
    is_servo,
    n_actuators,
    places_in_qpos,
    places_in_qvel,
    servo_gain,
)
from sysid_ros.excitation import ExcitationError

_SETTLE = 2.0  # s under the first command before a motion begins
_EVERY = 5e-3  # s between the instants that a simulated motion is kept at


class NoServoError(ExcitationError):
    """A joint that is to move has no position servo, or its position is not measured."""


@dataclass(frozen=True)
class ServoMotion:
    """A motion as the model makes it under its own servos."""

    times: FloatArray  # instants (m,) in s
    qpos: FloatArray  # of the whole model, (m, nq)
    position: FloatArray  # of the n joints, (m, n)
    velocity: FloatArray  # likewise
    torque: FloatArray  # of the servos on the joints, likewise

    def at(self, times: FloatArray) -> ServoMotion:
        """The motion at the next of its instants from each of ``times`` (k,) s."""
        rows = np.searchsorted(self.times, times).clip(max=len(self.times) - 1)
        parts = (self.times, self.qpos, self.position, self.velocity, self.torque)
        return ServoMotion(*(part[rows] for part in parts))


def servos_of(model: mujoco.MjModel, joints: tuple[str, ...]) -> IndexArray:
    """The position servo of each joint, (n,).

    Raises:
      NoServoError: A joint has none, or several.
    """
    found = []
    for name in joints:
        joint = int(model.joint(name).id)
        own = [a for a in actuators_on(model, joint) if is_servo(model, a)]
        if len(own) != 1:
            raise NoServoError(
                f"joint {name!r} has {len(own)} position servos, where one is needed (--joints)"
            )
        found.append(own[0])
    return np.array(found, dtype=np.intp)


def servo_commands(model: mujoco.MjModel, home: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Control of u servos per rad or m of their joints, and to hold a posture, (u,) each."""
    servo = np.array([is_servo(model, actuator) for actuator in range(n_actuators(model))])
    gain = np.where(servo, [servo_gain(model, a) for a in range(len(servo))], 1.0)
    per_length = np.where(servo, -model.actuator_biasprm[:, 1] / gain, 0.0)
    at_zero = np.where(servo, -model.actuator_biasprm[:, 0] / gain, 0.0)
    data = mujoco.MjData(model)
    data.qpos[:] = home
    mujoco.mj_forward(model, data)
    return per_length * model.actuator_gear[:, 0], per_length * data.actuator_length + at_zero


def settled(model: mujoco.MjModel, home: FloatArray, held: FloatArray) -> mujoco.MjData:
    """The robot at rest under its servos, which sag under its weight."""
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[first_inputs(model)] = home, held
    mujoco.mj_step(model, data, round(_SETTLE / model.opt.timestep))
    data.qvel[:] = 0.0
    mujoco.mj_forward(model, data)
    return data


def servo_motion(
    model: mujoco.MjModel, joints: tuple[str, ...], home: FloatArray, duration: float,
    commands: Callable[[FloatArray], FloatArray],
) -> ServoMotion:  # fmt: skip
    """Simulate a model that is told a motion.

    Args:
      model: Compiled.
      joints: n joints that move, each with a position servo.
      home: Posture of the whole model, (nq,); the other joints are told to stay there.
      duration: Of the motion, s.
      commands: What the joints are told, (m, n), at times (m,) in s.

    Raises:
      NoServoError: A joint has no servo.
    """
    servos = servos_of(model, joints)
    columns = first_inputs(model)[servos]
    slope, held = servo_commands(model, home)
    qpos = places_in_qpos(model, joints)
    dofs = places_in_qvel(model, joints)
    start = home.copy()
    start[qpos] = first = commands(np.zeros(1))[0]
    at_rest = held.copy()
    at_rest[servos] += slope[servos] * (first - home[qpos])
    data = settled(model, start, at_rest)
    steps = round(duration / model.opt.timestep)
    told = commands(model.opt.timestep * np.arange(steps + 1))
    stride = max(1, round(_EVERY / model.opt.timestep))
    rows = []
    for step, command in enumerate(told):
        data.ctrl[columns] = at_rest[servos] + slope[servos] * (command - first)
        if step % stride == 0:
            mujoco.mj_forward(model, data)
            rows.append((data.qpos.copy(), data.qvel[dofs], data.qfrc_actuator[dofs]))
        mujoco.mj_step(model, data)
    whole, velocity, torque = (np.array(column) for column in zip(*rows, strict=True))
    times = model.opt.timestep * stride * np.arange(len(rows))
    return ServoMotion(times, whole, whole[:, qpos], velocity, torque)
