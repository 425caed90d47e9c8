# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ways between the samples of a command, compared by what a fit with each leaves of the motion.

A few windows are fitted as recorded, then once more with each way from there. Which of two ways
explains more is judged by the differences of what they leave, window by window, as of models of
which neither contains the other (Vuong, Econometrica 57, 1989), by ranks, since fast windows tell
many times as much as others.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.diagnosis.fits.window_scores import fitted
from sysid_ros.engine.least_squares import FitStatus, Point, SolverSettings, loss_named, minimize
from sysid_ros.engine.parameters import ParameterDict, corrects
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.uncertainty import first_noise
from sysid_ros.engine.windows import WindowGroup, model_group

_VELOCITY_FILTER = 30.0  # Hz
_LENGTH = 0.5  # s, of a window
_FEWEST, _MOST = 8, 16  # windows
_STEPS = 400_000  # of simulation, times columns of the Jacobian
_AGAIN = SolverSettings(max_iterations=20, cost_tolerance=1e-3)  # less changes no verdict
_ROUNDS = 3
_SURE = 2.5  # standard deviations of the sum of signed ranks, from which on it is beyond chance
_BETTER = 0.95  # of the squares that one way leaves, that a better one leaves at most


@dataclass(frozen=True)
class Ways:
    """Squares that ways between commands leave of each window, in units of noise, by way."""

    left: Mapping[str, FloatArray]  # (w,)

    def size(self, way: str) -> float:
        """Ratio of what a way leaves to what the best does, root mean squares."""
        least = min(float(one.sum()) for one in self.left.values())
        return math.sqrt(float(self.left[way].sum()) / max(least, 1e-300))

    def beats(self, way: str, other: str) -> bool:
        """Return whether one way explains more than another, beyond chance."""
        more = self.left[other] - self.left[way]
        less = self.left[way].sum() <= _BETTER * self.left[other].sum()
        return bool(less and _signed_rank(more) > _SURE)

    @property
    def best(self) -> str:
        """The way that leaves least."""
        return min(self.left, key=lambda way: float(self.left[way].sum()))


def compared_ways(
    ways: Mapping[str, ModelSequences],
    later: Mapping[str, float],
    params: ParameterDict,
    inputs: Collection[str],
    gaps: Mapping[str, Sequence[tuple[float, float]]],
    pool: RolloutPool,
) -> Ways | None:
    """Fit windows with each way between some commands.

    Without an answer where windows are too few, or too dear, or a fit does not converge soon.

    Args:
      ways: The same sequences with the commands joined in one way or another, first as the
        experiment has them.
      later: By way the delay [s] with which it does about the same, over that of others.
      params: What a fit finds, delays of the commands among them.
      inputs: Names of the commands.
      gaps: Stretches that no window enters, s, by recording.
      pool: Where simulations run.

    Raises:
      DataError: There is no usable window.
    """
    first, *_ = ways
    group = _group(ways[first], params, gaps)
    problem = _problem(group.select([0]), params, pool, first_noise([group], {}))
    if not all(one is not None and not one.gave_up for one in problem.exact):
        return None
    batch, count = group.batches[0], len(group.windows)
    columns = params.size + batch.spread.shape[1]
    most = round(_STEPS * float(batch.model.opt.timestep) / (columns * _LENGTH))
    most = min(max(most, _FEWEST), _MOST, count)
    if most < _FEWEST:
        return None
    places = np.unique(np.linspace(0, count - 1, most).round().astype(int)).tolist()
    problem, point, _ = fitted(_problem(group.select(places), params, pool, problem.noise), pool)
    late, problems = _delays(params, inputs), {first: problem}
    for way, sequences in ways.items():
        if way != first:
            own = _group(sequences, params, gaps).select(places)
            problems[way] = _problem(own, params, pool, problem.noise)
    best, found = first, {first: point}
    for _ in range(_ROUNDS):  # as where one fit ends others end as well, if they are no worse there
        begun, left = best, found[best]
        for way, other in problems.items():
            theta = left.theta + np.where(late, later[way] - later[begun], 0.0)
            begin = Point(np.clip(theta, problem.lower, problem.upper), left.starts)
            solution = minimize(other, begin, _AGAIN)
            if solution.status is not FitStatus.CONVERGED:
                return None
            if way not in found or other.cost(solution.point) < other.cost(found[way]):
                found[way] = solution.point
        best = min(found, key=lambda way: problems[way].cost(found[way]))
        if best == begun:
            break
    return Ways({way: _squares(problems[way], own) for way, own in found.items()})


def _signed_rank(differences: FloatArray) -> float:
    """Sum of the signed ranks of differences (n,), in its standard deviations if none matters.

    Wilcoxon, Biometrics Bulletin 1, 1945.
    """
    ranks = 1.0 + np.argsort(np.argsort(np.abs(differences)))
    return float(np.sign(differences) @ ranks) / math.sqrt(float(ranks @ ranks))


def _group(
    sequences: ModelSequences,
    params: ParameterDict,
    gaps: Mapping[str, Sequence[tuple[float, float]]],
) -> WindowGroup:
    return model_group(
        sequences, params, window_length=_LENGTH, estimate_starts=True,
        velocity_filter=_VELOCITY_FILTER, gaps=gaps,
    )  # fmt: skip


def _problem(
    group: WindowGroup, params: ParameterDict, pool: RolloutPool, noise: Mapping[str, float]
) -> WindowedProblem:
    return WindowedProblem([group], params, pool, loss=loss_named("linear"), noise=noise)


def _delays(params: ParameterDict, inputs: Collection[str]) -> BoolArray:
    """Mark the free parameters that are delays of some inputs, (p,)."""
    marks: list[bool] = []
    for one in params.values():
        labels = corrects(one, "delay")
        marks += [] if one.frozen else [bool(labels) and {*labels} <= {*inputs}] * one.size
    return np.array(marks, dtype=np.bool_)


def _squares(problem: WindowedProblem, point: Point) -> FloatArray:
    """Squares that are left in each window, its start's among them, (w,)."""
    found = []
    for window, residual, start in zip(
        problem.windows, problem.residuals(point), point.starts, strict=True
    ):
        parts = residual / window.sigma(problem.noise), start / window.spread
        found.append(sum(float(part @ part) for part in parts))
    return np.array(found)
