# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Simulating recordings, and the trajectories that come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from sysid_ros.engine.simulation.simulation import BatchRollout, Rollout, Simulation, StepControls
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
        names = SignalNames(rollout_signal_mapping, rollout_state_mapping, ctrl_mapping)
        return trajectories(pool.run, jobs, names)


def trajectories(
    run: Callable[[Sequence[Simulation]], Sequence[Rollout | BatchRollout]],
    jobs: Sequence[Simulation],
    names: SignalNames,
) -> list[SystemTrajectory]:
    """Run simulations, each by itself, and wrap the results.

    The time of the results goes on from the simulation's first state.
    """
    known = {
        key: names.of(model) for key, model in {id(job.model): job.model for job in jobs}.items()
    }
    series = names.series
    return [
        _wrapped(job, rollout, series, *known[id(job.model)])
        for job, rollout in zip(jobs, run(jobs), strict=True)
    ]


def _wrapped(
    job: Simulation,
    rollout: Rollout | BatchRollout,
    series: Callable[..., TimeSeries],
    sensors: SignalMapping,
    states: SignalMapping,
    controls: SignalMapping,
) -> SystemTrajectory:
    times = rollout.states[:, 0]
    return SystemTrajectory(
        job.model,
        series(job.controls.times, job.controls.values, controls),
        series(times, rollout.sensordata, sensors),
        job.start,
        series(times, rollout.states, states),
    )


def all_states(model: Any) -> dict[str, Any]:
    """Mapping of all positions, velocities and activations, as columns of the state after time."""
    qpos, qvel, act = state_mappings(model)
    return {**qpos, **qvel, **act}


class SignalNames:
    """Mappings of models, computed once for all that have the same elements.

    Attributes:
      series: Makes series with them, checked where they were given.

    Args:
      sensors: Of the sensor data; ``None``: the model's own, likewise the others.
      states: Of the states.
      controls: Of the controls.
    """

    def __init__(
        self,
        sensors: SignalMapping | None = None,
        states: SignalMapping | None = None,
        controls: SignalMapping | None = None,
    ) -> None:
        self._given = (sensors, states, controls)
        is_given = any(each is not None for each in self._given)
        self.series = TimeSeries if is_given else TimeSeries.of_checked
        self._known: dict[tuple[Any, ...], tuple[SignalMapping, SignalMapping, SignalMapping]] = {}

    def of(self, model: Any) -> tuple[SignalMapping, SignalMapping, SignalMapping]:
        """Of its sensor data, states and controls."""
        key = model.names, model.jnt_type.tobytes(), model.sensor_dim.tobytes(), model.na, model.nu
        if key not in self._known:
            sensors, states, controls = self._given
            self._known[key] = (
                sensor_mapping(model) if sensors is None else sensors,
                all_states(model) if states is None else states,
                control_mapping(model) if controls is None else controls,
            )
        return self._known[key]


def _repeated(items: list[Any], count: int, what: str) -> list[Any]:
    if len(items) == count:
        return items
    if len(items) == 1:
        return items * count
    raise SignalError(f"there are {len(items)} {what} for {count} simulations")
