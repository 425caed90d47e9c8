# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording as it would be if the robot had been told to move otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import IntArray
from sysid_ros.engine.elements import joint_of
from sysid_ros.engine.signals import control_names, input_actuators
from sysid_ros.excitation import ExcitationPath, TrajectoryTable
from sysid_ros.experiment import Experiment, SignalConfig, locate_bag, message_paths_of
from sysid_ros.recording.bags import Recording, open_recording, read_columns
from sysid_ros.recording.mapping import SignalKind, WantedFields, choose_stamps
from sysid_ros.recording.messages import FieldPath
from sysid_ros.rehearsal.changed_bag import Change, write_changed
from sysid_ros.rehearsal.plan import RehearsalError

_SHARP = 1e6  # rad/s^2 at the corners of a table: rehearsed as it stands


def command_anew(
    experiment: Experiment,
    bag: str,
    motion: TrajectoryTable,
    model: mujoco.MjModel,
    folder: Path,
    data_dir: Path | None,
) -> None:
    """Write a recording anew with the commands of another motion.

    The motion begins and ends where the first recorded commands are, as ``excite`` plays it. What
    is longer than the recording is cut off; actuators of other joints keep their first command.

    Args:
      experiment: Says what in the recording is what.
      bag: The recording, as the experiment names it.
      motion: Positions of joints over time.
      model: Says which actuator is on which joint.
      folder: The new bag's folder, which must not exist.
      data_dir: Where bags are found first.

    Raises:
      RehearsalError: A joint of the motion has no recorded command of its own, or the bag is of
        ROS 1.
      SysidError: The bag cannot be read or written.
    """
    path = locate_bag(bag, experiment_file=experiment.path, data_dir=data_dir)
    with open_recording(path, msg_paths=message_paths_of(experiment)) as recording:
        wanted = WantedFields.of(recording, experiment)
        if any(numbers.weights for numbers in wanted.numbers):
            raise RehearsalError(f"{bag}: sums of fields are no commands of single joints")
        commands = [
            _Command.of(recording, experiment, model, signal, numbers.paths)
            for signal, numbers in zip(experiment.signals, wanted.numbers, strict=True)
            if signal.kind is SignalKind.ACTUATOR
        ]
        path_of = _way(motion, {command.joint: command.first for command in commands}, bag)
        start = min(int(command.stamps[0]) for command in commands)
        changes: dict[str, list[Change]] = {}
        for command in commands:
            signal, times = command.signal, (command.stamps - start) / 1e9
            values = np.full(len(times), command.first)
            if command.joint in motion.joints:
                values = path_of.commands(times)[:, motion.joints.index(command.joint)]
            raw = (values[:, None] - signal.offset) / signal.factor
            changes.setdefault(signal.topic, []).append(Change(command.paths, raw))
        write_changed(recording, sorted(wanted.fields), changes, folder)


@dataclass(frozen=True)
class _Command:
    """The recorded commands of one actuator."""

    joint: str  # empty: it is on none
    signal: SignalConfig
    paths: tuple[FieldPath, ...]
    stamps: IntArray  # (m,) ns
    first: float  # in the model's unit

    @classmethod
    def of(
        cls, recording: Recording, experiment: Experiment, model: mujoco.MjModel,
        signal: SignalConfig, paths: tuple[FieldPath, ...],
    ) -> _Command:  # fmt: skip
        table = read_columns(recording, {signal.topic: list(paths)})[signal.topic]
        _, stamps = choose_stamps(table, signal.clock or experiment.clock)
        column = control_names(model).index(signal.name)
        joint = joint_of(model, int(input_actuators(model)[column]))
        first = float(table.values[0, 0]) * signal.factor + signal.offset
        name = "" if joint is None else str(model.joint(joint).name)
        return cls(name, signal, paths, stamps, first)


def _way(motion: TrajectoryTable, first: Mapping[str, float], bag: str) -> ExcitationPath:
    """The motion with its way from the first commands and back."""
    missing = [joint for joint in motion.joints if joint not in first]
    if missing:
        raise RehearsalError(
            f"the motion moves {', '.join(missing)}, of which {bag} has no commands; it has those "
            f"of {', '.join(name for name in first if name) or 'no joint'}"
        )
    reference = motion.reference(motion.joints, np.full(len(motion.joints), _SHARP))
    return ExcitationPath(reference, np.array([first[joint] for joint in motion.joints]))
