# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros check``: read an experiment's recordings and test them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.dataset import load_dataset, reading_of
from sysid_ros.diagnosis.checks import check_dataset
from sysid_ros.diagnosis.command_interpolation import command_samplings
from sysid_ros.diagnosis.evidence import (
    ExperimentLines,
    Finding,
    FindingKind,
    is_uneven,
    joined,
    not_tested,
    recorded,
    sampling_of,
)
from sysid_ros.engine.elements import n_actuators
from sysid_ros.errors import DataError, SysidError, as_sentence, listed
from sysid_ros.experiment import (
    Experiment,
    SignalConfig,
    check_measured,
    locate_bag,
    message_paths_of,
    with_overrides,
)
from sysid_ros.recording.bags import FASTEST_CLOCK, open_recording, read_columns
from sysid_ros.recording.mapping import SignalKind, TopicQuality, differing_clocks
from sysid_ros.recording.messages import Clock, FieldPath, TopicColumns, numbers_of

_NAMED = 4  # actuators that a sentence names
_COMES_FIRST = {  # beside which the motion tells nothing of commands between messages
    FindingKind.SIGN, FindingKind.DEGREES, FindingKind.MILLIMETRES, FindingKind.UNIT,
    FindingKind.SWAP,
    FindingKind.OFFSET, FindingKind.SCALE, FindingKind.LAG, FindingKind.MOUNTING,
    FindingKind.RUNAWAY, FindingKind.RANGE, FindingKind.GRAVITY, FindingKind.LOAD,
    FindingKind.STANDSTILL, FindingKind.SLIP, FindingKind.NO_CONTROL, FindingKind.ECHO,
    FindingKind.INTEGRAL, FindingKind.SMOOTHED, FindingKind.MASSES,
}  # fmt: skip


def check_experiment(
    experiment: Experiment,
    data_dir: Path | None,
    on_reading: Callable[[float], None] | None = None,
    on_note: Callable[[str], None] = lambda _: None,
) -> tuple[Finding, ...]:
    """Find the mistakes in an experiment before any fit.

    Args:
      experiment: The validated experiment.
      data_dir: Where bags are found first.
      on_reading: Told how much of the recordings has been read, 0 to 1.
      on_note: Told what is left out, and what is odd about the recordings.

    Raises:
      SysidError: A bag or model is missing, damaged, or does not fit the signals; or nothing
        measured is mapped.
    """
    if not experiment.sequences:
        raise DataError("there are no sequences to check; list bags under 'sequences'")
    check_measured(experiment)
    whole, dead = ExperimentLines(experiment), list[SignalConfig]()
    try:
        reading = reading_of(experiment)
        dataset = load_dataset(experiment, data_dir, on_reading, reading=reading)
    except DataError:
        dead = _constant_signals(experiment, data_dir)
        if not dead:
            raise
        moving = tuple(signal for signal in experiment.signals if signal not in dead)
        if all(signal.kind is SignalKind.ACTUATOR for signal in moving):
            return tuple(_dead(signal, whole) for signal in dead)
        dataset = load_dataset(replace(experiment, signals=moving), data_dir)
        experiment = _without_signal_parameters(experiment, moving)
    for warning in dataset.warnings:
        on_note(warning)
    if left_out := not_tested(recorded(dataset.training)):
        on_note(left_out)
    findings = check_dataset(experiment, dataset, on_note=on_note)
    lines = ExperimentLines(experiment)
    by_torque = experiment.fit.method == "inverse_dynamics"  # without a simulation to drive
    if not (by_torque or {one.kind for one in findings} & _COMES_FIRST):
        for one in command_samplings(experiment, dataset, data_dir):
            if finding := one.finding(lines):
                findings = (*findings, finding)
            elif one.doubt:
                on_note(one.doubt)
    return (
        *([] if by_torque else _without_control(recorded(dataset.training).model, lines)),
        *(_dead(signal, whole) for signal in dead),
        *_apart_clocks(dataset.quality),
        *(_with_better_clock(finding, experiment, data_dir, lines) for finding in findings),
    )


def _without_control(model: mujoco.MjModel, lines: ExperimentLines) -> list[Finding]:
    """A robot whose actuators are told nothing."""
    names = [str(model.actuator(actuator).name) for actuator in range(n_actuators(model))]
    if not names or lines.has_input:
        return []
    told = listed(map(repr, names), _NAMED)
    return [
        Finding(
            FindingKind.NO_CONTROL,
            tuple(names),
            {"actuators": float(len(names))},
            f"Nothing drives the model: no command or torque is mapped, so that {told} would get "
            "zero for ever. Map what they were told; if nothing drove the robot, delete its "
            "actuators from the model.",
            f"- {{actuator: {names[0]}, topic: TOPIC, field: FIELD}}",
        )
    ]


