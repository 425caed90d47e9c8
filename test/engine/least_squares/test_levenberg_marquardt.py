# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The library's own search, on functions whose optimum is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import (
    FitStatus,
    Linearization,
    Point,
    SolverSettings,
    damped_steps,
    levenberg_marquardt,
)


def minimized(
    function: Callable[[FloatArray], FloatArray],
    start: list[float],
    bounds: tuple[float, float] = (-10.0, 10.0),
    **options: Any,
) -> Any:
    params = sysid.ParameterDict()
    for i, value in enumerate(start):
        params.add(sysid.Parameter(f"x{i}", value, *bounds))

    def residual(x: FloatArray, _: sysid.ParameterDict) -> tuple[list[FloatArray]]:
        return ([np.apply_along_axis(function, 0, x)],)

    return sysid.optimize(params, residual, optimizer="mujoco", verbose=False, **options)[1]


def valley(x: FloatArray) -> FloatArray:
    """Rosenbrock's: steps along its floor must follow the parabola."""
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])


def test_bent_steps_follow_a_curved_valley(monkeypatch: pytest.MonkeyPatch) -> None:
    bent = minimized(valley, [-1.2, 1.0])
    np.testing.assert_allclose(bent.x, [1.0, 1.0], atol=1e-4)
    monkeypatch.setattr(damped_steps, "MAX_BEND", 0.0)
    straight = minimized(valley, [-1.2, 1.0])
    np.testing.assert_allclose(straight.x, [1.0, 1.0], atol=1e-4)
    assert bent.iterations < 0.7 * straight.iterations


@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("loss", ["linear", "absolute", "huber", "soft_l1", "cauchy", "arctan"])
def test_the_optimum_within_bounds_is_found(loss: str, scale: float) -> None:
    # With x0 at its upper bound of 0.5 the best x1 is its square.
    found = minimized(valley, [-1.2, 0.4], bounds=(-2.0, 0.5), loss=loss, f_scale=scale)
    np.testing.assert_allclose(found.x, [0.5, 0.25], atol=1e-3)
    assert found.success


def test_a_step_along_which_the_function_is_undefined_is_shortened() -> None:
    found = minimized(lambda x: np.log(x) - np.log(2.0), [0.01], bounds=(-5.0, 5.0))
    assert found.x[0] == pytest.approx(2.0, abs=1e-6)


def test_what_the_cost_hardly_depends_on_is_held_before_what_is_known_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wall(x: FloatArray) -> FloatArray:
        """The second hardly matters but where the linear model sends it."""
        beyond = max(0.0, abs(x[1]) - 1.0) ** 2
        return np.array([0.01 * (x[0] - 1.0), 1e-4 * (x[1] - 30.0), beyond])

    first = minimized(wall, [0.0, 0.0], bounds=(-100.0, 100.0)).trace[1]
    np.testing.assert_allclose(first.values[0], 1.0, atol=1e-2)
    assert 0.1 < first.values[1] < 1.1
    monkeypatch.setattr(damped_steps, "MOST_RAISED", 1.0)
    first = minimized(wall, [0.0, 0.0], bounds=(-100.0, 100.0)).trace[1]
    assert first.values[0] < 0.9


def test_linear_problems_take_a_step_or_two() -> None:
    matrix = np.random.default_rng(3).normal(size=(20, 4))
    found = minimized(lambda x: matrix @ x - 1.0, [0.0] * 4)
    expected = np.linalg.lstsq(matrix, np.ones(20), rcond=None)[0]
    np.testing.assert_allclose(found.x, expected, atol=1e-5)
    assert found.iterations <= 3


