# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One window of a recording: what was measured in it, and where its start is read off."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.windows.cutting import SequenceData, Window
from sysid_ros.engine.windows.orientations import NO_ORIENTATIONS, OrientationSamples
from sysid_ros.engine.windows.starts import StartReader

START_SAMPLE = 1e-9  # s: a sample this close to a window's start is at its start
WindowKey = tuple[int, float, int]


class WindowSimulation:
    """A window with what is known of it before any simulation.

    Args:
      sequence: The recording that the window is a part of.
      window: The window.
      reader: Reads the start off the measurements.
      model: A compiled model with the sizes and the timestep of all candidates.
      estimate_start: Whether the start is an unknown.

    Attributes:
      seen: The start's unknowns that residuals tell of, (n_start,); derivatives by others are zero.
    """

    def __init__(
        self,
        sequence: SequenceData,
        window: Window,
        reader: StartReader,
        model: mujoco.MjModel,
        *,
        estimate_start: bool,
    ) -> None:
        self.sequence = sequence
        self.window = window
        self.reader = reader
        self.model = model
        self.spread = reader.spread if estimate_start else np.zeros(0)
        self.seen: BoolArray = np.ones(self.spread.size, dtype=np.bool_)
        # A start that is a measured sample agrees with it by construction, which says nothing.
        at_start = np.array([signal.sensor in reader.sensors for signal in sequence.signals])
        self.is_start = (
            at_start[window.samples.signals]
            & (window.samples.times < START_SAMPLE)
            & (not estimate_start)
        )

    def opening(self, steps: int) -> WindowSimulation:
        """The first steps of the window, at least a few; itself where it is short."""
        window = self.window.opening(steps, float(self.model.opt.timestep))
        if window is self.window:
            return self
        estimated = self.n_start > 0
        opening = WindowSimulation(
            self.sequence, window, self.reader, self.model, estimate_start=estimated
        )
        opening.seen = self.seen
        return opening

    @cached_property
    def orientations(self) -> OrientationSamples:
        """The window's samples that belong to orientations, of windows that are simulated."""
        return _orientation_samples(self.sequence, self.window)

    @property
    def key(self) -> WindowKey:
        """The window among those of its model, however its recording was cut."""
        samples = self.window.samples.times.size
        return self.sequence.number, round(self.window.start, 9), samples

    @property
    def n_start(self) -> int:
        """Unknowns of the start: 2 nv + na where it is estimated, otherwise 0."""
        return int(self.spread.size)

    @property
    def n_samples(self) -> int:
        """Measured values compared in this window."""
        return int(np.count_nonzero(~self.is_start))

    def sigma(self, noise: Mapping[str, float]) -> FloatArray:
        """The noise level of every sample, shape (m,); infinite for what the start was read off."""
        levels = np.array([noise[signal.name] for signal in self.sequence.signals])
        sigma: FloatArray = levels[self.window.samples.signals]
        sigma[self.is_start] = np.inf
        return sigma


def _orientation_samples(sequence: SequenceData, window: Window) -> OrientationSamples:
    """The window's samples that belong to orientations, with what was measured."""
    turning = np.array([signal.rotation is not None for signal in sequence.signals])
    if not turning.any():
        return NO_ORIENTATIONS
    chosen = np.flatnonzero(turning[window.samples.signals])
    own, rows = window.samples.signals[chosen], window.samples.rows[chosen]
    mapping = sequence.sensordata.signal_mapping or {}
    measured = np.empty((len(chosen), 4))
    columns, rotations = np.zeros((2, len(chosen)), dtype=np.intp)
    for number in np.unique(own).tolist():
        signal, its = sequence.signals[number], own == number
        columns[its], rotations[its] = signal.column, signal.rotation
        measured[its] = sequence.sensordata.data[rows[its]][:, mapping[signal.sensor][1]]
    return OrientationSamples(chosen, columns, rotations, measured)
