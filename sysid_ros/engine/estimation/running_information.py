# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The information of a growing recording about the parameters.

Every window adds its Gauss-Newton Hessian with the start eliminated, which is its Fisher
information, so that only new windows have to be simulated. That is done at the nominal parameters
and with a guess of the noise as long as the data agrees with both; where it says otherwise, a few
steps of the optimizer find a better point, and all windows are linearized anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.least_squares import (
    FitStatus,
    Point,
    ReducedSystem,
    SolverSettings,
    bounded_quadratic_step,
    loss_named,
    minimize,
)
from sysid_ros.engine.parameters import ParameterDict, priors
from sysid_ros.engine.problem import WindowedProblem, parameter_scale
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.engine.uncertainty import (
    BOUND_MARGIN,
    Covariance,
    ParameterEstimate,
    WindowSum,
    bounds_width,
    covariance,
    describe_open_directions,
    estimates,
    first_noise,
)
from sysid_ros.engine.windows import WindowGroup, model_group, window_bounds
from sysid_ros.errors import DataError, StopRequestedError

Gaps = Sequence[tuple[float, float]]

STRETCH = 2.0  # s that are judged at once where a fit would take recordings whole
NOISE_MOVED = 0.1  # relative change of a noise level after which the point is settled anew
POINT_MOVED = 0.1  # change of a parameter likewise, in magnitudes
# Magnitudes between the point and the bounds: where a friction is zero, nothing shows its size.
INSET = 0.05
SETTLING_ROUNDS = 3
NOISE_STEPS = SolverSettings(max_iterations=2, cost_tolerance=1e-2)
SETTLING_STEPS = SolverSettings(max_iterations=10, cost_tolerance=1e-2)


@dataclass(frozen=True)
class Information:
    """The expected outcome of a fit of the recording so far.

    Attributes:
      parameters: The parameters where the model is linearized, with the standard errors to expect.
      scales: A typical magnitude of each, (p,).
      settled: Whether there are enough windows to see how they scatter; before, standard errors
        promise too much.
      undetermined: Combinations that the data leaves open, one sentence each.
      windows: How many windows were used.
      duration: s of the recording that they cover.
      noise: Standard deviation of every signal, in its unit.
    """

    parameters: tuple[ParameterEstimate, ...]
    scales: FloatArray
    settled: bool
    undetermined: tuple[str, ...]
    windows: int
    duration: float
    noise: Mapping[str, float]


