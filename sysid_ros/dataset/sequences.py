# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An experiment's recordings as sequences of its models, and what is known about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import ModelSequences, create_initial_state
from sysid_ros.errors import DataError
from sysid_ros.experiment import Experiment
from sysid_ros.recording.mapping import (
    MappedRecording,
    SignalKind,
    TopicQuality,
    control_time_series,
    measured_time_series,
)
from sysid_ros.robots import LoadedModel, by_sensor
from sysid_ros.time_intervals import Intervals, common, union


@dataclass(frozen=True)
class Dataset:
    """Everything an experiment's recordings contribute to a fit."""

    source: LoadedModel  # the experiment's model as given
    training: tuple[ModelSequences, ...]  # sequences to fit, by model
    validation: tuple[ModelSequences, ...]  # held-out sequences, by model; may be empty
    noise: Mapping[str, float]  # known noise levels by sensor name, in the sensors' units
    quality: tuple[TopicQuality, ...]  # how well each topic was recorded
    warnings: tuple[str, ...]  # plain sentences about the data
    hashes: Mapping[str, str]  # SHA-256 of every model and bag by name
    undriven: tuple[str, ...] = ()  # actuators that no signal drives
    # start of each recording that is fitted by name, epoch nanoseconds of its clock
    recorded: Mapping[str, int] = field(default_factory=dict)
    # by name of each recording that is fitted the designed motion that it names
    motions: Mapping[str, str | None] = field(default_factory=dict)
    # what measured signals jump by where a turn is over, 360 where nobody said that it is degrees
    turned: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def whole(self) -> tuple[ModelSequences, ...]:
        """The sequences to fit, in which what is held out of them counts too."""
        held_out = {
            name: gaps
            for group in self.validation
            for name, gaps in zip(group.sequence_name, group.gaps, strict=True)
        }
        return tuple(
            group.replaced(
                gaps=[
                    common(gaps, held_out[name]) if name in held_out else gaps
                    for name, gaps in zip(group.sequence_name, group.gaps, strict=True)
                ]
            )
            for group in self.training
        )


def model_sequences(
    name: str,
    spec: mujoco.MjSpec,
    recordings: Mapping[str, MappedRecording],
    robot: str | None,
) -> ModelSequences:
    """Recordings as sequences of the model that they were made on.

    Args:
      name: The model's.
      spec: With a sensor for every measured signal.
      recordings: By sequence name.
      robot: Whose they are, where several identical robots have parameters of their own.
    """
    spec = _with_whole_torque(spec, recordings.values())
    start = reference_state(spec)
    return ModelSequences(
        name,
        spec,
        list(recordings),
        [start] * len(recordings),
        [control_time_series(mapped) for mapped in recordings.values()],
        [by_sensor(spec, measured_time_series(mapped)) for mapped in recordings.values()],
        allow_missing_sensors=True,
        robot=robot,
        gaps=[unusable(mapped) for mapped in recordings.values()],
    )


def _with_whole_torque(spec: mujoco.MjSpec, recordings: Iterable[MappedRecording]) -> mujoco.MjSpec:
    """A spec that lets measured torque act as it is; the limits are those of commands."""
    measured = {
        one.name for mapped in recordings for one in mapped.controls if one.method == "linear"
    }
    motors = [motor.name for motor in spec.actuators if motor.name in measured and _is_plain(motor)]
    if not motors:
        return spec
    spec, no = spec.copy(), mujoco.mjtLimited.mjLIMITED_FALSE
    for name in motors:
        motor = spec.actuator(name)
        motor.ctrllimited = motor.forcelimited = no
        if motor.trntype == mujoco.mjtTrn.mjTRN_JOINT:
            spec.joint(motor.target).actfrclimited = no
    return spec


def _is_plain(motor: mujoco.MjsActuator) -> bool:
    """Return whether a motor's force is its input times a gain."""
    return bool(
        motor.gaintype == mujoco.mjtGain.mjGAIN_FIXED
        and motor.biastype == mujoco.mjtBias.mjBIAS_NONE
        and motor.dyntype == mujoco.mjtDyn.mjDYN_NONE
    )


def reference_state(spec: mujoco.MjSpec) -> FloatArray:
    """The model's reference configuration at rest as a full-physics state vector."""
    model = spec.copy().compile()
    return create_initial_state(model, np.asarray(model.qpos0), np.zeros(model.nv))


def check_windows(experiment: Experiment, groups: Sequence[ModelSequences]) -> None:
    """Refuse windows that hold one instant each, which say nothing about a motion.

    Raises:
      DataError: They are shorter than two sampling intervals of a recording.
    """
    for key, config in (("windows", experiment.windows), ("scoring", experiment.scoring)):
        if config is None or config.length is None or not experiment.fit.simulates:
            continue
        for group in groups:
            for name, measured in zip(group.sequence_name, group.sensordata, strict=True):
                interval = float(np.median(np.diff(measured.times)))
                if config.length < 2.0 * interval:
                    raise DataError(
                        f"{key}.length is {config.length:g} s, but {name!r} was measured every "
                        f"{interval:.3g} s: a window must hold several instants"
                    )


def declared_noise(experiment: Experiment) -> dict[str, float]:
    """The noise levels that the experiment declares, by sensor name."""
    return {
        signal.label: signal.noise
        for signal in experiment.signals
        if signal.noise is not None and signal.kind is not SignalKind.ACTUATOR
    }


def unusable(mapped: MappedRecording) -> Intervals:
    """Stretches of which a control or everything is unknown or something mapped does not count."""
    unknown = (gap for signal in mapped.controls for gap in signal.gaps)
    return union([*mapped.masked, *mapped.silent, *unknown])
