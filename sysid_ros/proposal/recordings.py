# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recordings that a proposal fits and holds out, and their windows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray
from sysid_ros.dataset import Dataset, load_dataset, reading_of
from sysid_ros.diagnosis import Contacts, contacts, motion_bandwidth
from sysid_ros.engine.elements import FREE, is_effort, is_servo
from sysid_ros.engine.signals import actuator_names
from sysid_ros.errors import BagError, DataError
from sysid_ros.experiment import Experiment
from sysid_ros.proposal.signals import SERVOS, Line, Mapping, moved_by
from sysid_ros.recording.bags import find_bag_files

_HELD_OUT_EVERY = 3
_HELD_OUT_SHARE = 0.2
_HARDLY = 0.3  # of the way that a joint makes in a recording, which others must have to tell of it
_SHORT = 3.0  # s; shorter recordings are not cut
_SELDOM = 0.08  # s between samples; beyond 0.1 s a fit would take each interval for a gap
_BRIDGED = 2.5  # usual intervals, one lost message among them
_MOST_TRIED = 6  # recordings that parameters are tried on
_WINDOWS = (0.2, 1.0)  # s, the shortest and the longest proposed


@dataclass(frozen=True)
class Division:
    """Recordings by purpose, as written in the experiment file."""

    fitted: tuple[str | dict[str, Any], ...]  # to fit: bags, or parts of bags
    held_out: tuple[str, ...]  # to judge the fit; empty where a part of each recording is held out
    fraction: float | None  # that part
    unused: tuple[str | dict[str, Any], ...] = ()  # bags that would make the fit too long


def find_bags(given: Sequence[Path]) -> list[Path]:
    """The bags among some paths; a folder of bags stands for all of them.

    Raises:
      BagError: A path is no bag and has none in it.
    """
    found: list[Path] = []
    for path in given:
        found += [path] if _is_bag(path) else _bags_in(path)
    return list(dict.fromkeys(found))


def _is_bag(path: Path) -> bool:
    try:
        find_bag_files(path)
    except BagError:
        return False
    return True


def _bags_in(folder: Path) -> list[Path]:
    bags = [path for path in sorted(folder.iterdir()) if _is_bag(path)] if folder.is_dir() else []
    if not bags:
        find_bag_files(folder)  # says what is wrong with it
    return bags


def divide(bags: Sequence[Path], output: Path, mapping: Mapping) -> Division:
    """Hold out every third recording, or the end of each.

    That is where there are fewer than three, or joints are moved one by one, so that one that
    moves in what would be held out hardly does in the others.
    """
    names = [relative(bag, output) for bag in bags]
    held_out = names[_HELD_OUT_EVERY - 1 :: _HELD_OUT_EVERY]
    fitted = np.array([name not in held_out for name in names])
    if not held_out or any(_rests_but_there(line, fitted) for line in mapping.signals):
        return Division(tuple(names), (), _HELD_OUT_SHARE)
    return Division(tuple(n for n in names if n not in held_out), tuple(held_out), None)


def _rests_but_there(line: Line, fitted: BoolArray) -> bool:
    """Return whether a position hardly changes in the recordings that are fitted, (n,).

    In as many samples each: a wheel turns further the longer it is driven.
    """
    recorded = line.channel.values
    if line.kind not in ("sensor", "qpos") or len(recorded) != len(fitted):
        return False
    shortest = min((len(one) for one in recorded if len(one)), default=1)
    spans = [
        max((float(np.ptp(one[k : k + shortest])) for k in range(0, len(one), shortest)), default=0)
        for one in recorded
    ]
    return bool(np.max(np.array(spans)[fitted]) < _HARDLY * max(spans))


def relative(path: Path, output: Path) -> str:
    """A path as seen from the experiment file, absolute where it leads through the root."""
    path, folder = path.absolute(), output.absolute().parent
    common = Path(os.path.commonpath([path, folder]))
    if common == Path(common.anchor):
        return path.as_posix()
    return Path(os.path.relpath(path, folder)).as_posix()


