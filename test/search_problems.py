# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Functions to search, and a process that takes part in a shared search."""

from __future__ import annotations

import numpy as np

from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.experiment.fit_schema import SearchConfig
from sysid_ros.search.search_methods import run_search
from sysid_ros.search.space import SearchSpace


def space(size: int = 3) -> SearchSpace:
    parameters = ParameterDict()
    for i in range(size):
        parameters.add(Parameter(f"p{i}", 2.0, -5.0, 5.0))
    return SearchSpace.of(parameters)


def rastrigin(values: np.ndarray) -> np.ndarray:
    """Ten local minima per parameter; the global one is 0 at (1, 1, ...)."""
    apart = values - 1.0
    return np.sum(apart**2 + 10.0 * (1.0 - np.cos(2.0 * np.pi * apart)), axis=1)[:, np.newaxis]


def take_part(storages: list[str], seed: int) -> None:
    """What each of several processes does."""
    for storage in storages:
        config = SearchConfig(method="random", trials=12, seed=seed, study=storage)
        run_search(config, space(), rastrigin)
