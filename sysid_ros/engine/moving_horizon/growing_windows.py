# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows of a recording that grows: those of the fit, and the one that is not complete yet."""

from __future__ import annotations

import math
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.moving_horizon.kept_candidates import KeptCandidates
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import MIN_SAMPLES, ModelSequences
from sysid_ros.engine.simulation import CandidateBuilder
from sysid_ros.engine.windows import (
    StartReader,
    WindowSimulation,
    cut_sequence,
    told_from,
    usable_span,
    window_bounds,
)
from sysid_ros.time_intervals import Intervals, within

# Of what is measured after a start: for delays, s, and for filters, periods of their cut-off.
AFTER, PERIODS = 0.3, 3.0
STRETCH = 1.0  # s per window where the fit would take recordings whole
SHORTEST = 0.5  # of a length: a remainder shorter than this is no window of the fit
SAME = 1e-9  # s

Cut = tuple[WindowSimulation, float]  # a window and its last instant, s


class GrowingWindows:
    """Cuts what a recording has gained, on the same grid as the fit of the whole recording.

    Attributes:
      done: The instant before which all windows are complete, s; NaN before the first one.
      length: s per window.
    """

    def __init__(self, params: ParameterDict, settings: FitSettings) -> None:
        self.done = math.nan
        self.length = settings.window_length or STRETCH
        self._params = params
        self._settings = settings
        self._builder: CandidateBuilder | None = None
        self._compiled: mujoco.MjModel | None = None
        self._continues = False  # whether a window ends where the next one begins
        self._read: tuple[list[float], StartReader] | None = None  # of windows that begin there
        self._first = math.nan  # instant of the recording
        self._told: dict[float, float] = {}  # since when it is known what acts, by stretch

    def cut(self, sequences: ModelSequences, until: float, *, ended: bool) -> list[Cut]:
        """Cut what lies behind :attr:`done`.

        Args:
          sequences: The recording, as the only sequence of its model.
          until: The instant up to which all signals have arrived, s.
          ended: Whether nothing follows.

        Returns:
          Windows with their last instants; the last one may still grow.
        """
        begin, end = usable_span(sequences, 0)
        if math.isnan(self.done):
            self.done, self._first, self._told = begin, begin, {}
        end = min(end, until)
        if end <= self.done:
            return []
        self._told = {begin: told for begin, told in self._told.items() if begin >= self.done}
        bounds = self._known(sequences, self.bounds(end, sequences.gaps[0], ended=ended))
        windows = cut_sequence(
            sequences,
            0,
            self._model(sequences),
            bounds,
            estimate_starts=self._settings.estimate_starts,
            velocity_filter=self._settings.velocity_filter,
            reader=self._reader(sequences, [begin for begin, _ in bounds]),
        )
        ends = [last for _, last in bounds]
        return [(w, next(last for last in ends if w.window.start < last)) for w in windows]

    def _known(
        self, sequences: ModelSequences, bounds: list[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """Windows that begin once it is known what acts, as those of the fit do.

        Whether the robot moves when a stretch begins is told by what is measured soon after.
        """
        found, ends = [], {end for _, end in sequences.gaps[0]}
        for begin, last in bounds:
            told = -math.inf
            if begin == self._first or begin in ends:
                told = self._told_from(sequences, begin)
            known = max(begin, min(told, begin + 0.5 * self.length))
            found += [(known, last)] if known < last - SAME else []
        return found

    def _told_from(self, sequences: ModelSequences, begin: float) -> float:
        """The instant from which on it is known what acts in a stretch, by what is seen of it."""
        if begin in self._told:
            return self._told[begin]
        measured = sequences.sensordata[0]
        told = told_from(
            sequences.control[0], measured, self._model(sequences), self._params,
            -math.inf if begin == self._first else begin,
        )  # fmt: skip
        if measured.times[-1] >= begin + AFTER:
            self._told[begin] = told
        return told

    def _reader(self, sequences: ModelSequences, begins: list[float]) -> StartReader:
        """Read starts off what is measured near them, once that is known."""
        if self._read is not None and self._read[0] == begins:
            return self._read[1]
        measured, cutoff = sequences.sensordata[0], self._settings.velocity_filter
        until = max(begins, default=-math.inf) + AFTER + PERIODS / cutoff
        chosen = slice(0, max(int(np.searchsorted(measured.times, until)), MIN_SAMPLES))
        near = replace(measured, times=measured.times[chosen], data=measured.data[chosen])
        model, base = self._model(sequences), sequences.initial_state[0]
        reader = StartReader(model, near, base, velocity_filter=cutoff)
        seldom = np.isfinite(near.data).sum(axis=0).min(initial=MIN_SAMPLES) < MIN_SAMPLES
        if seldom or not all(math.isfinite(reader.known_from(begin)) for begin in begins):
            reader = StartReader(model, measured, base, velocity_filter=cutoff)
        if measured.times[-1] > until:
            self._read = begins, reader
        return reader

    def builder(self, sequences: ModelSequences) -> CandidateBuilder:
        """Return the recording's model with its parameters."""
        if self._builder is None:
            params = self._params.for_robot(sequences.robot)
            self._builder = KeptCandidates(sequences.spec, params)
        return self._builder

    def begin_anew(self) -> None:
        """Forget the grid: what follows is on another time axis."""
        self.done, self._continues, self._read = math.nan, False, None

    def end_at(self, time: float) -> None:
        """End the window that is growing at an instant, from which the next one begins."""
        if time > self.done:
            self.done, self._continues = time, False

    def skip_to(self, time: float) -> float:
        """Leave out what lies before an instant, and return how many windows that is."""
        skipped = max(0.0, time - self.done) / self.length
        if skipped:
            self.done, self._continues = time, False
        return skipped

    def _model(self, sequences: ModelSequences) -> mujoco.MjModel:
        """A model with the sizes and the timestep of all candidates."""
        if self._compiled is None:
            self._compiled = self.builder(sequences).build(self._params.as_vector()).model
        return self._compiled

    def bounds(self, end: float, gaps: Intervals, *, ended: bool) -> list[tuple[float, float]]:
        """The windows up to an instant; those that cannot grow any more are done with."""
        bounds = []
        for begin, last in window_bounds((self.done, end), self.length, 0.0, gaps):
            whole = last - begin >= self.length - SAME
            grows = last >= end - SAME and not whole and not ended
            follows = self._continues and begin < self.done + SAME
            if not grows:
                self.done, self._continues = last, whole
            if whole or grows or not follows or last - begin >= SHORTEST * self.length:
                bounds.append((begin, last))
        known = not within(gaps, self.done, end)
        if self._continues and known and not ended and bounds and bounds[-1][1] < end - SAME:
            bounds.append((self.done, end))
        return bounds