class RunningInformation:
    """Adds up the information of the windows of one recording as it grows."""

    def __init__(
        self,
        params: ParameterDict,
        settings: FitSettings,
        known: Mapping[str, float],
        *,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """Begin without data.

        Args:
          params: At their nominal values.
          settings: Of the fit that the recording is for.
          known: Noise levels by sensor name, in the sensor's unit.
          should_stop: Asked between native calls; true ends an update with StopRequestedError.
        """
        self._should_stop = should_stop
        self._params = params
        self._settings = settings
        self._known = dict(known)
        self._noise: dict[str, float] = {}
        self._lower, self._upper = params.get_bounds()
        self._theta = self._inside(params.as_vector())
        self._begin = self._until = math.nan  # s of the recording that are accounted for
        self._sum: WindowSum | None = None

    def update(self, sequences: ModelSequences, gaps: Gaps = ()) -> Information | None:
        """Account for what the recording has gained since the last call.

        Args:
          sequences: The recording so far, as the only sequence of its model.
          gaps: Stretches [s] that no window may touch, sorted.

        Returns:
          The information so far; ``None`` while there is not a whole window.

        Raises:
          DataError: A signal is not in the model, or the nominal model cannot be simulated.
          StopRequestedError: As asked for; the recording must then be begun anew.
        """
        if math.isnan(self._begin):
            self._begin = self._until = _span(sequences)[0]
        length = self._settings.window_length or STRETCH
        end = self._until + length * math.floor((_span(sequences)[1] - self._until) / length)
        if window_bounds((self._until, end), self._settings.window_length, 0.0, gaps):
            with (
                single_blas_thread(),
                RolloutPool(self._settings.threads, should_stop=self._should_stop) as rollouts,
            ):
                new = self._linearized(self._problem(sequences, gaps, (self._until, end), rollouts))
                self._sum = new if self._sum is None else self._sum.plus(new)
                if self._moved(self._sum):
                    whole = (self._begin, end)
                    self._sum = self._settled(self._problem(sequences, gaps, whole, rollouts))
        self._until = end
        return None if self._sum is None else self._information(self._sum)

    def _problem(
        self,
        sequences: ModelSequences,
        gaps: Gaps,
        used: tuple[float, float],
        rollouts: RolloutPool,
    ) -> WindowedProblem:
        """The windows in one stretch of the recording."""
        group = self._group(sequences, gaps, used)
        for name, level in first_noise([group], self._known).items():
            self._noise.setdefault(name, level)
        return WindowedProblem(
            [group],
            self._params,
            rollouts,
            loss=loss_named("linear"),
            noise=self._noise,
            engine=self._settings.engine,
        )

    def _linearized(self, problem: WindowedProblem) -> WindowSum:
        """Linearize the windows at the present point."""
        point = Point(self._theta, problem.initial_point().starts)
        linearization = problem.linearize(point)
        explained = minimize(problem, point, NOISE_STEPS).linearization
        if explained is None:
            raise StopRequestedError
        if not math.isfinite(linearization.cost):
            raise DataError("with the initial parameters the simulation diverges")
        return WindowSum.of(problem, linearization, explained.squares)

    def _settled(self, problem: WindowedProblem) -> WindowSum:
        """Linearize the windows at a point and with noise levels that agree with them."""
        point = Point(self._theta, problem.initial_point().starts)
        for _ in range(SETTLING_ROUNDS):
            solution = minimize(problem, point, SETTLING_STEPS)
            if solution.linearization is None or solution.status is FitStatus.CANCELED:
                raise StopRequestedError
            squares = solution.linearization.squares
            self._theta = self._inside(solution.point.theta)
            point = Point(self._theta, solution.point.starts)
            found = WindowSum.of(problem, problem.linearize(point), squares)
            if not self._noise_moved(found):
                break
            problem.noise = dict(self._noise)
        return found

    def _group(
        self, sequences: ModelSequences, gaps: Gaps, used: tuple[float, float]
    ) -> WindowGroup:
        (name,) = sequences.sequence_name
        outside = [(-math.inf, used[0]), *gaps, (used[1], math.inf)]
        return model_group(
            sequences,
            self._params,
            window_length=self._settings.window_length,
            estimate_starts=self._settings.estimate_starts,
            velocity_filter=self._settings.velocity_filter,
            gaps={name: sorted(outside)},
        )

    def _covariance(self, total: WindowSum, system: ReducedSystem, width: FloatArray) -> Covariance:
        """Return the covariance that a fit would report."""
        margin = BOUND_MARGIN * width
        optimum = self._theta + self._step(total)
        return covariance(
            system,
            width,
            (optimum > self._lower + margin) & (optimum < self._upper - margin),
            method=self._settings.intervals,
            n_samples=sum(count for _, count in total.squares.values()),
            residual_square=sum(
                square / self._noise[name] ** 2 for name, (square, _) in total.squares.items()
            ),
            prior=priors(self._params)[1],
        )

    def _moved(self, total: WindowSum) -> bool:
        """Return whether the data contradicts the point or the noise levels."""
        change = np.abs(self._step(total)) / self._scale()
        return self._noise_moved(total) or bool(np.any(change > POINT_MOVED))

    def _noise_moved(self, total: WindowSum) -> bool:
        """Take over noise levels that have moved; whether any has."""
        levels = total.noise(self._known, self._theta.size)
        moved = {
            name: level
            for name, level in levels.items()
            if abs(level / self._noise[name] - 1.0) > NOISE_MOVED
        }
        self._noise.update(moved)
        return bool(moved)

    def _step(self, total: WindowSum) -> FloatArray:
        """Return the step to the optimum, seen from the present point."""
        return bounded_quadratic_step(
            total.system.hessian,
            total.system.gradient,
            self._lower - self._theta,
            self._upper - self._theta,
        )

    def _scale(self) -> FloatArray:
        return parameter_scale(self._lower, self._upper, self._theta)

    def _inside(self, theta: FloatArray) -> FloatArray:
        """The point a little inside the bounds."""
        inset = INSET * parameter_scale(self._lower, self._upper, theta)
        inset = np.minimum(inset, 0.5 * (self._upper - self._lower))
        return np.asarray(np.clip(theta, self._lower + inset, self._upper - inset))

    def _information(self, total: WindowSum) -> Information:
        problem, system = total.problem, total.system
        width = bounds_width(problem)
        # Windows scatter around where a fit would end, not around the present point.
        step = self._step(total)
        at_optimum = replace(
            system,
            gradient=system.gradient + system.hessian @ step,
            window_gradients=system.window_gradients + system.window_hessians @ step,
        )
        expected = self._covariance(total, at_optimum, width)
        names = problem.params.scalar_names()
        return Information(
            parameters=estimates(problem, self._theta, expected),
            scales=self._scale(),
            settled=expected.method == self._settings.intervals,
            undetermined=describe_open_directions(expected, names, self._theta, width),
            windows=len(system.window_hessians),
            duration=self._until - self._begin,
            noise=dict(self._noise),
        )


def _span(sequences: ModelSequences) -> tuple[float, float]:
    """From when to when the recording has both measurements and controls."""
    (measured,), (control,) = sequences.sensordata, sequences.control
    ends = [(float(series.times[0]), float(series.times[-1])) for series in (measured, control)]
    if control.data.shape[1] == 0:
        ends.pop()
    return max(begin for begin, _ in ends), min(end for _, end in ends)
