# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Other interpolations of commands between their samples, which data may not tell from the fit's.

Held commands act half an interval later than the same samples joined by lines or by a spline, with
a ripple that little is left of behind a slow joint. Where that does not decide, a delay is found
with one method that is half an interval off under another, and other parameters may follow. So
another method is simulated at the estimate, its delay moved by that, and brought to its own optimum
by a step or two with the derivatives of the estimate. Unless that is clearly worse, intervals reach
as far as its own would.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import is_effort, is_servo, is_velocity_servo
from sysid_ros.engine.estimation.alternatives import Alternative
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.estimation.shifts import OTHER_INTERPOLATION, Shift
from sysid_ros.engine.least_squares import Point, SolverSettings, minimize
from sysid_ros.engine.parameters import ParameterDict, corrects, written_by
from sysid_ros.engine.problem import Chord, WindowedProblem
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries, own_instants, value_at
from sysid_ros.engine.uncertainty import BLOCKS, block_numbers

_HELD, _LINES, _CURVE = "zoh", "linear", "cubic"
_STEPS = 2  # with the estimate's derivatives
EVALUATIONS = 1 + _STEPS  # of each method
_REFIT = SolverSettings(max_iterations=_STEPS, cost_tolerance=1e-3, worth=1.0, refusals=1)
_REACHED = 0.5  # of a distance: the error with which a 95 % interval ends there
# Share of what one method leaves by which another leaves more that is clearly worse: errors of both
# may be as large; noise, which no sample shares with the next, has none.
_CLEARLY, _OF_NOISE = 1.0 / 0.97 - 1.0, 0.01
_SURE = 2.5  # standard deviations of the sum of signed ranks, from which on it is beyond chance
_SLOW = 2.0  # time steps between samples, beyond which it may matter what is between


def beats(less: FloatArray, more: FloatArray, errors: float | None = None) -> bool:
    """Return whether one model explains more than another that does not contain it.

    By enough that errors of both do not decide, and beyond chance: windows are compared one by one
    (Vuong, Econometrica 57, 1989), by ranks (Wilcoxon, Biometrics Bulletin 1, 1945), since fast
    ones tell many times as much as others.

    Args:
      less: Squares that it leaves, by window, (w,).
      more: Squares that the other leaves, (w,).
      errors: What errors of the model have of what it leaves, where that is known; else all.
    """
    left = float(less.sum())
    enough = max(_CLEARLY * (left if errors is None else errors), _OF_NOISE * left)
    gained = more - less
    ranks = 1.0 + np.argsort(np.argsort(np.abs(gained)))
    likely = float(np.sign(gained) @ ranks) <= _SURE * math.sqrt(float(ranks @ ranks))
    return bool(gained.sum() >= enough and not likely)


def other_interpolations(
    models_sequences: Sequence[ModelSequences], params: ParameterDict, settings: FitSettings
) -> tuple[Alternative, ...]:
    """The fit with commands that go otherwise between their samples, those of one topic at a time.

    None of measured efforts, of what is sampled about as often as simulated, or where nothing is
    free that says when commands act.
    """
    known: set[tuple[str, ...]] = set()
    found = []
    for sequences in models_sequences:
        for inputs, now, interval in _sampled_inputs(sequences):
            if inputs in known or not _is_late(params, inputs):
                continue
            known.add(inputs)
            for method in _others(sequences.gt_model, inputs, now):
                changed = tuple(_with_method(one, inputs, method) for one in models_sequences)
                later = 0.5 * interval * ((now == _HELD) - (method == _HELD))
                found.append(
                    Alternative(
                        OTHER_INTERPOLATION,
                        changed,
                        settings,
                        same_starts=True,
                        inputs=inputs,
                        later=later,
                    )
                )
    return tuple(found)


def _sampled_inputs(sequences: ModelSequences) -> Iterator[tuple[tuple[str, ...], str, float]]:
    """Commands of each topic, the method between their samples, and the interval, s."""
    model, control = sequences.gt_model, sequences.control[0]
    topics: dict[tuple[str, bytes], list[str]] = {}
    own = own_instants(control)
    for name, (kind, columns) in (control.signal_mapping or {}).items():
        actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
        if kind is not SignalType.MjCtrl or actuator < 0 or len(columns) != 1:
            continue
        column, times = int(columns[0]), own[name]
        method = _HELD if control.holds(column) else control.method_of(column)
        told = is_servo(model, actuator) or is_velocity_servo(model, actuator)
        if method in (_HELD, _CURVE) or (method == _LINES and told):
            topics.setdefault((method, times.tobytes()), []).append(name)
    for (method, instants), names in topics.items():
        intervals = np.diff(np.frombuffer(instants))
        if len(intervals) and np.median(intervals) > _SLOW * model.opt.timestep:
            yield tuple(names), method, float(np.median(intervals))


