# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions designed for a fit by simulation beside those designed for measured torque.

    python -m benchmark.designed_servo_motion path/to/panda_nohand.xml --seeds 3

An arm under its position servos, positions at 100 Hz with 1 mrad of noise, commands that are
linear between their instants; damping, dry friction and armature of each joint, gain and delay of
each servo.
Printed is the geometric mean of the standard errors that the fit's own windows promise along the
motion for it, relative to those along motions for torque, with equal limits, length and budget.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

from benchmark.designed_motion import arm_problem
from sysid_ros.dataset import model_of
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.excitation.design import (
    SERVO_PIECE,
    DesignedMotion,
    DesignSettings,
    SimulatedFit,
    design_motion,
    design_servo_motion,
    simulated_fit,
)
from sysid_ros.excitation.design.forward_information import ForwardInformation
from sysid_ros.excitation.design.planned_recording import PlannedRecording
from sysid_ros.experiment import load_experiment
from sysid_ros.robots import build_parameters

FloatArray = npt.NDArray[np.float64]

PARAMETERS = """parameters:
  - joint: "*"
    damping: {min: 0.0, max: 10.0}
    frictionloss: {min: 0.0, max: 5.0}
    armature: {min: 0.0, max: 1.0}
  - {actuator: "*", kp: {min: 1, max: 10000}}
"""


def main() -> None:
    """Print a line for each seed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--duration", type=float, default=20.0)
    parser.add_argument("--budget", type=float, default=60.0, help="CPU seconds of each search")
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    model = mujoco.MjModel.from_xml_path(str(asked.model))
    robot = arm_problem(model, 2.0, 6.0)
    joints, home = robot.joints, robot.home
    fit = _fit(asked.model.resolve(), model, joints)
    for seed in range(asked.seeds):
        settings = DesignSettings(
            duration=asked.duration, piece=SERVO_PIECE, budget=asked.budget, seed=seed
        )
        began = time.process_time()
        own = design_servo_motion(robot, fit, settings)
        used = time.process_time() - began
        print(f"seed {seed}, {used:.0f} CPU s:", end=" ", flush=True)
        for piece in (SERVO_PIECE, DesignSettings.piece):
            chosen = replace(settings, piece=piece)
            torque = design_motion(robot, chosen)
            ratio = _errors(fit, joints, home, own) / _errors(fit, joints, home, torque)
            mean = np.exp(np.log(ratio).mean())
            print(f"{mean:.3f} of a design for torque with knots each {piece:g} s", end="; ")
        print(flush=True)


def _fit(file: Path, model: mujoco.MjModel, joints: tuple[str, ...]) -> SimulatedFit:
    """The fit that the recording is for."""
    lines = [f"model: {file}", "sequences: [bag]", "signals:"]
    for joint in joints:
        field = f"position[{joint}]"
        lines.append(f'  - {{qpos: {joint}, topic: /states, field: "{field}", noise: 0.001}}')
    delays = []
    for i in range(model.nu):
        name, field = model.actuator(i).name, f"data[{i}]"
        known = f'actuator: {name}, topic: /commands, field: "{field}", interpolation: linear'
        lines.append(f"  - {{{known}}}")
        delays.append(f"  - {{signal: {name}, delay: {{initial: 0.02, max: 0.1}}}}\n")
    with tempfile.TemporaryDirectory() as folder:
        experiment_file = Path(folder) / "experiment.yaml"
        experiment_file.write_text("\n".join(lines) + "\n" + PARAMETERS + "".join(delays))
        experiment = load_experiment(experiment_file)
        spec = model_of(experiment, experiment.sequences[0], None).with_sensors
    params = build_parameters(experiment, spec)
    return simulated_fit(experiment, spec, params, params.as_vector(), None)


def _errors(
    fit: SimulatedFit, joints: tuple[str, ...], home: FloatArray, motion: DesignedMotion
) -> FloatArray:
    """Standard errors (p,) that the fit's windows promise of a recording of a motion."""
    with RolloutPool(1) as rollouts:
        planned = PlannedRecording(fit, joints, home, motion.duration, rollouts)
        information = ForwardInformation(planned, motion.spline, motion.start)
        return np.sqrt(np.diag(np.linalg.inv(information(motion.control))))


if __name__ == "__main__":
    main()
