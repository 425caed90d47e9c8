# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Points to look at: where they fall, that they repeat, and that they get better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_problems import rastrigin, space

from sysid_ros.choices import SEARCH_METHODS
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.errors import ExperimentError, StopRequestedError
from sysid_ros.experiment import SearchConfig
from sysid_ros.search.methods import LatinHypercube
from sysid_ros.search.search_methods import METHODS, STUDY_METHODS, SearchEnd, run_search
from sysid_ros.search.space import SearchSpace
from sysid_ros.search.trials import Trials, read_search_state, write_search_state, write_trials


def search(
    method: str, trials: int, costs: Callable[[np.ndarray], np.ndarray] = rastrigin, **settings: int
) -> SearchEnd:
    return run_search(SearchConfig(method=method, trials=trials, **settings), space(), costs)


def test_wide_positive_bounds_are_searched_on_a_logarithmic_scale() -> None:
    parameters = ParameterDict()
    parameters.add(Parameter("narrow", 0.5, 0.0, 1.0))
    parameters.add(Parameter("wide", 1e-3, 1e-4, 1.0))
    found = SearchSpace.of(parameters)
    assert found.logarithmic.tolist() == [False, True]
    middle = found.values(np.array([0.5, 0.5]))
    np.testing.assert_allclose(middle, [0.5, 1e-2])
    parameters.add(Parameter("endless", 1.0, 0.0, np.inf))
    with pytest.raises(ExperimentError, match="min and max for endless"):
        SearchSpace.of(parameters)


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2))
def test_points_and_values_are_the_same_places(point: list[float]) -> None:
    parameters = ParameterDict()
    parameters.add(Parameter("narrow", 0.5, -2.0, 1.0))
    parameters.add(Parameter("wide", 1e-3, 1e-6, 1e3))
    found = SearchSpace.of(parameters)
    values = found.values(np.array(point))
    assert np.all((values >= found.lower) & (values <= found.upper))
    np.testing.assert_allclose(found.points(values), point, atol=1e-12)


def test_a_latin_hypercube_has_one_point_in_every_stratum() -> None:
    points = LatinHypercube(4, 20, seed=1).ask()
    for column in points.T:
        assert sorted(np.floor(20 * column)) == list(range(20))


@pytest.mark.parametrize("method", ["starts", "random", "cma-es"])
def test_the_same_seed_gives_the_same_answer_and_the_start_comes_first(method: str) -> None:
    first, second, other = (search(method, 90, seed=seed).trials for seed in (5, 5, 6))
    assert len(first) == 90
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.costs, second.costs)
    np.testing.assert_array_equal(first.values[0], [2.0, 2.0, 2.0])
    assert not np.array_equal(first.values[1:], other.values[1:])


def test_cma_es_with_restarts_finds_the_best_of_a_thousand_minima() -> None:
    reached = [search("cma-es", 6000, seed=seed).trials.costs.min() for seed in range(4)]
    assert sorted(reached)[2] < 1e-6  # three of four seeds
    assert search("random", 6000).trials.costs.min() > 1e-3


def test_cma_es_searches_a_single_parameter() -> None:
    end = run_search(SearchConfig(method="cma-es", trials=1500), space(1), rastrigin)
    assert end.best(1, space(1))[0] == pytest.approx([1.0], abs=1e-3)


def test_simulations_that_diverge_are_survived() -> None:
    def costs(values: np.ndarray) -> np.ndarray:
        return np.where(values[:, :1] < 0.0, np.inf, rastrigin(values))

    for method in ("cma-es", "random"):
        assert np.isfinite(search(method, 300, costs).best(1, space())).all()


@pytest.mark.parametrize("method", ["cma-es", "random"])
def test_an_interrupted_search_goes_on_as_if_nothing_had_happened(method: str) -> None:
    asked: list[int] = []

    def interrupted(values: np.ndarray) -> np.ndarray:
        if sum(asked) > 100:
            raise StopRequestedError
        asked.append(len(values))
        return rastrigin(values)

    whole = search(method, 300, seed=7).trials
    part = search(method, 300, interrupted, seed=7)
    assert part.stopped
    assert 100 < len(part.trials) < 300
    asked.clear()

    def counted(values: np.ndarray) -> np.ndarray:
        asked.append(len(values))
        return rastrigin(values)

    config = SearchConfig(method=method, trials=300, seed=7)
    again = run_search(config, space(), counted, earlier=part.trials).trials
    np.testing.assert_array_equal(again.values, whole.values)
    assert sum(asked) == 300 - len(part.trials)


def test_the_best_so_far_is_told_as_it_improves() -> None:
    told: list[float] = []
    config = SearchConfig(method="cma-es", trials=400)
    run_search(config, space(), rastrigin, on_best=lambda step: told.append(step.cost))
    assert len(told) > 1
    assert told == sorted(told, reverse=True)


def test_starts_are_not_the_same_place_twice() -> None:
    values = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [3.0, 0.0, 0.0], [4.0, 4.0, 4.0]])
    trials = Trials(space().names, values, np.array([[1.0], [1.1], [2.0], [np.inf]]))
    end = SearchEnd(trials, Trials.none(space().names, 1), stopped=False)
    np.testing.assert_array_equal(end.best(4, space()), values[[0, 2]])


def test_trials_survive_the_disk(tmp_path) -> None:
    costs = np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [np.inf, 0.0]])
    trials = Trials(("a", "b"), np.arange(8.0).reshape(4, 2) / 3.0, costs)
    assert trials.front() == [0, 1]
    write_search_state(tmp_path, trials, {"the file x": "abc"})
    read, inputs = read_search_state(tmp_path)
    np.testing.assert_array_equal(read.values, trials.values)
    np.testing.assert_array_equal(read.costs, trials.costs)
    assert inputs == {"the file x": "abc"}
    write_trials(tmp_path, trials)
    lines = (tmp_path / "trials.csv").read_text().splitlines()
    assert lines[0] == "trial,cost_1,cost_2,front,a,b"
    assert lines[1].startswith("0,1.0,2.0,1,0.0,")


def test_the_experiment_file_takes_the_methods_that_there_are() -> None:
    assert (*METHODS, *STUDY_METHODS, "inverse_dynamics") == SEARCH_METHODS
    with pytest.raises(ExperimentError, match="unknown search method 'cmaes'; nearest: 'cma-es'"):
        search("cmaes", 10)
