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
    columns: list[list[FloatArray]] = [[] for _ in problem.windows]
    count, n_start = len(problem.scale), problem.windows[0].n_start
    units = np.concatenate([problem.scale, np.ones(n_start)])
    for j in unknowns:
        step = units * np.eye(count + n_start)[j]
        before, after = (
            Point(
                point.theta + by * step[:count], tuple(s + by * step[count:] for s in point.starts)
            )
            for by in (-behind, ahead)
        )
        residuals = problem.residuals(before), problem.residuals(after)
        for column, first, last in zip(columns, *residuals, strict=True):
            column.append((last - first) / ((ahead + behind) * units[j]))
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
    size = np.linalg.norm(plain, axis=0)
    unknowns = np.concatenate([problem.scale, np.ones(size.size - len(problem.scale))])
    floor: FloatArray = 1e-4 * np.max(size * unknowns) / unknowns
    return floor
