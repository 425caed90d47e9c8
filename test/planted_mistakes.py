# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes planted into the experiment file of a recording that has none, and what check finds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import yaml

from sysid_ros.diagnosis import Finding, FindingKind, check_experiment
from sysid_ros.experiment import Experiment, parse_experiment
from sysid_ros.rehearsal import GeneratedRecording, RecordingPlan, based, generate

LATE = 0.05  # s, of commands in a recording with a lag
Entry = dict[str, object]


@dataclass(frozen=True)
class Recordings:
    """One robot recorded in time and late, and its correct signals."""

    folder: Path
    signals: tuple[Entry, ...]
    in_time: GeneratedRecording
    late: GeneratedRecording


@dataclass(frozen=True)
class Mistake:
    """What was planted.

    Attributes:
      expected: The kinds of finding that tell it, each with one of the signals it must name.
      signals: The entries of the experiment file with it.
      late: Whether the recording with a lag is used.
    """

    expected: tuple[tuple[FindingKind, str], ...]
    signals: tuple[Entry, ...]
    late: bool = False

    def is_told(self, found: Sequence[Finding]) -> bool:
        """Return whether all of it was found, and nothing else."""
        told = [
            any(one.kind is kind and label in one.signals for one in found)
            for kind, label in self.expected
        ]
        return all(told) and len(found) == len(self.expected)


def recordings(spec: mujoco.MjSpec, plan: RecordingPlan, folder: Path) -> Recordings:
    """Record a robot twice: its controllers act at once, and late."""

    def made(name: str, delay: float) -> GeneratedRecording:
        controllers = tuple(replace(one, delay=delay) for one in plan.controllers)
        return generate(spec, replace(plan, controllers=controllers), folder / name)

    in_time, late = made("in_time", 0.001), made("late", LATE)
    (folder / "robot.xml").write_text(based(spec, plan.base).to_xml())
    kinds = {"joint": "qpos", "actuator": "actuator"}
    signals = tuple(
        {kinds[one.kind]: one.name, "topic": one.topic, "field": one.field}
        for one in in_time.signals
    )
    return Recordings(folder, signals, in_time, late)


def checked(robot: Recordings, signals: Sequence[Entry], *, late: bool) -> tuple[Finding, ...]:
    """Check an experiment file with some signals."""
    return check_experiment(experiment_of(robot, signals, late=late), None)


def experiment_of(robot: Recordings, signals: Sequence[Entry], *, late: bool) -> Experiment:
    """The experiment file with some signals, of the recording in time or of the late one."""
    bag = (robot.late if late else robot.in_time).bag.name
    text = yaml.safe_dump(
        {"model": "robot.xml", "sequences": [bag], "signals": list(signals), "parameters": []}
    )
    return parse_experiment(text, path=robot.folder / "experiment.yaml")


def singles(robot: Recordings) -> Iterator[Mistake]:
    """Every mistake of one signal, and exchanges of neighbours."""
    for place, entry in enumerate(robot.signals):
        label = label_of(entry)
        for kind, change in (
            (FindingKind.SIGN, {"scale": -1.0}),
            (FindingKind.DEGREES, {"scale": 180.0 / math.pi}),
            (FindingKind.SCALE, {"scale": 2.0}),
            (FindingKind.OFFSET, {"offset": 0.4}),
        ):
            yield Mistake(((kind, label),), changed(robot.signals, place, change))
    for one, other in neighbours(robot.signals):
        swapped = exchanged(robot.signals, one, other)
        yield Mistake(((FindingKind.SWAP, label_of(robot.signals[one])),), swapped)
    first = label_of(next(one for one in robot.signals if "actuator" in one))
    yield Mistake(((FindingKind.LAG, first),), robot.signals, late=True)


def pairs(robot: Recordings) -> Iterator[Mistake]:
    """An exchange with a sign, a sign, degrees and an exchange with a lag."""
    commands = [place for place, one in enumerate(robot.signals) if "actuator" in one]
    lag = (FindingKind.LAG, label_of(robot.signals[commands[0]]))
    for one, other in neighbours(robot.signals):
        if one not in commands:
            continue
        name = label_of(robot.signals[one])
        swapped = exchanged(robot.signals, one, other)
        swap, sign = (FindingKind.SWAP, name), (FindingKind.SIGN, label_of(robot.signals[other]))
        yield Mistake((swap, sign), changed(swapped, one, {"scale": -1.0}))
        yield Mistake((swap, lag), swapped, late=True)
    for place in commands:
        name = label_of(robot.signals[place])
        for kind, scale in ((FindingKind.SIGN, -1.0), (FindingKind.DEGREES, 180.0 / math.pi)):
            wrong = changed(robot.signals, place, {"scale": scale})
            yield Mistake(((kind, name), lag), wrong, late=True)


def label_of(entry: Entry) -> str:
    """The label of a signal."""
    kind, name = next(iter(entry.items()))
    return f"{name}_qpos" if kind == "qpos" else str(name)


def changed(signals: Sequence[Entry], place: int, change: Entry) -> tuple[Entry, ...]:
    """The entries with some keys of one changed."""
    return tuple({**one, **change} if k == place else one for k, one in enumerate(signals))


def exchanged(signals: Sequence[Entry], one: int, other: int) -> tuple[Entry, ...]:
    """The entries with the fields of two exchanged."""
    fields = {one: signals[other]["field"], other: signals[one]["field"]}
    return tuple({**s, "field": fields.get(k, s["field"])} for k, s in enumerate(signals))


def neighbours(signals: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Neighbours of one kind."""
    for place in range(len(signals) - 1):
        if next(iter(signals[place])) == next(iter(signals[place + 1])):
            yield place, place + 1
