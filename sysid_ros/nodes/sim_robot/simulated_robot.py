# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot in MuJoCo that has secrets: true parameters that only this simulation knows.

Nothing here knows of ROS; :mod:`sysid_ros.nodes.sim_robot.node` gives it topics and a clock.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import SCALAR, first_inputs, n_actuators
from sysid_ros.errors import ModelError
from sysid_ros.files import check_utf8
from sysid_ros.rehearsal import TrueParameter, true_model


def build_true_model(
    model_file: Path, parameters: Sequence[TrueParameter], timestep: float
) -> mujoco.MjModel:
    """Compile a model with hidden values in place of its own.

    Args:
      model_file: MJCF or URDF.
      parameters: The hidden values; those of signals do not concern the model.
      timestep: Simulation timestep in seconds.

    Raises:
      ModelError: The model does not load or compile.
      ParameterError: A value is for something that the model or the package does not have.
    """
    try:
        check_utf8(model_file)
        return true_model(mujoco.MjSpec.from_file(str(model_file)), parameters, timestep)
    except (ValueError, ModelError) as error:
        raise ModelError(f"model {model_file}: {error}") from None


@dataclass(frozen=True)
class RobotState:
    """The readings of the robot's sensors at one instant, noise included; ``n`` joints."""

    time: float  # s since the start
    position: FloatArray  # (n,)
    velocity: FloatArray  # (n,)
    effort: FloatArray  # (n,) of the actuators, at the joints


class SimulatedRobot:
    """A model that is stepped to given times and obeys commands at their own instants."""

    def __init__(
        self,
        model: mujoco.MjModel,
        *,
        rate: float,
        command_delay: float = 0.0,
        noise: tuple[float, float, float] = (0.0, 0.0, 0.0),
        seed: int = 0,
    ) -> None:
        """Start at the model's own start posture, at rest.

        Args:
          model: The true robot; every joint hinge or slide, all named.
          rate: States per second; the interval must be a multiple of the timestep.
          command_delay: Seconds between a command's instant and its effect.
          noise: Standard deviations of measured position, velocity and effort.
          seed: Seed of the noise.

        Raises:
          ModelError: The model has other joints or no actuators, or the rate does not fit the
            timestep.
        """
        if model.njnt == 0 or any(kind not in SCALAR for kind in model.jnt_type):
            raise ModelError("a simulated robot needs hinge and slide joints only")
        if n_actuators(model) == 0:
            raise ModelError(
                "a simulated robot needs actuators, which commands move; this model has none, as "
                "a URDF: add them to the model that MuJoCo makes of it"
            )
        self.joints = tuple(model.joint(i).name for i in range(model.njnt))
        self._steps = round(1.0 / (rate * model.opt.timestep))
        if self._steps < 1 or abs(self._steps * model.opt.timestep * rate - 1.0) > 1e-9:
            raise ModelError(
                f"{rate} states per second are not a multiple of the timestep "
                f"{model.opt.timestep} s apart"
            )
        self._model = model
        self._data, self._inputs = mujoco.MjData(model), first_inputs(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, self._data, 0)
        mujoco.mj_forward(model, self._data)
        self._step_count = 0
        self._delay = command_delay
        self._noise = noise
        self._generator = np.random.default_rng(seed)
        self._queue: list[tuple[float, FloatArray]] = []
        self.late_commands = 0

    @property
    def time(self) -> float:
        """Seconds simulated so far."""
        return self._step_count * float(self._model.opt.timestep)

    @property
    def command_size(self) -> int:
        """Number of actuators."""
        return n_actuators(self._model)

    def command(self, instant: float, values: FloatArray) -> None:
        """Take the actuators' first inputs, (n_actuators,), ``instant`` seconds after the start.

        It takes effect after the command delay, or at once where that has passed already.
        """
        effect = instant + self._delay
        if effect < self.time:
            self.late_commands += 1
        bisect.insort(self._queue, (effect, values), key=lambda entry: entry[0])

    def advance(self, until: float) -> Iterator[RobotState]:
        """Simulate up to ``until`` seconds, giving every state that falls due."""
        step = float(self._model.opt.timestep)
        while self.time + self._steps * step <= until + 1e-6 * step:
            for _ in range(self._steps):
                self._obey()
                mujoco.mj_step(self._model, self._data)
                self._step_count += 1
            yield self.measure()

    def _obey(self) -> None:
        # A command acts from the step that is nearest to its effect.
        due = self.time + 0.5 * float(self._model.opt.timestep)
        while self._queue and self._queue[0][0] <= due:
            self._data.ctrl[self._inputs] = self._queue.pop(0)[1]

    def measure(self) -> RobotState:
        """Read the sensors now; every call draws new noise."""
        # After a step the forces are those of the step's start; this brings them up to date.
        mujoco.mj_forward(self._model, self._data)
        truth = (self._data.qpos, self._data.qvel, self._data.qfrc_actuator)
        noisy = [
            value + deviation * self._generator.standard_normal(value.size)
            for value, deviation in zip(truth, self._noise, strict=True)
        ]
        return RobotState(self.time, *noisy)
