# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives that are known already serve a problem that hardly differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pendulum
import pytest

from sysid_ros.engine.least_squares import Point, loss_named
from sysid_ros.engine.problem import Chord, WindowedProblem, in_units_of_noise
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.windows import model_group


@pytest.mark.parametrize("loss", ["linear", "huber"])
def test_at_the_point_itself_it_is_the_problem(loss: str) -> None:
    params = pendulum.parameters()
    data = pendulum.sequences(*pendulum.recording(duration=3.0, noise=5e-3))
    group = model_group(data, params, window_length=1.0, estimate_starts=True, velocity_filter=30.0)
    with RolloutPool(1) as pool:
        problem = WindowedProblem(
            [group], params, pool, loss=loss_named(loss), noise={"angle": 5e-3}, hold=True
        )
        start = problem.initial_point()
        point = Point(start.theta, tuple(0.1 * window.spread for window in problem.windows))
        known = problem.linearize(point)
        found = Chord(problem, [*problem.window_rows(point)]).linearize(point)
        units = in_units_of_noise(problem, point)
    assert found.cost == pytest.approx(known.cost)
    for own, gram in zip(found.grams, known.grams, strict=True):
        np.testing.assert_allclose(own, gram, rtol=1e-9, atol=1e-9 * np.abs(gram).max())
    np.testing.assert_allclose(found.prior, known.prior)
    assert units[0][-1] == pytest.approx(0.1)


def test_a_step_that_is_refused_is_not_simulated_in_all_windows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    params = pendulum.parameters()
    data = pendulum.sequences(*pendulum.recording(duration=9.0, noise=5e-3))
    group = model_group(data, params, window_length=1.0, estimate_starts=True, velocity_filter=30.0)
    simulated: list[int] = []
    with RolloutPool(1) as pool:
        problem = WindowedProblem(
            [group], params, pool, loss=loss_named("linear"), noise={"angle": 5e-3}
        )
        point = problem.initial_point()
        chord = Chord(problem, [*problem.window_rows(point)])
        here = chord.linearize(point)
        run = problem.simulator.run_batches

        def counted(jobs: Any, groups: Any) -> Any:
            simulated.extend(len(job.steps) for job in jobs)
            return run(jobs, groups)

        monkeypatch.setattr(problem.simulator, "run_batches", counted)
        far = Point(np.where(np.arange(point.theta.size), point.theta, problem.upper), point.starts)
        assert here.trial is not None
        assert here.trial(far, np.ones(len(problem.windows))) == np.inf
        assert 0 < sum(simulated) < len(problem.windows)
        assert here.trial(point, np.ones(len(problem.windows))) == pytest.approx(here.cost)
