"""Fitting parameters to recorded sequences: windows, noise levels, optimum, uncertainty."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sysid_ros.errors import DataError
from sysid_ros.sysid.backends import minimize_with
from sysid_ros.sysid.candidate import CandidateBuilder
from sysid_ros.sysid.fit_result import FitResult, FitStatus, Iteration, ParameterEstimate
from sysid_ros.sysid.loss import loss_named
from sysid_ros.sysid.parameter import Parameter
from sysid_ros.sysid.parameter_dict import ParameterDict
from sysid_ros.sysid.problem import Linearization, ModelGroup, Point, WindowedProblem
from sysid_ros.sysid.rollout_batch import RolloutBatch
from sysid_ros.sysid.solver import Solution, SolverSettings, eliminate_starts
from sysid_ros.sysid.starts import StartReader
from sysid_ros.sysid.trajectory import ModelSequences
from sysid_ros.sysid.uncertainty import (
    Covariance,
    covariance,
    describe_open_directions,
    involved_in,
    no_covariance,
)
from sysid_ros.sysid.window_simulation import WindowSimulation
from sysid_ros.sysid.windows import (
    SequenceData,
    control_integrals,
    cut,
    signal_columns,
    window_bounds,
)

FloatArray = npt.NDArray[np.float64]

NOISE_ROUNDS = 3
NOISE_SETTLED = 0.05  # relative change of every noise level below which no further round is run
NOISE_TOLERANCE = 1e-3  # relative decrease of the cost that ends a round with unsettled noise
BOUND_MARGIN = 1e-4  # share of the bounds' width within which a value counts as at the bound
LAST_SAMPLE = 1e-6  # s, so that half-open windows keep a recording's last sample
MIN_RELATIVE_NOISE = 1e-6  # of a signal's spread; keeps noise-free data from infinite weights


@dataclass(frozen=True)
class FitSettings:
    """How a fit is run.

    Attributes:
      window_length: Seconds per window, ``None`` for whole sequences.
      estimate_starts: Estimate each window's start instead of taking it from measurements.
      velocity_filter: Low-pass in front of the derivative of positions, Hz.
      optimizer: ``auto`` (Levenberg-Marquardt with starts eliminated), ``mujoco``, ``scipy`` or
        ``scipy_parallel_fd``.
      loss: ``linear``, ``huber``, ``soft_l1`` or ``cauchy``.
      max_iterations: Accepted steps at most, noise rounds included.
      time_limit: Seconds at most, or ``None``.
      threads: Simulation threads, ``None`` for one per core.
      intervals: ``clustered`` or ``white``.
    """

    window_length: float | None = 1.0
    estimate_starts: bool = True
    velocity_filter: float = 30.0
    optimizer: str = "auto"
    loss: str = "linear"
    max_iterations: int = 50
    time_limit: float | None = None
    threads: int | None = None
    intervals: str = "clustered"


@dataclass(frozen=True)
class SignalNoise:
    """What is known beforehand about the measurements of one sequence set.

    Attributes:
      levels: Standard deviation by sensor name where it is known, in the sensor's unit.
      gaps: Stretches without controls by sequence name, which no window may cross, s.
    """

    levels: Mapping[str, float] = field(default_factory=dict)
    gaps: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)


def fit(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: FitSettings = FitSettings(),
    *,
    known: SignalNoise = SignalNoise(),
    on_iteration: Callable[[Iteration], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> FitResult:
    """Fit parameters to measured sequences.

    Args:
      models_sequences: Models with their sequences; measurements are matched to sensors and
        controls to actuators by name.
      params: Start, bounds, priors and modifiers; not changed.
      settings: How to fit.
      known: Noise levels and gaps; a sensor's level that is not given is estimated from the
        residuals and the fit repeated until it settles.
      on_iteration: Told every accepted step.
      should_stop: Asked between native calls; true ends the fit with its best point.

    Returns:
      The best parameters found with their uncertainty.

    Raises:
      DataError: Too few samples, or signals that the model lacks.
      ModelError: The model does not compile at the start.
    """
    began = time.monotonic()
    with RolloutBatch(settings.threads, should_stop=should_stop) as rollouts:
        groups = [
            model_group(
                sequences,
                params,
                window_length=settings.window_length,
                estimate_starts=settings.estimate_starts,
                velocity_filter=settings.velocity_filter,
                gaps=known.gaps,
            )
            for sequences in models_sequences
        ]
        problem = WindowedProblem(
            groups,
            params,
            rollouts,
            loss=loss_named(settings.loss),
            noise=_first_noise(groups, known.levels),
        )
        _check_sample_count(problem)
        return _Fit(problem, settings, known.levels, on_iteration, began).run()


def model_group(
    sequences: ModelSequences,
    params: ParameterDict,
    *,
    window_length: float | None,
    estimate_starts: bool,
    velocity_filter: float,
    overlap: float = 0.0,
    gaps: Mapping[str, Sequence[tuple[float, float]]],
) -> ModelGroup:
    """Cut all sequences of one model into windows.

    Raises:
      DataError: A sequence has no usable window; the message names it.
    """
    builder = CandidateBuilder(sequences.spec, params)
    model = builder.build(params.as_vector()).model
    windows: list[WindowSimulation] = []
    for name, base, control, measured in zip(
        sequences.sequence_name,
        sequences.initial_state,
        sequences.control,
        sequences.sensordata,
        strict=True,
    ):
        signals = signal_columns(model, measured)
        span = (
            max(float(measured.times[0]), float(control.times[0]) if model.nu else -math.inf),
            min(float(measured.times[-1]), float(control.times[-1]) if model.nu else math.inf)
            + LAST_SAMPLE,
        )
        bounds = window_bounds(span, window_length, overlap, gaps.get(name, ()))
        cut_windows = cut(model, measured, signals, bounds)
        if not cut_windows:
            raise DataError(
                f"sequence {name!r} has no usable window: controls and measurements overlap for "
                f"{max(0.0, span[1] - span[0]):.3f} s, a window takes {window_length} s"
            )
        controls = control_integrals(model, control)
        data = SequenceData(name, signals, controls, measured, base, cut_windows)
        reader = StartReader(model, measured, base, velocity_filter=velocity_filter)
        windows += [
            WindowSimulation(data, window, reader, model, estimate_start=estimate_starts)
            for window in cut_windows
        ]
    return ModelGroup(builder, tuple(windows))


class _Fit:
    """The rounds of one fit: optimize, re-estimate the noise, repeat until it settles."""

    def __init__(
        self,
        problem: WindowedProblem,
        settings: FitSettings,
        levels: Mapping[str, float],
        on_iteration: Callable[[Iteration], None] | None,
        began: float,
    ) -> None:
        self._problem = problem
        self._settings = settings
        self._levels = levels
        self._listener = on_iteration
        self._began = began
        self._trace: list[Iteration] = []

    def run(self) -> FitResult:
        """Fit with provisional noise levels until they settle, then to full precision."""
        point = self._problem.initial_point()
        iterations = 0
        unsettled = NOISE_ROUNDS if self._unknown_noise() else 0
        while True:
            solution = self._minimize(point, iterations, precise=not unsettled)
            point = solution.point
            iterations += solution.iterations
            stopped = solution.status not in (FitStatus.CONVERGED, FitStatus.STALLED)
            if stopped or not unsettled or solution.linearization is None:
                return self._result(solution, iterations)
            moved = self._update_noise(solution.linearization)
            unsettled = unsettled - 1 if moved else 0

    def _minimize(self, point: Point, iterations: int, *, precise: bool) -> Solution:
        settings = SolverSettings(
            max_iterations=self._settings.max_iterations - iterations,
            time_limit=self._settings.time_limit,
        )
        if not precise:
            settings = replace(settings, cost_tolerance=NOISE_TOLERANCE)
        return minimize_with(
            self._settings.optimizer,
            self._problem,
            point,
            settings,
            on_iteration=self._record,
            first_iteration=iterations,
            started=self._began,
        )

    def _unknown_noise(self) -> bool:
        return any(_sensor(name) not in self._levels for name in self._problem.noise)

    def _record(self, iteration: Iteration) -> None:
        self._trace.append(iteration)
        if self._listener is not None:
            self._listener(iteration)

    def _update_noise(self, linearization: Linearization) -> bool:
        """Re-estimate unknown noise levels; whether any moved enough for another round."""
        moved = False
        unknowns = self._problem.lower.size + sum(w.n_start for w in self._problem.windows)
        total = sum(count for _, count in linearization.squares.values())
        correction = total / max(1, total - unknowns)
        for name, (square, count) in linearization.squares.items():
            if _sensor(name) in self._levels or count == 0:
                continue
            level = math.sqrt(square / count * correction)
            level = max(level, MIN_RELATIVE_NOISE * _spread(self._problem, name))
            moved |= abs(level / self._problem.noise[name] - 1.0) > NOISE_SETTLED
            self._problem.noise[name] = level
        return moved

    def _result(self, solution: Solution, iterations: int) -> FitResult:
        problem = self._problem
        uncertainty = _uncertainty(problem, solution, self._settings.intervals)
        return FitResult(
            status=solution.status,
            message=_MESSAGES[solution.status],
            parameters=_estimates(problem, solution.point.theta, uncertainty),
            covariance=uncertainty.matrix,
            cost_initial=self._initial_cost(solution),
            cost_final=solution.linearization.cost if solution.linearization else math.nan,
            iterations=iterations,
            evaluations=problem.evaluations,
            jacobians=problem.jacobians,
            elapsed=time.monotonic() - self._began,
            trace=tuple(self._trace),
            noise=dict(problem.noise),
            interval_method=uncertainty.method,
            singular_values=uncertainty.singular_values,
            unidentifiable=describe_open_directions(
                uncertainty,
                problem.params.scalar_names(),
                solution.point.theta,
                _width(problem),
            ),
            optimizer=self._settings.optimizer,
        )

    def _initial_cost(self, solution: Solution) -> float:
        """The start's cost with the final noise levels, so that both costs compare."""
        if solution.status is FitStatus.CANCELED:
            return self._trace[0].cost if self._trace else math.nan
        return self._problem.cost(self._problem.initial_point())