def longest_gap(intervals: Sequence[float]) -> float | None:
    """The ``max_gap`` of signals that are sampled too seldom for the usual one, else ``None`` [s].

    Args:
      intervals: Usual ones between samples of what is measured, s.
    """
    seldom = [one for one in intervals if _SELDOM < one < np.inf]
    return float(f"{_BRIDGED * max(seldom):.2g}") if seldom else None


def proposed_window(model: mujoco.MjModel, mapping: Mapping) -> float | None:
    """Seconds per window for what is mapped; see :func:`window_length`."""
    durations, tops = [], []
    for line in mapping.signals:
        if line.kind not in ("sensor", "qpos"):
            continue
        for times, values in zip(line.channel.times, line.channel.values, strict=True):
            if len(times) < 2:
                continue
            durations.append(float(times[-1] - times[0]))
            interval = float(np.median(np.diff(times)))
            if interval > 0.0:
                grid = np.arange(times[0], times[-1], interval)
                tops.append(motion_bandwidth(np.interp(grid, times, values), 1.0 / interval))
    known = [top for top in tops if top is not None]
    servos = _pulls_back(model, mapping)
    return window_length(durations, float(np.median(known)) if known else None, servos=servos)


def _pulls_back(model: mujoco.MjModel, mapping: Mapping) -> bool:
    """Return whether servos hold what is driven; one joint without any runs away by itself."""
    inputs = {line.input for line in mapping.lines}
    told = {a for a, name in enumerate(actuator_names(model)) if name in inputs}
    servos = {a for a in told if is_servo(model, a)}
    held = set[str]().union(*(moved_by(model, a) for a in servos))
    pushed = (moved_by(model, a) for a in told if is_effort(model, a) and not _sticks(model, a))
    loose = any(not names or names - held for names in pushed)  # no names: what cables move
    return not loose and bool(servos or any(line.kind in SERVOS for line in mapping.lines))


def _sticks(model: mujoco.MjModel, actuator: int) -> bool:
    """Return whether an actuator is suction, which moves nothing."""
    return int(model.actuator_trntype[actuator]) == int(mujoco.mjtTrn.mjTRN_BODY)


def window_length(
    durations: Sequence[float], bandwidth: float | None, *, servos: bool
) -> float | None:
    """Seconds per window; ``None`` for whole recordings if they are short.

    Servos pull a simulation back to the recording. A torque does not: a small error grows, in a
    chain of several joints exponentially, and a third of a period keeps it small.

    Args:
      durations: Of the recordings, s.
      bandwidth: Highest frequency of the motion, Hz.
      servos: Whether position servos drive the joints.
    """
    if sorted(durations)[len(durations) // 2] < _SHORT:
        return None
    shortest, longest = _WINDOWS
    third = longest if servos or not bandwidth else 1.0 / (3.0 * bandwidth)
    return float(f"{min(max(third, shortest), longest):.1g}")


@dataclass(frozen=True)
class Loaded:
    """Some recordings of an experiment, and the contacts in all of them."""

    dataset: Dataset
    seen: Contacts

    @classmethod
    def of(cls, experiment: Experiment) -> Loaded:
        """Load and look.

        Raises:
          SysidError: As :func:`load_some`.
        """
        dataset = load_some(experiment)
        return cls(dataset, contacts(dataset.whole))

    @property
    def fixed_with_meshes(self) -> bool:
        """True if meshes may touch and all of the robot's postures are known."""
        models = [group.gt_model for group in self.dataset.training]
        return any(m.nmesh for m in models) and not any(FREE in m.jnt_type for m in models)


def load_some(experiment: Experiment) -> Dataset:
    """Some of the recordings of an experiment, as many as a judgement needs.

    Raises:
      SysidError: They cannot be read, or do not fit the experiment.
    """
    places = np.unique(
        np.linspace(0, len(experiment.sequences) - 1, _MOST_TRIED).round().astype(int)
    )
    sequences = tuple(experiment.sequences[place] for place in places)
    try:
        some = replace(experiment, sequences=sequences)
        return load_dataset(some, None, reading=reading_of(experiment))
    except (BagError, DataError) as error:
        raise type(error)(f"the proposal does not fit the recordings: {error}") from error
