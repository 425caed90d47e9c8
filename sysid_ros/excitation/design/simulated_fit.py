# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The fit that an experiment's next recording is for: sampling, noise and windows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import Dataset, declared_noise, load_dataset, noise_of
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import SignalType, TimeSeries
from sysid_ros.errors import BagError
from sysid_ros.excitation.design.planned_recording import Sampled, SimulatedFit
from sysid_ros.experiment import Experiment, locate_bag
from sysid_ros.recording.mapping import Interpolation, SignalKind

RATE = 100.0  # Hz, where no recording tells
NOISE = 1e-3  # rad, m or their rates, where neither the experiment nor a recording tells
_TYPES = {
    SignalKind.SENSOR: SignalType.MjSensor,
    SignalKind.QPOS: SignalType.MjStateQPos,
    SignalKind.QVEL: SignalType.MjStateQVel,
}


def simulated_fit(
    experiment: Experiment,
    spec: mujoco.MjSpec,
    params: ParameterDict,
    values: FloatArray,
    data_dir: Path | None,
) -> SimulatedFit:
    """Put together what a recording of an experiment will be.

    Rates and noise are those of the recordings that there are. Without any, samples and commands
    come at 100 Hz, and noise is as declared, else 1 mrad.

    Args:
      experiment: Its signals are what is measured.
      spec: The model with its sensors.
      params: Its parameters.
      values: Where they are, (p,).
      data_dir: Where bags are found first.

    Raises:
      SysidError: A recording is damaged or does not fit the experiment.
    """
    model = spec.copy().compile()
    shown = {model.sensor(i).name for i in range(model.nsensor)}
    kinds = {
        signal.label: _TYPES[signal.kind]
        for signal in experiment.signals
        if signal.kind in _TYPES and signal.label in shown
    }
    noise = declared_noise(experiment)
    sensors = {name: Sampled(kind, RATE, noise.get(name, NOISE)) for name, kind in kinds.items()}
    between = {
        signal.name: signal.interpolation.value
        for signal in experiment.signals
        if signal.kind is SignalKind.ACTUATOR
        and signal.interpolation in (Interpolation.LINEAR, Interpolation.CUBIC)
    }
    commands = RATE
    dataset = _recorded(experiment, data_dir)
    if dataset is not None:
        group = dataset.training[0]
        measured, control = group.sensordata[0], group.control[0]
        sensors = {name: _as_recorded(measured, name, one, noise) for name, one in sensors.items()}
        commands, between = _rate(control.times), _between(control)
    return SimulatedFit(
        spec=spec, params=params, values=values, sensors=sensors, command_rate=commands,
        between=between, window_length=experiment.windows.length,
        estimate_starts=experiment.initial_state.estimate,
        velocity_filter=experiment.initial_state.velocity_filter,
    )  # fmt: skip


def _recorded(experiment: Experiment, data_dir: Path | None) -> Dataset | None:
    """The recordings, if all are there."""
    try:
        for one in experiment.recordings:
            locate_bag(one.bag, experiment_file=experiment.path, data_dir=data_dir)
    except BagError:
        return None
    return load_dataset(experiment, data_dir)


def _as_recorded(
    measured: TimeSeries, name: str, declared: Sampled, noise: Mapping[str, float]
) -> Sampled:
    """The sampling that a recording shows."""
    times, values = measured.known(name)
    if len(times) < 2:
        return declared
    level = noise.get(name) or max(noise_of(times, column) for column in values.T)
    return Sampled(declared.kind, _rate(times), level or declared.noise)


def _rate(times: FloatArray) -> float:
    return 1.0 / float(np.median(np.diff(times)))


def _between(control: TimeSeries) -> dict[str, str]:
    """Return what each recorded command does between two of them."""
    ways = control.interpolation or ("linear",) * control.data.shape[1]
    mapping = control.signal_mapping or {}
    return {name: ways[int(columns[0])] for name, (_, columns) in mapping.items()}
