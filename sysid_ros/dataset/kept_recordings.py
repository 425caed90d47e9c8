# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that several fits of one command map alike, so that a process reads each once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields
from functools import lru_cache
from pathlib import Path

import mujoco

from sysid_ros.experiment import Experiment, SequenceConfig, locate_bag
from sysid_ros.recording.mapping import MappedRecording

_FITTED = ("sequences", "parameters", "windows", "validation", "fit")  # nothing of a recording
KEPT_BYTES = 64 << 20  # of samples that a process keeps; other recordings are read again


class KeptRecordings:
    """Mapped recordings, as many as there is room for."""

    def __init__(self) -> None:
        self._known: dict[Hashable, MappedRecording] = {}
        self._room = KEPT_BYTES

    def mapped(self, key: Hashable, read: Callable[[], MappedRecording]) -> MappedRecording:
        """A recording as it is known, or as it is read now."""
        if key in self._known:
            return self._known[key]
        found = read()
        signals = (*found.controls, *found.measured)
        size = sum(signal.times.nbytes + signal.values.nbytes for signal in signals)
        if size <= self._room:
            self._known[key], self._room = found, self._room - size
        return found


@lru_cache(maxsize=1)
def kept_recordings(token: str) -> KeptRecordings:
    """The recordings of fits that map the same signals, which a token says; of the latest only."""
    del token
    return KeptRecordings()


def reading_of(experiment: Experiment) -> str:
    """The token of experiments that map recordings alike, whichever they fit to what."""
    alike = [getattr(experiment, one.name) for one in fields(experiment) if one.name not in _FITTED]
    return repr([*alike, experiment.max_gap])


def key_of(
    experiment: Experiment,
    name: str,
    config: SequenceConfig,
    data_dir: Path | None,
    spec: mujoco.MjSpec,
) -> Hashable:
    """By which a recording is known that is kept: its files as they are now, and the model's names.

    A process that lives long, as a notebook's, may read it again after somebody wrote it anew. What
    cannot be looked at is like nothing else; who reads it says why.
    """
    path = locate_bag(config.bag, experiment_file=experiment.path, data_dir=data_dir)
    return (
        name, config.robot, config.start, config.end, _state_of(path),
        tuple((one.name, int(one.type)) for one in spec.joints),
        tuple((one.name, int(one.type), one.objname) for one in spec.sensors),
        tuple(one.name for one in spec.actuators),
    )  # fmt: skip


def _state_of(path: Path) -> Hashable:
    """The files of a recording with their sizes and times, of a file or a folder."""
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        states = [(one, one.stat()) for one in files]
    except OSError:
        return object()
    return tuple((one, state.st_size, state.st_mtime_ns) for one, state in states)
