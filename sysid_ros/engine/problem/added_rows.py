# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows beside those of simulation, of which every window has one Gram matrix."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.windows import WindowSimulation


@dataclass(frozen=True)
class Span:
    """A part of a recording: its name, and from when up to when, s on the recording's axis."""

    recording: str
    begin: float
    end: float

    @classmethod
    def of(cls, window: WindowSimulation) -> Span:
        """The part that a window takes."""
        begin = window.window.start
        end = begin + window.window.steps * float(window.model.opt.timestep)
        return cls(window.sequence.name, begin, end)

    def cut(self, edges: FloatArray) -> list[Span]:
        """Its parts between instants (k,) in s from its beginning, k + 1 of them."""
        ends = [self.begin, *(self.begin + edges).tolist(), self.end]
        return [Span(self.recording, a, b) for a, b in itertools.pairwise(ends)]


class AddedRows(Protocol):
    """Rows of some spans, which theta alone determines.

    ``noise`` is the standard deviation by signal. Of the rows' signals no other rows may speak.
    """

    @property
    def proposal(self) -> FloatArray:
        """Values of theta that suit these rows, (p,), to start a search from."""

    def over(self, spans: Sequence[Span]) -> AddedRows:
        """The rows of other spans."""

    def first_noise(self) -> dict[str, float]:
        """A level for every signal before anything is fitted."""

    def costs(self, theta: FloatArray, noise: Mapping[str, float]) -> FloatArray:
        """Half the sum of squared residuals in units of noise by span, (spans,)."""

    def grams(self, theta: FloatArray, noise: Mapping[str, float]) -> FloatArray:
        """``A^T A`` with ``A = [J_theta r]`` in units of noise by span, (spans, p + 1, p + 1)."""

    def squares(self, theta: FloatArray) -> dict[str, tuple[float, int]]:
        """Per signal the sum of squared residuals in its unit and their number."""


def rows_of_gram(gram: FloatArray) -> FloatArray:
    """As many rows as columns with a given Gram matrix, (n, n)."""
    sizes, vectors = np.linalg.eigh(gram)
    return np.asarray((np.sqrt(np.maximum(sizes, 0.0)) * vectors).T)


def add_grams(grams: Sequence[FloatArray], added: Iterable[FloatArray]) -> None:
    """Add those of such rows, (p + 1, p + 1) each, to those with starts, whose residual is last."""
    for gram, own in zip(grams, added, strict=True):
        use = np.append(np.arange(len(own) - 1), len(gram) - 1)
        gram[np.ix_(use, use)] += own
