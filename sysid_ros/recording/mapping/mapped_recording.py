# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording after the signal map: model signals with times in seconds, clocks settled."""

from __future__ import annotations

from dataclasses import dataclass

from sysid_ros.arrays import FloatArray
from sysid_ros.recording.mapping.mapping_settings import SignalKind
from sysid_ros.recording.mapping.sending_habits import SendingHabit
from sysid_ros.recording.mapping.topic_quality import TopicQuality
from sysid_ros.recording.mapping.turns import TURN


@dataclass(frozen=True)
class MappedSignal:
    """One model signal as measured or commanded, at its own instants.

    ``times`` are seconds from :attr:`MappedRecording.start_ns`, strictly increasing. ``values``
    contain no NaN. ``gaps`` lists half-open intervals (start, end) in seconds in which nothing is
    known (longer than the experiment's ``max_gap``) although the signal counts.
    """

    kind: SignalKind
    name: str
    times: FloatArray  # (n,) s
    # In model units, scale and offset applied: (n,), or (n, k) for vectors, quaternions (w x y z)
    # and poses.
    values: FloatArray
    held: bool  # True: holds its last value (commands); False: moves on between samples
    noise: float | None  # standard deviation from the experiment, None: to be estimated
    gaps: tuple[tuple[float, float], ...] = ()
    smooth: bool = False  # True: a cubic spline joins its samples, False: lines do
    turns: int = 0  # jumps by a whole turn that were joined
    turn: float = TURN  # what they were: rad, or degrees that nobody said to be any
    repeats: int = 0  # samples that repeated an earlier reading and were left out
    steady: str = ""  # words that refuse what was measured, where it stays the same
    habit: SendingHabit | None = None  # of controls, where more of the recording is to come

    @property
    def method(self) -> str:
        """Its way between samples as a time series calls it: zoh, linear or cubic."""
        return "zoh" if self.held else "cubic" if self.smooth else "linear"


@dataclass(frozen=True)
class MappedRecording:
    """All signals of one bag that the experiment maps, on one time axis."""

    name: str
    start_ns: int  # epoch nanoseconds of t = 0
    end: float  # s after t = 0
    controls: tuple[MappedSignal, ...]  # kind ACTUATOR
    measured: tuple[MappedSignal, ...]  # kinds SENSOR, QPOS, QVEL
    quality: tuple[TopicQuality, ...] = ()
    input_hash: str = ""  # sha256 of the bag's files
    # Stretches (start, end) in s in which something mapped does not count (``enabled_when``).
    masked: tuple[tuple[float, float], ...] = ()
    silent: tuple[tuple[float, float], ...] = ()  # the same in which nothing at all was recorded
    warnings: tuple[str, ...] = ()  # what was odd about the recording, one sentence each
