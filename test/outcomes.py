# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Synthetic outcomes: a damped oscillation with known errors, large enough to look like a fit."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.bias_check import BiasCheck, Refit
from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.estimation.landscape import Landscape
from sysid_ros.engine.estimation.window_check import WindowCheck, WindowEstimate
from sysid_ros.engine.least_squares.search_progress import FitStatus, Iteration
from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate
from sysid_ros.judgement.outcome import Outcome, ResidualTrend, Score, SequenceFit, SignalFit
from sysid_ros.recording.mapping import TopicQuality

NAMES = ("shoulder_armature", "shoulder_damping", "elbow_damping", "link2_mass")


def outcome(
    *,
    title: str = "double_pendulum",
    sequences: int = 3,
    signals: int = 2,
    duration: float = 4.0,
    rate: float = 500.0,
    verdict: str = "Trustworthy: the held-out error fell from 0.2100 rad to 0.0171 rad.",
    warnings: tuple[str, ...] = ("shoulder_damping ends at its lower bound.",),
) -> Outcome:
    """An outcome with ``sequences`` recordings of ``signals`` signals; the last one is held out."""
    rng = np.random.default_rng(7)
    made = tuple(
        _sequence(rng, f"trajectory_{i:02d}", 0 < i == sequences - 1, signals, duration, rate)
        for i in range(sequences)
    )
    return Outcome(
        title=title,
        fit=fit_result(rng),
        training=_score(made, "training"),
        validation=_score(made, "validation"),
        sequences=made,
        quality=tuple(_quality(sequence.name, rate, duration) for sequence in made),
        verdict=verdict,
        warnings=warnings,
        provenance={
            "command": "python -m sysid_ros fit experiment.yaml",
            "experiment": "model: double_pendulum.xml\nsequences:\n  - trajectory_00\n",
            "version mujoco": "4.0.0",
            "version sysid_ros": "0.1.0",
            "sha256 trajectory_00": "ab" * 32,
        },
        bias=bias(),
        window_check=windows(),
        trends=(_trend("velocity", "rad/s"), _trend("torque", "N m")),
    )


def fit_result(rng: np.random.Generator) -> FitResult:
    """Four parameters: two good ones, one at its bound, one that the data leaves open."""
    errors = np.array([2e-5, np.nan, 4e-4, 0.08])
    correlation = np.array(
        [
            [1.0, np.nan, 0.31, -0.98],
            [np.nan] * 4,
            [0.31, np.nan, 1.0, -0.2],
            [-0.98, np.nan, -0.2, 1],
        ]
    )
    return FitResult(
        status=FitStatus.CONVERGED,
        message="the cost changed by less than its tolerance",
        parameters=(
            ParameterEstimate(NAMES[0], "kg m^2", 0.002, 0.00213, 0.0, 0.05, 2e-5, 11.0),
            ParameterEstimate(
                NAMES[1], "N m s/rad", 0.01, 0.0, 0.0, 1.0, None, 11.0, ("at lower bound",)
            ),
            ParameterEstimate(NAMES[2], "N m s/rad", 0.01, 0.0231, 0.0, np.inf, 4e-4, 11.0),
            ParameterEstimate(NAMES[3], "kg", 0.6, 0.55, 0.1, 2.0, 0.08, 11.0, ("unidentifiable",)),
        ),
        covariance=correlation * np.outer(errors, errors),
        cost_initial=5321.0,
        cost_final=12.25,
        iterations=8,
        evaluations=44,
        jacobians=8,
        elapsed=12.5,
        trace=tuple(
            Iteration(
                iteration=i,
                cost=12.25 + 5308.75 * 0.2**i,
                gradient_norm=10.0 * 0.3**i,
                names=NAMES,
                values=np.array([0.002, 0.01, 0.01, 0.6]) * (1 + 0.05 * i),
                elapsed=1.5 * i,
            )
            for i in range(9)
        ),
        noise={"signal_0": 0.001, "signal_1": 0.002},
        interval_method="clustered",
        singular_values=np.array([10.0, 3.0, 0.5, 1e-4]),
        unidentifiable=("shoulder_armature rises while link2_mass falls",),
        optimizer="mujoco",
        landscapes=(_landscape(),),
    )


def _trend(against: str, unit: str) -> ResidualTrend:
    """A residual that follows the sign, with too few samples in the outermost bins."""
    edges = np.linspace(-3.0, 3.0, 25)
    mean = 0.004 * np.sign(0.5 * (edges[:-1] + edges[1:]))
    mean[[0, -1]] = np.nan
    return ResidualTrend("signal_0", "rad", against, unit, edges, mean, mean - 0.01, mean + 0.02)


