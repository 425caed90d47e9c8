# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording as another robot would have made it: the same messages with other numbers.

The robot that obeys the recorded commands is simulated with parameters that are known, and what it
would have measured is written over the recorded numbers in place. So topics, types, rates, jitter,
gaps, units and everything else of a recording stay as the user has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import Dataset, noise_of
from sysid_ros.engine.elements import is_servo
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool, simulation_of
from sysid_ros.engine.windows import WindowGroup, model_group
from sysid_ros.experiment import Experiment, SignalConfig, locate_bag, message_paths_of
from sysid_ros.recording.bags import Recording, open_recording, read_columns
from sysid_ros.recording.mapping import (
    MappedRecording,
    SignalKind,
    WantedFields,
    choose_stamps,
    map_recording,
)
from sysid_ros.recording.messages import Components
from sysid_ros.rehearsal.changed_bag import Change, write_changed
from sysid_ros.rehearsal.plan import RehearsalError

_INPUTS = (
    SignalKind.ACTUATOR, SignalKind.EFFORT, SignalKind.SERVO, SignalKind.VELOCITY_SERVO,
    SignalKind.WRENCH,
)  # fmt: skip
_FINER = 4  # steps of the true robot in one of the model
_VELOCITY_FILTER = 30.0  # Hz, for the start


@dataclass(frozen=True)
class TrueMotion:
    """The measurements that a robot would have made, sensor by sensor."""

    times: Mapping[str, FloatArray]  # by sensor the instants (n,), s on the recording's axis
    values: Mapping[str, FloatArray]  # by sensor the true values (n, k)
    noise: Mapping[str, FloatArray]  # by sensor the standard deviation of its noise, (k,)

    def at(self, sensor: str, times: FloatArray, random: np.random.Generator) -> FloatArray:
        """Noisy values (m, k) of a sensor at some instants."""
        columns = self.values[sensor].T
        exact = np.column_stack([np.interp(times, self.times[sensor], one) for one in columns])
        return np.asarray(exact + self.noise[sensor] * random.standard_normal(exact.shape))


def true_motions(
    dataset: Dataset, params: ParameterDict, theta: FloatArray
) -> dict[str, TrueMotion]:
    """Simulate every recording of a dataset with the parameters' true values, (p,).

    The time step is a fraction of the model's, as no robot has one.

    Raises:
      RehearsalError: The recorded inputs are no commands to servos, or the simulation runs away.
    """
    found: dict[str, TrueMotion] = {}
    for sequences in (*dataset.training, *dataset.validation):
        if all(name in found for name in sequences.sequence_name):
            continue
        _check_inputs(sequences)
        group = model_group(
            sequences.replaced(gaps=[()] * len(sequences)).with_finer_step(_FINER),
            params,
            window_length=None,
            estimate_starts=False,
            velocity_filter=_VELOCITY_FILTER,
        )
        found.update(_simulated(group, theta, dataset.noise))
    return found


def _check_inputs(sequences: ModelSequences) -> None:
    """Refuse inputs that lead another robot elsewhere, as torques do."""
    model = sequences.spec.copy().compile()
    names = {name for control in sequences.control for name in control.signal_mapping or {}}
    others = [
        name
        for name in sorted(names)
        if (a := mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)) >= 0
        and not is_servo(model, a)
    ]
    if others:
        raise RehearsalError(
            f"{', '.join(others[:6])} are driven by recorded torques, which would not lead a robot "
            "with other parameters along the recorded motion; an experiment can be rehearsed where "
            "position servos are told where to go"
        )


def _simulated(
    group: WindowGroup, theta: FloatArray, known: Mapping[str, float]
) -> dict[str, TrueMotion]:
    candidate = group.builder.build(theta)
    with RolloutPool(None) as rollouts:
        jobs = [simulation_of(batch, candidate, batch.spread) for batch in group.batches]
        results = rollouts.run_batches(jobs)
    residuals = [
        residual
        for batch, done in zip(group.batches, results, strict=True)
        for residual in batch.parts(batch.residual(candidate, done.sensordata))
    ]
    found: dict[str, TrueMotion] = {}
    for window, residual in zip(group.windows, residuals, strict=True):
        samples, signals = window.window.samples, window.sequence.signals
        predicted = residual + samples.values
        if not np.all(np.isfinite(predicted)):
            raise RehearsalError(
                f"{window.sequence.name}: with the drawn parameters the simulation flies apart; "
                "give narrower bounds or priors"
            )
        times: dict[str, FloatArray] = {}
        columns: dict[str, list[FloatArray]] = {}
        noise: dict[str, list[float]] = {}
        for number, signal in enumerate(signals):
            own = samples.signals == number
            times[signal.sensor] = window.window.start + samples.times[own]
            columns.setdefault(signal.sensor, []).append(predicted[own])
            level = known.get(signal.sensor) or noise_of(samples.times[own], samples.values[own])
            noise.setdefault(signal.sensor, []).append(level)
        found[window.sequence.name] = TrueMotion(
            times,
            {sensor: np.column_stack(parts) for sensor, parts in columns.items()},
            {sensor: np.array(levels) for sensor, levels in noise.items()},
        )
    return found


def retell(
    experiment: Experiment, bag: str, motion: TrueMotion, folder: Path, data_dir: Path | None,
    random: np.random.Generator,
) -> None:  # fmt: skip
    """Write a recording anew with what another robot would have measured.

    Args:
      experiment: Says what in the recording is what.
      bag: The recording, as the experiment names it.
      motion: What was measured.
      folder: The new bag's folder, which must not exist.
      data_dir: Where bags are found first.
      random: Of the noise.

    Raises:
      RehearsalError: A measured signal is an orientation or a sum, or the bag is of ROS 1.
      SysidError: The bag cannot be read or written.
    """
    path = locate_bag(bag, experiment_file=experiment.path, data_dir=data_dir)
    with open_recording(path, msg_paths=message_paths_of(experiment)) as recording:
        mapped = map_recording(recording, experiment, name=bag)
        wanted = WantedFields.of(recording, experiment)
        changes: dict[str, list[Change]] = {}
        for signal, numbers in zip(experiment.signals, wanted.numbers, strict=True):
            if signal.kind in _INPUTS:
                continue
            if numbers.quaternions:
                raise RehearsalError(f"{signal.field}: orientations cannot be rehearsed")
            if numbers.weights:
                raise RehearsalError(f"{signal.field}: sums cannot be rehearsed")
            change = _change(recording, experiment, signal, numbers, mapped, motion, random)
            changes.setdefault(signal.topic, []).append(change)
        write_changed(recording, sorted(wanted.fields), changes, folder)


def _change(
    recording: Recording, experiment: Experiment, signal: SignalConfig,
    numbers: Components, mapped: MappedRecording, motion: TrueMotion,
    random: np.random.Generator,
) -> Change:  # fmt: skip
    """The numbers of one signal at its messages' instants, in the messages' unit."""
    table = read_columns(recording, {signal.topic: list(numbers.paths)})[signal.topic]
    _, stamps = choose_stamps(table, signal.clock or experiment.clock)
    times = (stamps - mapped.start_ns) / 1e9
    if signal.label not in motion.times:
        raise RehearsalError(
            f"{signal.label} cannot be rehearsed: of free joints only sensors of the body can"
        )
    values = motion.at(signal.label, times, random)
    turned = values * numbers.with_z_up(signal.field) if signal.z_down else values
    return Change(numbers.paths, (turned - signal.offset) / signal.factor)
