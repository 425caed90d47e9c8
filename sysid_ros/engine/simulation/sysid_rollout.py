# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Simulating recordings, and the trajectories that come of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import (
    SignalMapping,
    SystemTrajectory,
    TimeSeries,
    control_mapping,
    sensor_mapping,
    state_mappings,
)
from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.engine.simulation.simulation import Rollout, Simulation, StepControls
from sysid_ros.engine.simulation.step_controls import ordered_controls
from sysid_ros.errors import SignalError


def sysid_rollout(
    models: Any,
    datas: Any,
    control_signal: Sequence[TimeSeries] | TimeSeries,
    initial_states: FloatArray | Sequence[FloatArray],
    rollout_signal_mapping: SignalMapping | None = None,
    rollout_state_mapping: SignalMapping | None = None,
    ctrl_mapping: SignalMapping | None = None,
) -> list[SystemTrajectory]:
    """Simulate models under commands, all in one batch, whatever their lengths.

    Args:
      models: One MjModel or one per simulation.
      datas: One MjData or several; their number is the number of threads.
      control_signal: Commands at the model's time step, one series or one per simulation. The
        last sample is not simulated: it only marks the end.
      initial_states: Full-physics states, (nstate,) or one per simulation.
      rollout_signal_mapping: Names of the sensor columns; ``None``: the model's.
      rollout_state_mapping: Names of the state columns; ``None``: the model's.
      ctrl_mapping: Names of the control columns; ``None``: the model's.

    Returns:
      One trajectory per simulation, stamped with the time after each step; NaN from where it
      diverged.

    Raises:
      SignalError: The lists differ in length, or commands do not fit their model.
    """
    states = [np.asarray(state) for state in np.atleast_2d(initial_states)]
    controls = [control_signal] if isinstance(control_signal, TimeSeries) else [*control_signal]
    each_model = [models] if isinstance(models, mujoco.MjModel) else list(models)
    count = max(len(states), len(controls), len(each_model))
    jobs = [
        Simulation(
            model, state, StepControls(control.times[:-1], ordered_controls(model, control)[:-1])
        )
        for model, state, control in zip(
            _repeated(each_model, count, "models"),
            _repeated(states, count, "initial states"),
            _repeated(controls, count, "controls"),
            strict=True,
        )
    ]
    with RolloutPool(len(datas) if isinstance(datas, Sequence) else 1) as pool:
        return trajectories(pool, jobs, rollout_signal_mapping, rollout_state_mapping, ctrl_mapping)


def trajectories(
    pool: RolloutPool,
    jobs: Sequence[Simulation],
    sensors: SignalMapping | None = None,
    states: SignalMapping | None = None,
    controls: SignalMapping | None = None,
) -> list[SystemTrajectory]:
    """Run simulations and wrap the results; mappings that are ``None`` are the models' own.

    The time of the results goes on from the simulation's first state.
    """
    names = _Names(sensors, states, controls)
    return [names.wrapped(job, rollout) for job, rollout in zip(jobs, pool.run(jobs), strict=True)]


def all_states(model: Any) -> dict[str, Any]:
    """Mapping of all positions, velocities and activations, as columns of the state after time."""
    qpos, qvel, act = state_mappings(model)
    return {**qpos, **qvel, **act}


class _Names:
    """Mappings of the models at hand, each computed once."""

    def __init__(
        self,
        sensors: SignalMapping | None,
        states: SignalMapping | None,
        controls: SignalMapping | None,
    ) -> None:
        self._given = (sensors, states, controls)
        self._is_given = any(each is not None for each in self._given)
        self._known: dict[int, tuple[SignalMapping, SignalMapping, SignalMapping]] = {}

    def wrapped(self, job: Simulation, rollout: Rollout) -> SystemTrajectory:
        sensors, states, controls = self._of(job.model)
        times = rollout.states[:, 0]
        series = TimeSeries if self._is_given else TimeSeries.of_checked
        return SystemTrajectory(
            job.model,
            series(job.controls.times, job.controls.values, controls),
            series(times, rollout.sensordata, sensors),
            job.start,
            series(times, rollout.states, states),
        )

    def _of(self, model: Any) -> tuple[SignalMapping, SignalMapping, SignalMapping]:
        if id(model) not in self._known:
            sensors, states, controls = self._given
            self._known[id(model)] = (
                sensor_mapping(model) if sensors is None else sensors,
                all_states(model) if states is None else states,
                control_mapping(model) if controls is None else controls,
            )
        return self._known[id(model)]


def _repeated(items: list[Any], count: int, what: str) -> list[Any]:
    if len(items) == count:
        return items
    if len(items) == 1:
        return items * count
    raise SignalError(f"there are {len(items)} {what} for {count} simulations")
