# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The error of a problem's derivatives against central differences of its residuals."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares.gauss_newton import Point
from sysid_ros.engine.problem.windowed_problem import WindowedProblem

TOLERANCE = 1e-4
STEPS = ((1e-5, 1e-5), (1e-6, 1e-6), (1e-7, 1e-7), (1e-7, 0.0), (0.0, 1e-7))  # ahead, behind


def differences(
    problem: WindowedProblem, point: Point, ahead: float, behind: float
) -> list[FloatArray]:
    """Per window d residual / d (theta, start), (m, p + n_start), from a step to either side."""
    columns: list[list[FloatArray]] = [[] for _ in problem.windows]

    def add(before: Point, after: Point, width: float) -> None:
        residuals = problem.residuals(before), problem.residuals(after)
        for column, a, b in zip(columns, *residuals, strict=True):
            column.append((b - a) / width)

    for j, scale in enumerate(problem.scale):
        step = scale * np.eye(len(problem.scale))[j]
        before = Point(point.theta - behind * step, point.starts)
        after = Point(point.theta + ahead * step, point.starts)
        add(before, after, (ahead + behind) * scale)
    for step in np.eye(problem.windows[0].n_start):
        before = Point(point.theta, tuple(s - behind * step for s in point.starts))
        after = Point(point.theta, tuple(s + ahead * step for s in point.starts))
        add(before, after, ahead + behind)
    return [np.stack(column, axis=-1) for column in columns]


def jacobians(problem: WindowedProblem, point: Point) -> list[FloatArray]:
    """The same from the problem itself, in the signals' units."""
    result = []
    for window, rows in zip(problem.windows, problem.window_rows(point), strict=True):
        matrix = rows[: window.n_samples, :-1]
        result.append(matrix * window.sigma(problem.noise)[:, None])
    return result


def largest_error(problem: WindowedProblem, point: Point) -> float:
    """The largest relative error of a column, near-zero columns measured against the others.

    Where a joint begins to stick or a limit to act within a difference's step, it is the
    difference that is wrong: shorter steps are tried, then steps to the one side of the point that
    has no such switch.
    """
    exact = jacobians(problem, point)
    least: FloatArray = np.array(np.inf)
    for ahead, behind in STEPS:
        plain = differences(problem.with_groups(problem.groups), point, ahead, behind)
        pairs = zip(exact, plain, strict=True)
        errors = np.array([_column_errors(problem, a, b) for a, b in pairs])
        least = np.minimum(least, errors)
        if np.max(least) < TOLERANCE:
            break
    return float(np.max(least))


def _column_errors(problem: WindowedProblem, exact: FloatArray, plain: FloatArray) -> FloatArray:
    size = np.linalg.norm(plain, axis=0)
    unknowns = np.concatenate([problem.scale, np.ones(plain.shape[1] - len(problem.scale))])
    floor = 1e-4 * np.max(size * unknowns) / unknowns
    errors: FloatArray = np.linalg.norm(exact - plain, axis=0) / np.maximum(size, floor)
    return errors
