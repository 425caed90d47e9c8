# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A step that is no good is refused by some of the windows; all decide about any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import mujoco
import mujoco.rollout
import numpy as np
import pendulum
import pytest

from sysid_ros.engine.least_squares import (
    FitStatus,
    Linearization,
    Point,
    SolverSettings,
    loss_named,
    minimize,
)
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.problem.exact import Simulator
from sysid_ros.engine.problem.trials import FEWEST
from sysid_ros.engine.signals import SignalType, TimeSeries, create_initial_state
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.windows import model_group

SIGMA = 1e-3  # rad


class OfAll(WindowedProblem):
    """Simulates all windows at every trial."""

    def linearize(self, point: Point) -> Linearization:
        return replace(super().linearize(point), trial=None)


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Simulations of each call."""
    counts: list[int] = []
    run = Simulator.run_group

    def counted(simulator: Simulator, group: int, jobs):
        counts.append(sum(len(job.steps) for job in jobs))
        return run(simulator, group, jobs)

    monkeypatch.setattr(Simulator, "run_group", counted)
    yield counts


def problem(kind: type[WindowedProblem] = WindowedProblem, length: float = 0.25) -> WindowedProblem:
    model = pendulum.spec(pendulum.TRUTH).compile()
    times = pendulum.TIMESTEP * np.arange(2500)
    torque = np.sin(3.0 * times) + np.sin(11.0 * times)
    start = create_initial_state(model, np.zeros(1), np.zeros(1))
    acting = torque[None, :, None]
    _, angle = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], acting)
    angle = angle[0] + SIGMA * np.random.default_rng(0).normal(size=angle[0].shape)
    column = np.array([0])
    control = TimeSeries(times, torque[:, None], {"motor": (SignalType.MjCtrl, column)})
    measured = TimeSeries(times, angle, {"angle": (SignalType.MjSensor, column)})
    params = pendulum.parameters()
    group = model_group(
        pendulum.sequences(control, measured),
        params,
        window_length=length,
        estimate_starts=True,
        velocity_filter=1e3,
    )
    loss, noise = loss_named("linear"), {"angle": SIGMA}
    return kind([group], params, RolloutPool(1), loss=loss, noise=noise)


def test_a_hopeless_step_is_refused_before_all_windows_are_simulated(simulated: list[int]) -> None:
    tried, whole = problem(), problem(OfAll)
    end = minimize(whole, tried.initial_point(), SolverSettings()).point
    here = tried.linearize(end)
    assert here.trial is not None
    worse = Point(1.3 * end.theta, end.starts)
    simulated.clear()
    assert here.trial(worse, np.ones(len(tried.windows))) == np.inf
    assert 0 < sum(simulated) < 0.5 * len(tried.windows)
    assert tried.cost(worse) == pytest.approx(whole.cost(worse))
    assert tried.cost(worse) > here.cost


def test_what_was_refused_is_not_simulated_again_until_something_else_is(
    simulated: list[int],
) -> None:
    tried = problem()
    end = minimize(tried, tried.initial_point(), SolverSettings()).point
    worse, hoped = Point(1.3 * end.theta, end.starts), np.ones(len(tried.windows))

    def refused(noise: float) -> int:
        """Ask anew from the same place, as the next search does; how much is simulated."""
        tried.noise = {"angle": noise}
        here = tried.linearize(end)
        simulated.clear()
        assert here.trial is not None and here.trial(worse, hoped) == np.inf
        return sum(simulated)

    assert refused(SIGMA) > 0
    assert refused(SIGMA) == 0
    assert refused(0.5 * SIGMA) > 0
    here = tried.linearize(end)
    assert here.trial is not None
    assert np.isfinite(here.trial(Point(1.001 * end.theta, end.starts), 1e9 * hoped))
    assert refused(SIGMA) > 0


def test_all_windows_decide_about_a_step_that_may_be_good(simulated: list[int]) -> None:
    tried, whole = problem(), problem(OfAll)
    start = tried.initial_point()
    here = tried.linearize(start)
    assert here.trial is not None
    near = Point(1.001 * start.theta, start.starts)
    expected = whole.cost(near)
    simulated.clear()
    assert here.trial(near, np.full(len(tried.windows), 1e9)) == pytest.approx(expected)
    assert tried.cost(near) == pytest.approx(expected)
    assert sum(simulated) == len(tried.windows)  # each once


def test_searches_with_and_without_them_end_alike(simulated: list[int]) -> None:
    ends, counts = [], []
    for kind in (WindowedProblem, OfAll):
        own = problem(kind)
        simulated.clear()
        far = Point(own.upper, own.initial_point().starts)
        end = minimize(own, far, SolverSettings())
        assert end.status is FitStatus.CONVERGED
        ends.append(end.point.theta)
        counts.append(sum(simulated))
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-3)
    assert counts[0] < counts[1]


def test_few_windows_are_simulated_together() -> None:
    few = problem(length=5.0)
    assert len(few.windows) < FEWEST
    assert few.linearize(few.initial_point()).trial is None


def test_a_linearized_point_and_the_one_after_it_are_simulated_once(simulated: list[int]) -> None:
    windows = problem()
    before = windows.initial_point()
    windows.linearize(before)
    after = replace(before, theta=1.01 * before.theta)
    costs = [windows.cost(before), windows.cost(after)]
    known = len(simulated)
    assert [windows.cost(before), windows.cost(after)] == costs
    assert len(simulated) == known


def test_a_refused_step_leaves_what_is_known_of_where_it_began(simulated: list[int]) -> None:
    """As where it was taken with derivatives of another point, of which the most is kept."""
    windows = problem()
    start = windows.initial_point()
    windows.linearize(start)
    end = replace(start, theta=1.01 * start.theta)
    trial, cost = windows.trial(end), windows.cost(end)
    assert trial is not None
    assert trial(replace(end, theta=1.5 * end.theta), np.ones(len(windows.windows))) == np.inf
    simulated.clear()
    assert windows.cost(end) == cost
    assert not simulated
