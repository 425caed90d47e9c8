# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion that is planned, to be looked at like a recorded one before anything moves."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import model_with_payload
from sysid_ros.engine.elements import places_in_qpos
from sysid_ros.excitation import ExcitationError, TrajectoryTable, read_trajectory
from sysid_ros.excitation.design.servos import NoServoError, servo_motion
from sysid_ros.experiment import load_experiment
from sysid_ros.playback import RobotMotion

_RATE = 100.0  # Hz


def shown_motion(model: mujoco.MjModel, table: TrajectoryTable, name: str) -> RobotMotion:
    """A planned motion, and the one that the model makes of it under its own servos.

    Joints that it does not move stay as in the model's first keyframe, or at its reference.

    Returns:
      The plan as what was measured; as what was simulated the servos' motion, or the plan again
      where a joint has no servo.

    Raises:
      ExcitationError: The model lacks a joint.
    """
    known = [model.joint(i).name for i in range(model.njnt)]
    missing = [joint for joint in table.joints if joint not in known]
    if missing:
        raise ExcitationError(f"the model lacks what the motion moves: {', '.join(missing)}")
    reference = table.reference(table.joints, np.full(len(table.joints), np.inf))
    home = model.key_qpos[0] if model.nkey else model.qpos0
    times = np.arange(0.0, reference.duration, 1.0 / _RATE)
    planned = reference.values(times)
    qpos = np.tile(home, (len(times), 1))
    qpos[:, places_in_qpos(model, table.joints)] = planned
    try:
        followed = servo_motion(model, table.joints, home, reference.duration, reference.values)
    except NoServoError:
        simulated_qpos, simulated = qpos, planned
    else:
        shown = followed.at(times)
        simulated_qpos, simulated = shown.qpos, shown.position
    return RobotMotion(
        name, times, qpos, simulated_qpos, table.joints, planned, simulated,
        _velocity(planned), _velocity(simulated),
    )  # fmt: skip


def load_planned(experiment: Path, motion: Path) -> tuple[RobotMotion, mujoco.MjModel]:
    """Read a motion's file, and the model of the experiment that it is for.

    Raises:
      SysidError: One of them cannot be read, or they do not go together.
    """
    read = load_experiment(experiment)
    if not read.sequences:
        raise ExcitationError(f"{experiment} names no sequence, whose model would be shown")
    model = model_with_payload(read, None).given.spec.compile()
    return shown_motion(model, read_trajectory(motion), motion.name), model


def _velocity(positions: FloatArray) -> FloatArray:
    return np.asarray(np.gradient(positions, 1.0 / _RATE, axis=0))
