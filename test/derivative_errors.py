# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The error of a problem's derivatives against central differences of its residuals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.least_squares.gauss_newton import Point
from sysid_ros.engine.problem.windowed_problem import WindowedProblem

TOLERANCE = 1e-4
STEPS = ((1e-5, 1e-5), (1e-6, 1e-6), (1e-7, 1e-7), (1e-7, 0.0), (0.0, 1e-7))  # ahead, behind


class _Remembering:
    """A builder that does not build the same model again for a step of a start."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder
        self._last: tuple[bytes, Any] = b"", None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._builder, name)

    def build(self, theta: FloatArray) -> Any:
        key = theta.tobytes()
        if key != self._last[0]:
            self._last = key, self._builder.build(theta)
        return self._last[1]


def assert_exact(problem: WindowedProblem, point: Point | None = None) -> None:
    """Every column of parameters and starts is right, and no step was differenced."""
    error = largest_error(problem, point or problem.initial_point())
    assert set(problem.derivative_sources().values()) == {"exact"}
    assert [each.doubted for each in problem.exact if each is not None] == [0.0]
    assert error < TOLERANCE


def differences(
    problem: WindowedProblem, point: Point, ahead: float, behind: float, unknowns: IntArray
) -> list[FloatArray]:
    """Per window d residual / d unknown, (m, n), of (theta, start), from a step to either side."""
    units = _units(problem)
    columns = [
        _slopes(problem, point, units * np.eye(units.size)[j], ahead, behind) for j in unknowns
    ]
    return [np.stack(each, axis=-1) / units[unknowns] for each in zip(*columns, strict=True)]


def _slopes(
    problem: WindowedProblem, point: Point, direction: FloatArray, ahead: float, behind: float
) -> list[FloatArray]:
    """Per window the change of its residuals, (m,), along a direction, (n,), per step of one."""
    count = len(problem.scale)
    before, after = (
        Point(
            point.theta + by * direction[:count],
            tuple(start + by * direction[count:] for start in point.starts),
        )
        for by in (-behind, ahead)
    )
    residuals = problem.residuals(before), problem.residuals(after)
    return [(last - first) / (ahead + behind) for first, last in zip(*residuals, strict=True)]


def _units(problem: WindowedProblem) -> FloatArray:
    """What steps of the unknowns are measured in, (n,)."""
    return np.concatenate([problem.scale, np.ones(problem.windows[0].n_start)])


def jacobians(problem: WindowedProblem, point: Point) -> list[FloatArray]:
    """The same from the problem itself, in the signals' units."""
    result = []
    for window, rows in zip(problem.windows, problem.window_rows(point), strict=True):
        matrix = rows[: window.n_samples, :-1]
        result.append(matrix * window.sigma(problem.noise)[:, None])
    return result


def largest_error(problem: WindowedProblem, point: Point) -> float:
    """The largest relative error of a column, near-zero columns measured against the others.

    It is that of sums of columns where these are right, of each one alone else. Where a joint
    begins to stick or a limit to act within a difference's step, it is the difference that is
    wrong: shorter steps are tried, then steps to the one side of the point that has no such switch.
    """
    exact = jacobians(problem, point)
    for ahead, behind in STEPS[:2]:
        error = _error_of_sums(problem, point, exact, ahead, behind)
        if error < TOLERANCE:
            return error
    return _error_of_each(problem, point, exact)


def _error_of_sums(
    problem: WindowedProblem, point: Point, exact: list[FloatArray], ahead: float, behind: float
) -> float:
    """The largest error of sums of the columns, each at least of size one.

    The relative error of a column that is wrong is one of its sum, too, as weights of chance let no
    two errors cancel. Columns are summed with those of about their size, so that no step is far
    from the others in its unit.
    """
    columns = [np.maximum(np.linalg.norm(one, axis=0), _floors(problem, one)) for one in exact]
    sizes, units, random = np.min(columns, axis=0), _units(problem), np.random.default_rng(0)
    if not np.min(sizes) > 0.0:
        return np.inf
    weights = random.choice([-1.0, 1.0], sizes.size) * random.uniform(1.0, 2.0, sizes.size) / sizes
    band = np.floor(np.log10(np.max(sizes * units) / (sizes * units)) / 2.0)
    errors = []
    for one in np.unique(band):
        direction = np.where(band == one, weights, 0.0)
        longest = np.max(np.abs(direction / units))
        plain = _slopes(problem, point, direction, ahead / longest, behind / longest)
        errors += [
            np.linalg.norm(matrix @ direction - each)
            for matrix, each in zip(exact, plain, strict=True)
        ]
    return float(np.max(errors))


def _error_of_each(problem: WindowedProblem, point: Point, exact: list[FloatArray]) -> float:
    """The largest relative error of a column, by the best of the steps for each."""
    left = np.arange(exact[0].shape[1])
    floors: list[FloatArray] = []
    least = np.full((len(exact), left.size), np.inf)
    for ahead, behind in STEPS:
        tried = problem.with_groups(
            [replace(group, builder=_Remembering(group.builder)) for group in problem.groups]
        )
        plain = differences(tried, point, ahead, behind, left)
        floors = floors or [_floors(problem, each) for each in plain]
        errors = [
            np.linalg.norm(matrix[:, left] - each, axis=0)
            / np.maximum(np.linalg.norm(each, axis=0), floor[left])
            for matrix, each, floor in zip(exact, plain, floors, strict=True)
        ]
        least[:, left] = np.minimum(least[:, left], errors)
        left = np.flatnonzero(~np.all(least < TOLERANCE, axis=0))
        if left.size == 0:
            break
    return float(np.max(least))


def _floors(problem: WindowedProblem, plain: FloatArray) -> FloatArray:
    """The size of each column, (n,), below which it is near zero."""
    size, units = np.linalg.norm(plain, axis=0), _units(problem)
    floor: FloatArray = 1e-4 * np.max(size * units) / units
    return floor
