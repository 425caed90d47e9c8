# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Optuna studies: kept, continued, shared, and not mixed up."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest
from search_problems import rastrigin, space, take_part

from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.errors import DataError, ExperimentError
from sysid_ros.experiment.fit_schema import SearchConfig
from sysid_ros.search.search_methods import run_search
from sysid_ros.search.space import SearchSpace
from sysid_ros.search.start import _check_simulated
from sysid_ros.search.study import Study

TESTS = Path(__file__).resolve().parents[1]
optuna = pytest.importorskip("optuna", reason="the extra sysid_ros[search] is absent")


def two_costs(values: np.ndarray) -> np.ndarray:
    """A front from (0, 0, 0) to (3, 0, 0)."""
    rest = np.sum(values[:, 1:] ** 2, axis=1)
    return np.stack([values[:, 0] ** 2 + rest, (values[:, 0] - 3.0) ** 2 + rest], axis=1)


def test_a_study_made_by_hand_is_continued(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(storage=storage, study_name="mine")
    study.optimize(
        lambda trial: float(
            rastrigin(np.array([[trial.suggest_float(f"p{i}", -5.0, 5.0) for i in range(3)]]))[0, 0]
        ),
        n_trials=6,
    )
    best_before = study.best_value
    config = SearchConfig(method="cma-es", trials=60, study=storage, study_name="mine")
    end = run_search(config, space(), rastrigin)
    again = optuna.load_study(study_name="mine", storage=storage)
    assert len(again.trials) == 66
    assert len(end.elsewhere) == 66
    assert again.best_value < best_before
    best = end.best(1, space())[0]
    assert rastrigin(best[np.newaxis])[0, 0] == pytest.approx(again.best_value)


def study_by_hand(storage: str, name: str, **options: object) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(storage=storage, study_name=name)
    study.optimize(
        lambda trial: sum(trial.suggest_float(f"p{i}", 0.1, 5.0, **options) for i in range(3)),
        n_trials=3,
    )


def test_the_only_study_of_a_file_is_meant_and_keeps_its_scale(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study_by_hand(storage, "mine", log=True)
    parameters = ParameterDict()
    for i in range(3):
        parameters.add(Parameter(f"p{i}", 2.0, 0.1, 5.0))
    positive = SearchSpace.of(parameters)
    run_search(SearchConfig(method="random", trials=5, study=storage), positive, rastrigin)
    assert optuna.get_all_study_names(storage) == ["mine"]
    assert len(optuna.load_study(study_name="mine", storage=storage).trials) == 8


def test_one_of_several_studies_must_be_named(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    for name in ("first", "second"):
        study_by_hand(storage, name)
    with pytest.raises(ExperimentError, match=r"first, second; say which one with search\.study_n"):
        Study(space(), 1, storage=storage)
    assert len(optuna.get_all_study_names(storage)) == 2


def test_a_study_of_other_kinds_of_numbers_is_refused(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study_by_hand(storage, "mine", step=0.1)
    with pytest.raises(ExperimentError, match="this search needs real numbers from"):
        Study(space(), 1, storage=storage)


def test_several_processes_share_studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), str(TESTS.parent)]))
    storages = [str(tmp_path / file) for file in ("study.db", "study.log")]
    for storage in storages:
        Study(space(), 1, storage=storage)
    spawned = multiprocessing.get_context("spawn")
    others = [spawned.Process(target=take_part, args=(storages, seed)) for seed in (1, 2)]
    for process in others:
        process.start()
    for process in others:
        process.join()
        assert process.exitcode == 0
    for storage in storages:
        values, _ = Study(space(), 1, storage=storage).known()
        assert len(values) == 24
        assert len(np.unique(values, axis=0)) == 23  # both begin at the same start


def test_a_seed_after_some_trials_is_not_another_seed_before_them(tmp_path: Path) -> None:
    """Processes that begin at once, one of which sees the other's first trial, do not repeat it."""
    storages = [str(tmp_path / file) for file in ("first.db", "second.db")]
    Study(space(), 1, storage=storages[0]).record(np.zeros((1, 3)), np.ones((1, 1)))
    tried = [
        run_search(
            SearchConfig(method="random", trials=4, seed=seed, study=storage), space(), rastrigin
        )
        for storage, seed in zip(storages, (1, 2), strict=True)
    ]
    values = np.concatenate([end.trials.values[1:] for end in tried])
    assert len(np.unique(values, axis=0)) == 6


def test_a_database_that_cannot_be_opened_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="cannot open the study"):
        Study(space(), 1, storage=str(tmp_path / "missing" / "study.db"))


def test_studies_of_something_else_are_refused(tmp_path: Path) -> None:
    storage = str(tmp_path / "study.db")
    Study(space(), 1, storage=storage).record(np.zeros((1, 3)), np.ones((1, 1)))
    parameters = ParameterDict()
    parameters.add(Parameter("mass", 1.0, 0.0, 2.0))
    with pytest.raises(ExperimentError, match="is of the parameters p0, p1, p2, not of mass"):
        Study(SearchSpace.of(parameters), 1, storage=storage)
    with pytest.raises(ExperimentError, match="has 1 costs, this search 2"):
        Study(space(), 2, storage=storage)


def test_a_study_of_candidates_that_diverged_is_no_start(tmp_path: Path) -> None:
    config = SearchConfig(method="random", trials=4, study=str(tmp_path / "study.log"))
    end = run_search(config, space(), lambda values: np.full((len(values), 1), np.inf))
    with pytest.raises(DataError, match="could be simulated"):
        _check_simulated(end.trials, end.elsewhere)


def test_of_a_study_only_what_is_inside_the_bounds_is_known(tmp_path: Path) -> None:
    storage = str(tmp_path / "study.log")
    Study(space(), 1, storage=storage).record(np.array([[4.0] * 3, [1.0] * 3]), np.eye(2)[:, :1])
    parameters = ParameterDict()
    for i in range(3):
        parameters.add(Parameter(f"p{i}", 1.0, -2.0, 2.0))
    values, costs = Study(SearchSpace.of(parameters), 1, storage=storage).known()
    np.testing.assert_array_equal(values, [[1.0] * 3])
    np.testing.assert_array_equal(costs, [[0.0]])


def test_nsga2_finds_the_front_and_repeats_itself() -> None:
    config = SearchConfig(method="nsga2", trials=800, seed=3, costs=("a", "b"))
    end = run_search(config, space(), two_costs)
    front = end.trials.front()
    values = end.trials.values[front]
    assert len(front) > 15
    assert np.abs(values[:, 1:]).max() < 1.0
    assert values[:, 0].min() < 0.5
    assert values[:, 0].max() > 2.5
    again = run_search(config, space(), two_costs)
    np.testing.assert_array_equal(again.trials.values, end.trials.values)
    resumed = run_search(config, space(), two_costs, earlier=end.trials)
    np.testing.assert_array_equal(resumed.trials.values, end.trials.values)