def _is_late(params: ParameterDict, inputs: Iterable[str]) -> bool:
    """Return whether something is free that says when some inputs act."""
    for one in params.free():
        target = written_by(one)
        timing = (target.element, target.attribute) == ("actuator", "time_constant")
        if not {*inputs}.isdisjoint(target.names if timing else corrects(one, "delay")):
            return True
    return False


def _others(model: mujoco.MjModel, inputs: Iterable[str], now: str) -> list[str]:
    """The methods that commands may have instead; torques are held or curves, but no lines.

    Of commands that are held now it is one: lines and a spline, which is dearer, act alike beside.
    """
    torques = all(is_effort(model, model.actuator(name).id) for name in inputs)
    methods = (_HELD, _CURVE) if torques else (_HELD, _LINES, _CURVE)
    others = [method for method in methods if method != now]
    return others[:1] if now == _HELD else others


def _with_method(sequences: ModelSequences, inputs: Iterable[str], method: str) -> ModelSequences:
    """The recordings with some commands joined in another method."""

    def changed(control: TimeSeries) -> TimeSeries:
        mapping, times, data = control.signal_mapping or {}, control.times, control.data.copy()
        methods, own = [control.method_of(k) for k in range(data.shape[1])], own_instants(control)
        for name in {*inputs} & {*mapping}:
            column, instants = int(mapping[name][1][0]), own[name]
            if 1 < len(instants) < len(times):  # there are other topics
                told = value_at(times, data[:, column], instants, methods[column])
                data[:, column] = value_at(instants, told, times, method)
            methods[column] = method
        return replace(control, data=data, interpolation=tuple(methods))

    return sequences.replaced(control=[changed(one) for one in sequences.control])


def shift_by_interpolations(
    own: WindowedProblem,
    point: Point,
    rows: Sequence[FloatArray],
    others: Iterable[tuple[Alternative, WindowedProblem]],
    errors: FloatArray,
) -> Shift:
    """The largest shift of each parameter by a method that is not clearly worse.

    Args:
      own: The problem over some of its windows.
      point: The estimate, with the starts of these windows.
      rows: ``[J_theta J_start r]`` of each there, in units of noise.
      others: Other methods, with the same windows.
      errors: Standard errors of the parameters, (p,); NaN where none is claimed.
    """
    left, nothing = _squares(own, point), np.zeros(len(point.theta))
    known = without_noise(own, point)
    values, error = nothing, nothing
    for alternative, problem in others:
        late = _delays(own.params, alternative.inputs) * alternative.later
        theta = np.clip(point.theta + late, own.lower, own.upper)
        place = minimize(Chord(problem, rows), Point(theta, point.starts), _REFIT).point
        there = _squares(problem, place)
        if not np.all(np.isfinite(there)) or beats(left, there, known):
            continue
        moved = place.theta - point.theta
        # Beside the error by noise this makes an interval end where that of the other method does.
        told = np.sqrt(_REACHED * np.abs(moved) * (2.0 * errors + _REACHED * np.abs(moved)))
        farther = told > error  # never of what no error is claimed of
        values, error = np.where(farther, moved, values), np.where(farther, told, error)
    return Shift(
        OTHER_INTERPOLATION, 0.0, np.where(np.isnan(errors), np.nan, values), nothing, error
    )


def _delays(params: ParameterDict, inputs: Iterable[str]) -> FloatArray:
    """One for each free scalar that is a delay of some inputs alone, else zero, (p,)."""
    marks = [
        bool(labels := {*corrects(one, "delay")}) and labels <= {*inputs}
        for one in params.free()
        for _ in range(one.size)
    ]
    return np.array(marks, dtype=np.float64)


def _squares(problem: WindowedProblem, point: Point) -> FloatArray:
    """Twice the objective by window, or by block of time where windows are few, (b,)."""
    windows = problem.windows
    count = math.ceil(BLOCKS / len(windows))
    found = []
    for window, residual, start in zip(
        windows, problem.residuals(point), point.starts, strict=True
    ):
        scaled = residual / window.sigma(problem.noise)
        block = block_numbers(window.window.samples.times, count, len(scaled))
        own = np.array([2.0 * problem.loss.cost(scaled[block == k]) for k in range(count)])
        own[0] += float(np.sum((start / window.spread) ** 2))
        found.append(own)
    return np.concatenate(found)


def without_noise(problem: WindowedProblem, point: Point) -> float:
    """The part of the squares that each sample of a signal shares with its next: of no noise."""
    total, most = 0.0, 0.0
    for window, residual in zip(problem.windows, problem.residuals(point), strict=True):
        samples, scaled = window.window.samples, residual / window.sigma(problem.noise)
        order = np.lexsort((samples.times, samples.signals))
        same = np.diff(samples.signals[order]) == 0
        total += float(np.sum((scaled[order][1:] * scaled[order][:-1])[same]))
        most += 2.0 * problem.loss.cost(scaled)
    return min(max(total, 0.0), most)
