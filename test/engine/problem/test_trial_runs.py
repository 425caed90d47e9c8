# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trial steps that are simulated by the pass's own equation, and results that are MuJoCo's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sysid_problems

from sysid_ros import sysid
from sysid_ros.engine.least_squares.gauss_newton import Point
from sysid_ros.engine.least_squares.losses import loss_named
from sysid_ros.engine.problem import objective, residual_function
from sysid_ros.engine.problem.trial_runs import TrialRuns
from sysid_ros.engine.simulation import BatchRollout, RolloutPool


def arm(duration: float) -> tuple[sysid.ParameterDict, Any]:
    """The notebook's arm with noise, from armatures that are half too large."""
    recording = sysid_problems.record_arm(duration)
    noise = np.random.default_rng(0).normal(scale=0.01, size=recording.sensordata.shape)
    measured = sysid.TimeSeries.from_names(
        recording.times, recording.sensordata + noise, recording.model
    )
    params = sysid.ParameterDict()
    for name, value in sysid_problems.ARM_ARMATURE.items():
        modifier = sysid.AttributeModifier("joint", name, "armature")
        params.add(sysid.Parameter(name, 1.5 * value, 0.0, 2.0, modifier=modifier))
    sequences = sysid.ModelSequences(
        "arm", recording.spec, "run", recording.initial_state, recording.commanded, measured
    )
    return params, sysid.build_residual_fn(models_sequences=[sequences])


def searched(duration: float = 0.6, **given: Any) -> Any:
    params, function = arm(duration)
    function = Watched(function, **given)
    return sysid.optimize(params, function, verbose=False)[1], function, params


class Watched:
    """A residual function that counts its trials, or has none."""

    def __init__(self, function: Any, *, tries: bool = True) -> None:
        self.function, self.jacobian, self.trials = function, function.jacobian, 0
        if tries:
            self.trial = self._trial

    def __call__(self, x: Any, params: Any) -> Any:
        return self.function(x, params)

    def _trial(self, x: Any, params: Any) -> Any:
        found = self.function.trial(x, params)
        self.trials += found is not None
        return found


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residual_function, "FEWEST_STEPS", 100)


def test_steps_are_tried_without_mujoco_and_results_are_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = [0]
    run = RolloutPool.run

    def counted(pool: RolloutPool, jobs: Any) -> Any:
        counts[-1] += len(jobs)
        return run(pool, jobs)

    monkeypatch.setattr(RolloutPool, "run", counted)
    result, function, params = searched()
    counts.append(0)
    plain, _, _ = searched(tries=False)
    assert function.trials >= 2
    assert result.evaluations == plain.evaluations
    assert counts[0] == counts[1] - function.trials
    np.testing.assert_allclose(result.x, plain.x, rtol=1e-8)
    told = function(result.x, params)[0][0].ravel()
    np.testing.assert_array_equal(result.fun, told)  # the last point was simulated by MuJoCo


def test_a_trial_is_what_mujoco_simulates() -> None:
    params, function = arm(0.6)
    x = params.as_vector()
    assert function.trial(x, params) is None  # nothing to compare with yet
    function(x, params)
    moved = 0.9 * x
    tried, plain = (ask(moved, params)[0][0] for ask in (function.trial, function))
    assert 0.0 < np.abs(tried - plain).max() < 1e-9 * np.abs(plain).max()


def test_few_steps_are_left_to_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residual_function, "FEWEST_STEPS", 1000)
    params, function = arm(0.6)
    function(params.as_vector(), params)
    assert function.trial(params.as_vector(), params) is None


def test_where_trials_were_wrong_the_search_goes_on_with_mujoco(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(objective, "TRIED", 0.0)  # all steps, and so the last
    run = TrialRuns.run

    def wrong(self: TrialRuns, *given: Any, **named: Any) -> list[BatchRollout]:
        return [
            BatchRollout(each.states, 1.01 * each.sensordata, each.diverged)
            for each in run(self, *given, **named)
        ]

    right, function, _ = searched()
    assert function.trials == right.evaluations - 1
    monkeypatch.setattr(TrialRuns, "run", wrong)
    result, function, params = searched()
    plain, _, _ = searched(tries=False)
    assert function.trials > 0
    np.testing.assert_allclose(result.x, plain.x, rtol=1e-5)
    assert result.cost == pytest.approx(plain.cost, rel=1e-9)
    np.testing.assert_array_equal(result.fun, function(result.x, params)[0][0].ravel())
    assert [step.iteration for step in result.trace] == list(range(result.iterations + 1))


def test_finite_differences_begin_at_what_is_no_trial() -> None:
    times = np.linspace(0.0, 1.0, 20)

    class Decay:
        """Without a Jacobian; its trials are a little off."""

        def __call__(self, x: Any, params: Any) -> Any:
            own = times if x.ndim == 1 else times[:, np.newaxis]
            return [np.exp(-x[0] * own) - np.exp(-2.0 * own)], [], []

        def trial(self, x: Any, params: Any) -> Any:
            (residual,), *rest = self(x, params)
            return [residual + 1e-7], *rest

    params = sysid.ParameterDict()
    params.add(sysid.Parameter("rate", 0.5, 0.0, 5.0))
    found, result = sysid.optimize(params, Decay(), verbose=False)
    assert found["rate"].value[0] == pytest.approx(2.0, abs=1e-6)
    expected = -times * np.exp(-result.x[0] * times)
    np.testing.assert_allclose(result.jac[:, 0], expected, atol=1e-6)


def test_a_trial_that_was_wrong_is_not_the_best_point() -> None:
    """A search that is stopped there ends at the best point that was no trial."""
    params = sysid.ParameterDict()
    params.add(sysid.Parameter("x", 1.0, -5.0, 5.0))

    class Misled:
        def __call__(self, x: Any, params: Any) -> Any:
            return [np.array([x[0], 0.1])], [], []

        def trial(self, x: Any, params: Any) -> Any:
            return [np.array([0.0, 0.1])], [], []

    search = objective.Objective(Misled(), params, loss_named("linear"))
    start = search(np.array([1.0])).copy()
    search.tried_cost(Point(np.array([3.0]), (np.zeros(0),)))
    assert search.best_x == [3.0]
    assert not search.confirm()
    assert search.best_x == [1.0]
    assert search.best_cost == pytest.approx(0.5 * float(start @ start))
    np.testing.assert_array_equal(search.best_residual, start)