def _uncertainty(problem: WindowedProblem, solution: Solution, method: str) -> Covariance:
    if solution.linearization is None:
        return no_covariance(problem.scale.size)
    theta = solution.point.theta
    margin = BOUND_MARGIN * _width(problem)
    return covariance(
        eliminate_starts(solution.linearization),
        _width(problem),
        (theta > problem.lower + margin) & (theta < problem.upper - margin),
        method=method,
        n_samples=sum(w.n_samples for w in problem.windows),
        residual_square=2.0 * solution.linearization.cost,
    )


_MESSAGES = {
    FitStatus.CONVERGED: "converged: the cost no longer decreases",
    FitStatus.MAX_ITERATIONS: "the iteration limit was reached first; raise fit.max_iterations",
    FitStatus.TIME_LIMIT: "the time limit was reached first; raise fit.time_limit",
    FitStatus.STALLED: "no step lowers the cost further although its slope is not zero; the model "
    "may be non-smooth here, try another start or a longer window",
    FitStatus.CANCELED: "canceled; the best parameters so far are kept",
}


def _width(problem: WindowedProblem) -> FloatArray:
    """Distance of the bounds, or the magnitude of a parameter without finite ones."""
    width = problem.upper - problem.lower
    return np.where(np.isfinite(width) & (width > 0.0), width, problem.scale)


