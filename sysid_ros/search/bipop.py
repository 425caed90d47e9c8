# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""CMA-ES with restarts of two kinds.

Ever larger populations see the whole, small ones look closely somewhere, and each kind is given the
same number of evaluations (Hansen 2009, "Benchmarking a BI-population CMA-ES on the BBOB-2009
function testbed").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import ExperimentError
from sysid_ros.search.methods import Seed

SIGMA = 0.3  # first spread, in shares of the bounds' distance
_WORST = 1e30  # what a diverged simulation counts as
_MAX_SEED = 2**31 - 1


class BipopCmaEs:
    """Covariance matrix adaptation, restarted.

    Args:
      start: Where the first run begins, in the unit cube, (p,).
      seed: Of everything random.
    """

    def __init__(self, start: FloatArray, seed: Seed) -> None:
        try:
            import cmaes
        except ImportError as error:
            raise ExperimentError(
                "the search method cma-es needs the package 'cmaes': "
                "pip install 'sysid_ros[search]'"
            ) from error
        self._cma: Any = cmaes.CMA
        self._rng = np.random.default_rng(seed)
        self._size = start.size
        self._default = 4 + int(3 * np.log(max(2, start.size)))
        self._large = self._default
        self._budgets = {"large": 0, "small": 0}
        self._kind = "large"
        self._run = self._begin(start, SIGMA, self._default)
        self._asked: list[FloatArray] = []

    def ask(self) -> FloatArray:
        """One generation."""
        if self._run.should_stop():
            self._restart()
        self._asked = [self._run.ask() for _ in range(self._run.population_size)]
        return np.array(self._asked, dtype=np.float64)[:, : self._size]

    def tell(self, points: FloatArray, costs: FloatArray) -> None:
        """Adapt to the costs of a generation; a part of one teaches nothing."""
        if len(points) < len(self._asked):
            return
        finite = np.where(np.isfinite(costs[:, 0]), costs[:, 0], _WORST)
        self._budgets[self._kind] += len(points)
        self._run.tell(list(zip(self._asked, finite.tolist(), strict=True)))

    def _restart(self) -> None:
        """Begin anew somewhere else, with the kind that has had less to spend."""
        somewhere = self._rng.random(self._size)
        if self._budgets["small"] < self._budgets["large"] and self._large > self._default:
            self._kind = "small"
            share = self._rng.random() ** 2
            population = self._default * (0.5 * self._large / self._default) ** share
            sigma = SIGMA * 10.0 ** (-2.0 * self._rng.random())
            self._run = self._begin(somewhere, sigma, max(self._default, int(population)))
            return
        self._kind = "large"
        self._large *= 2
        self._run = self._begin(somewhere, SIGMA, self._large)

    def _begin(self, mean: FloatArray, sigma: float, population: int) -> Any:
        # The library asks for two dimensions; the second of a single parameter means nothing.
        size = max(2, self._size)
        center = np.full(size, 0.5)
        center[: self._size] = mean
        return self._cma(
            mean=center,
            sigma=sigma,
            bounds=np.tile([0.0, 1.0], (size, 1)),
            seed=int(self._rng.integers(_MAX_SEED)),
            population_size=population,
        )