def _landscape() -> Landscape:
    """A valley across two parameters, with a corner that cannot be simulated."""
    x, y = np.linspace(0.0011, 0.0032, 9), np.linspace(0.3, 0.8, 7)
    cost = (
        12.25 + 1e4 * (x / 0.00213 + y[:, None] / 0.55 - 2.0) ** 2 + 10.0 * (x / 0.00213 - 1) ** 2
    )
    cost[0, 0] = np.inf
    return Landscape(NAMES[0], NAMES[3], x, y, cost, (0.00213, 0.55))


def score(before: float, after: float) -> Score:
    """Errors of one signal before and after a fit."""
    return Score({"a": after}, {"a": before}, {"a": "rad"}, after, before, "rad", 4)


def bias() -> BiasCheck:
    """A check in which the time step moves one parameter, and nothing else matters."""
    values = np.array([0.00213, 0.0, 0.0231, 0.55])
    half_widths = np.array([4.4e-5, np.nan, 8.8e-4, np.nan])
    finer = values + np.array([1e-4, 0.0, 1e-4, 0.01])
    return BiasCheck(
        names=NAMES,
        units=("kg m^2", "N m s/rad", "N m s/rad", "kg"),
        values=values,
        half_widths=half_widths,
        refits=(
            Refit("half the time step", finer, half_widths, FitStatus.CONVERGED),
            Refit("windows of 0.5 s", values, 2.0 * half_widths, FitStatus.MAX_ITERATIONS),
            Refit("a velocity filter of 15 Hz", values, half_widths, FitStatus.CONVERGED),
        ),
    )


def windows() -> WindowCheck:
    """A check in which windows of 0.5 s are apart in one parameter, and predict worse."""
    check = bias()
    low, high = check.values - check.half_widths, check.values + check.half_widths
    shift = np.array([2e-4, 0.0, 1e-4, 0.0])
    nothing = np.full(4, np.nan)
    return WindowCheck(
        names=NAMES,
        units=check.units,
        estimates=(
            WindowEstimate("windows of 1 s", False, check.values, low, high, 0.01),
            WindowEstimate(
                "windows of 0.5 s", False, check.values + shift, low + shift, high + shift, 0.02
            ),
            WindowEstimate("whole recordings", False, check.values, low, high, 0.0105),
            WindowEstimate("the first halves", True, nothing, nothing, nothing, problem="short"),
        ),
        unit="rad",
        scored_on="held out",
    )


def _sequence(
    rng: np.random.Generator, name: str, held_out: bool, signals: int, duration: float, rate: float
) -> SequenceFit:
    times = np.arange(int(duration * rate)) / rate
    return SequenceFit(
        name=name,
        role="validation" if held_out else "training",
        signals=tuple(_signal(rng, i, times) for i in range(signals)),
        window_starts=np.arange(0.0, duration, 1.0),
    )


def _signal(rng: np.random.Generator, index: int, times: FloatArray) -> SignalFit:
    frequency = 0.5 + 0.3 * index
    clean = np.exp(-0.1 * times) * np.sin(2 * np.pi * frequency * times)
    measured = clean + 0.002 * rng.standard_normal(times.size)
    initial = np.exp(-0.02 * times) * np.sin(2 * np.pi * 1.05 * frequency * times)
    fitted = clean + 0.01 * np.sin(3 * times)
    for array in (initial, fitted):
        array[times.size // 2 : times.size // 2 + times.size // 20] = np.nan
    return SignalFit(f"signal_{index}", "rad", times, measured, initial, fitted)


def _score(sequences: tuple[SequenceFit, ...], role: str) -> Score | None:
    chosen = [s for sequence in sequences if sequence.role == role for s in sequence.signals]
    if not chosen:
        return None
    names = dict.fromkeys(signal.name for signal in chosen)
    return Score(
        rmse={n: _rmse([s.measured - s.fitted for s in chosen if s.name == n]) for n in names},
        rmse_initial={
            n: _rmse([s.measured - s.initial for s in chosen if s.name == n]) for n in names
        },
        units=dict.fromkeys(names, "rad"),
        rmse_all=_rmse([s.measured - s.fitted for s in chosen]),
        rmse_all_initial=_rmse([s.measured - s.initial for s in chosen]),
        unit_all="rad",
        windows=4 * len(chosen),
    )


def _rmse(residuals: list[FloatArray]) -> float:
    return float(np.sqrt(np.nanmean(np.concatenate(residuals) ** 2)))


def _quality(sequence: str, rate: float, duration: float) -> TopicQuality:
    count = int(rate * duration)
    return TopicQuality(
        sequence=sequence,
        topic="/joint_states",
        msgtype="sensor_msgs/msg/JointState",
        clock="header",
        messages=count,
        promised=count + 3,
        rate=rate,
        jitter=0.0004,
        gaps=1,
        longest_gap=0.25,
        duplicates=2,
        backwards=0,
    )
