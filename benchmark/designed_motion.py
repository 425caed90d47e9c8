# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Designed motions beside others, at equal range, speed, acceleration and length.

    python -m benchmark.designed_motion path/to/panda_nohand.xml --budget 60 --seeds 3

Predicted standard errors (geometric mean over base parameters) and condition numbers of: the
multisine of ``excite``; the best of random Fourier series; a Fourier series of 12 harmonics
optimised for the condition number, as in the literature, by the same search with the same CPU
budget; and a designed motion. Random motions that searches begin with are others for each seed. The
last two are drawn in until the model's servos keep the robot's
limits along them.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt
import scipy

from sysid_ros.excitation import CommandLimits, MotionLimits, design_multisine
from sysid_ros.excitation.design import Demands, DesignSettings, MovingRobot, design_motion
from sysid_ros.excitation.design.demands import filled
from sysid_ros.excitation.design.design import design_task, kept_throughout, search
from sysid_ros.excitation.design.task import DesignTask
from sysid_ros.excitation.design.torque_information import JointMotion

FloatArray = npt.NDArray[np.float64]

HARMONICS = 12
DRAWS = 240
FILL = 0.9  # of the robot's limits, as designs take them: the rest is for what servos do


@dataclass(frozen=True)
class FourierFamily:
    """Fourier series of positions that begin and end at rest in the posture."""

    duration: float
    harmonics: int = HARMONICS

    @property
    def free(self) -> int:
        """Coefficients that the conditions at the ends leave."""
        return self._rest().shape[1]

    def basis(self, times: FloatArray, derivative: int = 0) -> FloatArray:
        """Values or derivatives (m, k)."""
        return self._waves(times, derivative) @ self._rest()

    def bounded(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Rows at many instants."""
        times = np.linspace(0.0, self.duration, 40 * self.harmonics)
        q, v, a, j = (self.basis(times, order) for order in range(4))
        return q, v, a, j

    def peaks(self, c: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Extremes at many instants."""
        q, v, a, j = (basis @ c for basis in self.bounded())
        high = (np.abs(part).max(axis=0) for part in (v, a, j))
        return (np.array([q.min(axis=0), q.max(axis=0)]), *high)  # type: ignore[return-value]

    def _waves(self, times: FloatArray, derivative: int) -> FloatArray:
        omega = 2.0 * np.pi * np.arange(1, self.harmonics + 1) / self.duration
        angle = omega * times[:, None] + 0.5 * np.pi * derivative
        waves = np.hstack((np.sin(angle), np.cos(angle))) * np.tile(omega, 2) ** derivative
        constant = np.ones((len(times), 1)) if derivative == 0 else np.zeros((len(times), 1))
        return np.hstack((waves / np.tile(omega, 2), constant))

    def _rest(self) -> FloatArray:
        start = np.zeros(1)
        held = np.vstack([self._waves(start, order) for order in range(3)])
        return np.asarray(scipy.linalg.null_space(held))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--duration", type=float, default=20.0)
    parser.add_argument("--velocity", type=float, default=2.0, help="rad/s")
    parser.add_argument("--acceleration", type=float, default=6.0, help="rad/s^2")
    parser.add_argument("--budget", type=float, default=60.0, help="CPU seconds of each search")
    parser.add_argument("--seeds", type=int, default=1, help="tables, each of other searches")
    asked = parser.parse_args()
    model = mujoco.MjModel.from_xml_path(str(asked.model))
    for seed in range(asked.seeds):
        settings = DesignSettings(duration=asked.duration, budget=asked.budget, seed=seed)
        began = time.process_time()
        rows = _compared(arm_problem(model, asked.velocity, asked.acceleration), settings)
        reference = rows["Fourier, condition"][0]
        print(f"{'motion':20s} {'standard errors':>16s} {'condition':>10s}")
        for name, (mean, condition) in rows.items():
            print(f"{name:20s} {mean / reference:16.3f} {condition:10.1f}")
        print(f"seed {seed}: {time.process_time() - began:.0f} CPU s in all", flush=True)


def _compared(robot: MovingRobot, settings: DesignSettings) -> dict[str, tuple[float, float]]:
    """Geometric mean of standard errors and condition number of each motion."""
    series = FourierFamily(settings.duration)
    chosen = replace(settings, criterion="condition", steps=10_000)
    conditioned = design_task(robot, chosen, family=series)
    best = search(conditioned, chosen, lambda _: None).c
    best = kept_throughout(conditioned, best, robot)
    found = design_motion(robot, settings)
    designed = design_task(robot, settings)
    return {
        "multisine": _multisine(conditioned, robot.joints, settings.duration),
        "random Fourier": _of(conditioned, _random_search(conditioned)),
        "Fourier, condition": _of(conditioned, best),
        "designed": _of(designed, found.control),
    }


def arm_problem(model: mujoco.MjModel, velocity: float, acceleration: float) -> MovingRobot:
    """An arm whose joints all move, with equal limits of all."""
    dofs = [j for j in range(model.njnt) if model.jnt_type[j] >= int(mujoco.mjtJoint.mjJNT_SLIDE)]
    joints = tuple(model.joint(j).name for j in dofs)
    lower, upper = np.clip(model.jnt_range[dofs], -np.pi, np.pi).T
    home = model.key_qpos[0].copy() if model.nkey else model.qpos0.copy()
    force = np.full(len(dofs), np.inf)
    for actuator in range(model.nu):
        joint = int(model.actuator_trnid[actuator, 0])
        if joint in dofs and model.actuator_forcelimited[actuator]:
            force[dofs.index(joint)] = model.actuator_forcerange[actuator, 1]
    ones = np.ones(len(dofs))
    limits = MotionLimits(
        lower=lower, upper=upper, velocity=velocity * ones, acceleration=acceleration * ones,
        effort=force,
    )  # fmt: skip
    demands = Demands(limits=filled(limits, FILL), jerk=np.inf * ones, fill=FILL)
    return MovingRobot(model, joints, demands, home)


def _of(task: DesignTask, c: FloatArray) -> tuple[float, float]:
    return _scores(task, task.motion(c))


def _scores(task: DesignTask, motion: JointMotion) -> tuple[float, float]:
    """Geometric mean of standard errors in units of scale, and the condition number."""
    data = task.information.information(motion, 1.0 / len(motion.position))
    unit = np.outer(task.goal.scale, task.goal.scale)
    sizes = 1.0 / np.sqrt(np.diag(data))
    values = np.linalg.eigvalsh(data * np.outer(sizes, sizes))
    variances = np.diag(np.linalg.inv(data * unit))
    return float(np.exp(0.5 * np.log(variances).mean())), float(np.sqrt(values[-1] / values[0]))


def _random_search(task: DesignTask) -> FloatArray:
    generator = np.random.default_rng(0)
    best, least = np.zeros((task.spline.free, len(task.start))), np.inf
    for _ in range(DRAWS):
        c = generator.normal(size=best.shape)
        for _ in range(60):
            if task.keeps(c):
                break
            c *= 0.8
        cost = task.cost(c)
        if cost < least:
            best, least = c, cost
    return best


def _multisine(task: DesignTask, joints: tuple[str, ...], duration: float) -> tuple[float, float]:
    """The multisine in a soft start and end is a little less; here it is played without them."""
    limits = task.demands.limits
    command = CommandLimits(limits.lower, limits.upper, limits.velocity, limits.acceleration)
    reference = design_multisine(joints, command, duration=duration, fill=1.0)
    times = np.linspace(0.0, duration, 2000)
    q = reference.values(times)
    v = np.gradient(q, times, axis=0)
    return _scores(task, JointMotion(q, v, np.gradient(v, times, axis=0)))


if __name__ == "__main__":
    main()