def _units(parameter: Parameter) -> list[str]:
    """One unit per component of a parameter: ``kg, m, m, m`` names four."""
    units = parameter.unit.split(", ")
    return units if len(units) == parameter.size else [parameter.unit] * parameter.size


def _estimates(
    problem: WindowedProblem, theta: FloatArray, uncertainty: Covariance
) -> tuple[ParameterEstimate, ...]:
    initial = problem.params.as_vector()
    errors = np.sqrt(np.diag(uncertainty.matrix))
    units = [unit for parameter in problem.params.free() for unit in _units(parameter)]
    margin = BOUND_MARGIN * _width(problem)
    opened = involved_in(uncertainty.open_directions)
    estimates = []
    for j, name in enumerate(problem.params.scalar_names()):
        flags = []
        if theta[j] <= problem.lower[j] + margin[j]:
            flags.append("at lower bound")
        if theta[j] >= problem.upper[j] - margin[j]:
            flags.append("at upper bound")
        if opened[j]:
            flags.append("unidentifiable")
        estimates.append(
            ParameterEstimate(
                name=name,
                unit=units[j],
                initial=float(initial[j]),
                value=float(theta[j]),
                lower=float(problem.lower[j]),
                upper=float(problem.upper[j]),
                standard_error=float(errors[j]) if np.isfinite(errors[j]) else None,
                dof=uncertainty.dof,
                flags=tuple(flags),
            )
        )
    return tuple(estimates)


def _first_noise(groups: Sequence[ModelGroup], known: Mapping[str, float]) -> dict[str, float]:
    """Known levels, and a tenth of the signal's spread for the others."""
    noise: dict[str, float] = {}
    for group in groups:
        for window in group.windows:
            for signal in window.sequence.signals:
                if signal.name not in noise:
                    values = window.sequence.sensordata.data[:, signal.measured_column]
                    spread = float(np.nanstd(values))
                    noise[signal.name] = known.get(signal.sensor, 0.1 * spread or 1.0)
    return noise


def _spread(problem: WindowedProblem, name: str) -> float:
    values = [
        float(np.nanstd(window.sequence.sensordata.data[:, signal.measured_column]))
        for window in problem.windows
        for signal in window.sequence.signals
        if signal.name == name
    ]
    return max(values)


def _sensor(signal_name: str) -> str:
    """The sensor's name of a channel: ``imu[2]`` belongs to ``imu``."""
    return signal_name.split("[")[0]


def _check_sample_count(problem: WindowedProblem) -> None:
    samples = sum(w.n_samples for w in problem.windows)
    if samples <= problem.lower.size:
        raise DataError(
            f"{samples} samples cannot determine {problem.lower.size} parameters; "
            "record longer or free fewer parameters"
        )