@dataclass
class NoisyLine:
    """A line through samples with noise of one, by windows; its cost jumps from place to place."""

    lower: FloatArray = field(default_factory=lambda: np.full(2, -10.0))
    upper: FloatArray = field(default_factory=lambda: np.full(2, 10.0))
    scale: FloatArray = field(default_factory=lambda: np.ones(2))
    windows: int = 40
    trials: int = 0
    slopes: int = 0

    def __post_init__(self) -> None:
        generator = np.random.default_rng(0)
        x = generator.normal(size=(self.windows, 50))
        self.inputs = np.stack([x, np.ones_like(x)], axis=-1)
        self.noise = generator.normal(size=x.shape)

    def residual(self, theta: FloatArray) -> FloatArray:
        return self.inputs @ (theta - np.array([2.0, 1.0])) + self.noise

    def cost(self, point: Point) -> float:
        self.trials += 1
        jumps = 0.05 * float(np.sin(1e5 * point.theta).sum())
        return 0.5 * float(np.sum(self.residual(point.theta) ** 2)) + jumps

    def linearize(self, point: Point) -> Linearization:
        self.slopes += 1
        rows = np.concatenate([self.inputs, self.residual(point.theta)[..., None]], axis=-1)
        cost = 0.5 * float(np.sum(rows[..., -1] ** 2)) + 0.05 * float(
            np.sin(1e5 * point.theta).sum()
        )
        return Linearization(cost, tuple(own.T @ own for own in rows), np.zeros((3, 3)))


def test_a_rough_cost_is_not_searched_for_what_is_within_chance() -> None:
    ends, trials = [], []
    for chance in (0.0, 0.2):
        problem = NoisyLine()
        settings = SolverSettings(cost_tolerance=1e-9, chance=chance)
        end = levenberg_marquardt.minimize(
            problem, Point(np.array([1.98, 1.02]), (np.zeros(0),) * problem.windows), settings
        )
        assert end.status is FitStatus.CONVERGED or chance == 0.0
        ends.append(end.point.theta)
        trials.append(problem.trials)
    assert trials[1] < trials[0]
    error = 1.0 / np.sqrt(2000.0)  # standard error of both
    np.testing.assert_allclose(ends[1], ends[0], atol=0.5 * error)


def test_what_is_far_less_than_chance_is_not_tried_at_all() -> None:
    problem = NoisyLine()
    starts = (np.zeros(0),) * problem.windows
    rows = problem.inputs.reshape(-1, 2)
    lowest = np.linalg.lstsq(rows, -problem.residual(np.zeros(2)).ravel(), rcond=None)[0]
    near = Point(lowest + 0.05 / np.sqrt(len(rows)), starts)  # a twentieth of standard errors
    end = levenberg_marquardt.minimize(problem, near, SolverSettings(chance=0.2))
    assert end.status is FitStatus.CONVERGED
    assert problem.trials == 0
    levenberg_marquardt.minimize(problem, near, SolverSettings(chance=0.02))
    assert problem.trials > 0


@dataclass
class Wall(NoisyLine):
    """A line that no step from leads lower."""

    def cost(self, point: Point) -> float:
        self.trials += 1
        return np.inf


def test_a_search_ends_after_as_many_refusals_as_it_may_have() -> None:
    trials = []
    for refusals in (2, None):
        problem = Wall()
        settings = SolverSettings(refusals=refusals)
        start = Point(np.array([5.0, -3.0]), (np.zeros(0),) * problem.windows)
        end = levenberg_marquardt.minimize(problem, start, settings)
        assert end.status is FitStatus.STALLED
        trials.append(problem.trials)
    assert trials[0] == 2 < trials[1]


def test_where_damping_grows_by_more_fewer_steps_are_refused() -> None:
    trials = []
    for growth in (4.0, 64.0):
        problem = Wall()
        start = Point(np.array([5.0, -3.0]), (np.zeros(0),) * problem.windows)
        levenberg_marquardt.minimize(problem, start, SolverSettings(growth=growth))
        trials.append(problem.trials)
    assert trials[1] < trials[0]


def test_one_step_ends_where_a_search_of_one_does_without_another_slope() -> None:
    problem = NoisyLine()
    start = Point(np.array([5.0, -3.0]), (np.zeros(0),) * problem.windows)
    once = levenberg_marquardt.minimize(problem, start, SolverSettings(max_iterations=1))
    problem.slopes = 0
    np.testing.assert_array_equal(
        levenberg_marquardt.one_step(problem, start).theta, once.point.theta
    )
    assert problem.slopes == 1
    end = levenberg_marquardt.minimize(problem, start, SolverSettings()).point
    assert levenberg_marquardt.one_step(problem, end).theta is end.theta  # none lowers the cost