def _apart_clocks(quality: Sequence[TopicQuality]) -> tuple[Finding, ...]:
    """The first recording's topics whose clocks differ beyond doubt, if any."""
    for sequence in dict.fromkeys(one.sequence for one in quality):
        own = [one for one in quality if one.sequence == sequence]
        if any(one.clock == Clock.SIMULATION.value or one.clock_corrected for one in own):
            continue
        offsets = {
            one.topic: one.clock_offset or 0.0
            for one in own
            if one.clock_offset is not None or one.clock == Clock.RECEIVE.value
            if abs(one.clock_drift or 0.0) < FASTEST_CLOCK
        }
        if said := differing_clocks(offsets):
            return (
                Finding(
                    FindingKind.CLOCKS,
                    tuple(offsets),
                    {"apart": max(offsets.values()) - min(offsets.values())},
                    f"{as_sentence(said)} ({sequence}): that would look like a delay of "
                    "the robot. Translate them to the recorder's clock.",
                    "clock_correction: drift",
                    ("clock_correction=drift",),
                ),
            )
    return ()


def _constant_signals(experiment: Experiment, data_dir: Path | None) -> list[SignalConfig]:
    """Measured signals that never change in one of the recordings."""
    measured = [s for s in experiment.signals if s.kind is not SignalKind.ACTUATOR]
    found = []
    for sequence in experiment.sequences:
        path = locate_bag(sequence.bag, experiment_file=experiment.path, data_dir=data_dir)
        with open_recording(path, msg_paths=message_paths_of(experiment)) as recording:
            parts = {
                signal: numbers_of(
                    signal.field,
                    recording.topic(signal.topic).msgtype,
                    recording.types(signal.topic),
                ).paths
                for signal in measured
            }
            wanted: dict[str, list[FieldPath]] = {}
            for signal, paths in parts.items():
                wanted.setdefault(signal.topic, []).extend(paths)
            fields = {topic: list(dict.fromkeys(paths)) for topic, paths in wanted.items()}
            tables = read_columns(recording, fields)
            found += [
                signal
                for signal, paths in parts.items()
                if all(_never_changes(tables[signal.topic], path) for path in paths)
            ]
    return list(dict.fromkeys(found))


def _never_changes(table: TopicColumns, path: FieldPath) -> bool:
    """Tell whether a number of a topic has the same value in all of several messages."""
    column = table.paths.index(path)
    values = table.values[table.present[:, column], column]
    return len(values) > 1 and bool(np.all(values == values[0]))


def _without_signal_parameters(
    experiment: Experiment, moving: tuple[SignalConfig, ...]
) -> Experiment:
    """The experiment without its dead signals, and without parameters of signals."""
    kept = tuple(one for one in experiment.parameters if one.element != "signal")
    return replace(experiment, signals=moving, parameters=kept)


def _dead(signal: SignalConfig, lines: ExperimentLines) -> Finding:
    repair = lines.removed(signal.label)
    return Finding(
        FindingKind.LITTLE_MOTION,
        (signal.label,),
        {"range": 0.0},
        f"{signal.label!r} ({signal.topic}, {signal.field}) never changes in one of the "
        "recordings: the joint was held, the sensor is dead, or the field is another. Leave the "
        "signal out, or the recording.",
        *repair,
    )


def _with_better_clock(
    finding: Finding, experiment: Experiment, data_dir: Path | None, lines: ExperimentLines
) -> Finding:
    """Uneven stamps are repaired by the receive time where that is even."""
    if finding.kind is not FindingKind.UNEVEN_RATE:
        return finding
    change = {"clock": Clock.RECEIVE.value}
    repair = joined([lines.signal(label, change) for label in finding.signals])
    try:
        dataset = load_dataset(with_overrides(experiment, repair.overrides), data_dir)
    except SysidError:  # that clock is no better
        return finding
    again = recorded(dataset.training)
    for label in finding.signals:
        sampled = sampling_of(again.pooled(label))
        if not sampled or any(map(is_uneven, sampled)):
            return finding
    return replace(
        finding,
        sentence=f"{finding.sentence} The receive times are even.",
        repair=repair.text,
        overrides=repair.overrides,
    )
