# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Search methods: points of the unit cube, asked for in batches and told their costs."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray

RANDOM_BATCH = 64

Seed = int | tuple[int, ...]  # of numpy.random.default_rng; other numbers, other points


class Method(Protocol):
    """A search that is driven from outside; the same seed and costs give the same points."""

    def ask(self) -> FloatArray:
        """The next points, (n, p)."""

    def tell(self, points: FloatArray, costs: FloatArray) -> None:
        """The costs of the first of those points, (m, n_costs), infinite where they diverge."""


class Uniform:
    """Independent points."""

    def __init__(self, size: int, seed: Seed) -> None:
        self._rng = np.random.default_rng(seed)
        self._size = size

    def ask(self) -> FloatArray:
        """Points that know nothing of earlier ones."""
        return self._rng.random((RANDOM_BATCH, self._size))

    def tell(self, points: FloatArray, costs: FloatArray) -> None:
        """Nothing is learned."""


class LatinHypercube:
    """Points that fill every parameter's range evenly (McKay et al. 1979).

    Args:
      size: Number of parameters.
      trials: How many points, of which each has a stratum of its own in every parameter.
      seed: Of their arrangement.
    """

    def __init__(self, size: int, trials: int, seed: Seed) -> None:
        self._sampler = scipy.stats.qmc.LatinHypercube(size, rng=np.random.default_rng(seed))
        self._trials = trials

    def ask(self) -> FloatArray:
        """All points at once; asked again, another arrangement."""
        return np.asarray(self._sampler.random(self._trials), dtype=np.float64)

    def tell(self, points: FloatArray, costs: FloatArray) -> None:
        """Nothing is learned."""
