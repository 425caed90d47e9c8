# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scores of what may be wrong, read from one linearization of windows that are fitted already.

First a few windows are fitted with what any fit would find. There the residuals are linearized in
all that is suspected besides. What is left then says of each suspect, whatever the others do, how
much of it explains the rest, window by window: a score test, which takes no simulation of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.fits.fitted_windows import (
    fitted,
    problem_of,
    well_covered,
    windows_of,
)
from sysid_ros.diagnosis.fits.misfit import Misfit
from sysid_ros.diagnosis.fits.signal_powers import lasting_shares, parted_squares
from sysid_ros.diagnosis.fits.window_grams import left_with_all, signals_of, solved, sums_of
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.windows import WindowGroup

_LENGTH, _SHORT = 1.0, 0.5  # s, of a window at most; and where columns are so many
_ROLLED = 0.5  # s, where every column is a rollout of its own
_FEWEST, MOST_WINDOWS = 8, 16  # the fewest where every column is a rollout
_STEPS, _STEPS_ROLLED = 400_000, 40_000  # of simulation, times columns of the Jacobian
_SHORTEST = 0.15  # s, of a window that shows anything
_NOTHING = 1e-24  # of the largest square: rounding
_OPEN = 1e-6  # share of an effect that nothing else has, below which nothing is known of it
_MATTERS = 0.1  # of what is usual in a window, that a step changes in it
_LARGEST = 1e30  # of a sum, where no window flies apart


@dataclass(frozen=True)
class Scores:
    """The shares that suspects explain, whatever others do; w windows, s signals, c suspects.

    Signals count by what is left of them with all suspects free.
    """

    names: tuple[str, ...]  # of the suspects
    sizes: FloatArray  # what one step of each is in its parameter's unit, (c,)
    mixed: FloatArray  # by window, each suspect's effect times what is left, (w, c)
    own: FloatArray  # by window, the square of its effect that nothing else has, (w, c)
    power: FloatArray  # by window, the square of what is left, (w,)
    signals: tuple[str, ...]
    mixed_by_signal: FloatArray  # (s, c)
    own_by_signal: FloatArray  # (s, c)
    power_by_signal: FloatArray  # (s,)
    whole_by_signal: FloatArray  # the square of all suspects' effects together, (s,)
    open: FloatArray  # share of each suspect's effect that nothing else has, (c,)

    @property
    def left(self) -> float:
        """The square of what is left."""
        return float(self.power.sum())

    def gained(self, lowest: float = -math.inf) -> tuple[FloatArray, FloatArray]:
        """The best steps of the suspects, each alone, and what they explain, (c,) each.

        Args:
          lowest: Step below which none is possible.
        """
        mixed, own = self.mixed.sum(axis=0), self.own.sum(axis=0)
        steps = np.where(self.open > _OPEN, mixed / np.maximum(own, 1e-300), 0.0)
        return steps, np.where(steps > lowest, steps * mixed, 0.0)

    def reach(self, place: int, step: float, alarms: float = 0.05) -> float:
        """Half the width of the interval of a suspect's step, by how windows differ.

        Args:
          place: Of the suspect.
          step: Its best step.
          alarms: How often the interval may miss.
        """
        own, count = self.own[:, place], len(self.own)
        rest = self.mixed[:, place] - step * own
        error = math.sqrt(float(rest @ rest) * count / (count - 1))
        quantile = float(scipy.special.stdtrit(count - 1, 1.0 - 0.5 * alarms))
        return quantile * error / max(float(own.sum()), 1e-300)

    def better(self, place: int, start: float, end: float) -> tuple[float, float]:
        """The share that a suspect's step explains more at its end than where it starts.

        Returns:
          In squares, and in which share of the windows it is better, of those that it matters to.
        """
        mixed, own = self.mixed[:, place], self.own[:, place]
        parts = 2.0 * (end - start) * mixed - (end**2 - start**2) * own
        matters = np.abs(parts) > _MATTERS * np.mean(np.abs(parts))
        return float(parts.sum()), float(np.mean(parts[matters] > 0.0)) if matters.any() else 0.0


@dataclass(frozen=True)
class WindowScores:
    """Windows that are fitted, linearized in what was fitted and in what is suspected."""

    names: tuple[str, ...]  # of the columns: parameters
    held: frozenset[str]  # of the columns, those at their bounds
    values: FloatArray  # that they were linearized at, (p,)
    scale: FloatArray  # a step of each in its unit: its value, or one where that is zero, (p,)
    signals: tuple[str, ...]  # names of what is compared
    # what the fit leaves of each, root mean square over its standard deviation
    left: Mapping[str, float]
    by_window: FloatArray  # ``[J r]^T [J r]`` of each window, starts eliminated, (w, p + 1, p + 1)
    by_signal: FloatArray  # the same of each signal in all windows, (s, p + 1, p + 1)
    ended: Point  # where the fit did, without what is suspected
    noise: Mapping[str, float]  # standard deviation that it left of each signal, in its unit
    patient: bool  # whether the fit could go on to its end
    settled: bool  # whether it came to its end
    # the windows, as they were cut before the fit: what it found of starts is where they are beside
    # those
    group: WindowGroup
    # of what is left of a signal, the share of squares that no white noise leaves; all of one that
    # is not among them
    lasting: Mapping[str, float] = field(default_factory=dict)
    # by window the share of each signal's squares, of what is left of it in all, (w, s)
    parted: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def of(
        cls,
        sequences: ModelSequences,
        found: ParameterDict,
        suspected: ParameterDict,
        length: float | None,
        pool: RolloutPool,
        *,
        patient: bool = False,
        begun: WindowScores | None = None,
    ) -> WindowScores | None:
        """Fit some windows and linearize them; ``None`` if too few, too dear, or they fly apart.

        Args:
          sequences: Of one model, repaired.
          found: What a fit finds.
          suspected: What it does not, at the values that it is held at.
          length: Of windows at most, s.
          pool: Where simulations run.
          patient: Whether the fit goes on to its end, where a few steps mostly do.
          begun: The same with other values of what is suspected, or after a few steps; the fit goes
            on from there.

        Raises:
          DataError: There is no usable window.
        """
        whole = ParameterDict({**found.copy().parameters, **suspected.copy().parameters})
        for name in suspected:
            whole[name].frozen = True
        if begun is None:
            problem, point = _problem(sequences, whole, suspected.size, length, pool), None
            if problem is None:
                return None
        else:
            group = begun.group.with_parameters(sequences, whole)
            problem = problem_of(group, whole, pool, begun.noise)
            point = begun.resumed(problem)
        problem, point, settled = fitted(problem, point, patient=patient, chords=True)
        whole.update_from_vector(point.theta)
        for one in whole.values():
            one.frozen = one.frozen and one.name not in suspected
        # Cut anew, windows would begin where the parameters that were found bring them.
        group, noise = problem.groups[0].with_parameters(sequences, whole), problem.noise
        problem = problem_of(group, whole, pool, noise)
        full = Point(whole.as_vector(), point.starts)
        rows, windows, spreads = [*problem.window_rows(full)], problem.windows, problem.spreads
        del problem  # with all that is kept of points
        signals, kinds = signals_of(windows)
        free = whole.bounds.free(full.theta)
        columns = tuple(whole.scalar_names())
        scale = np.where(full.theta == 0.0, 1.0, np.abs(full.theta))
        _, even = sums_of(rows, kinds, scale, np.ones(len(signals)))
        if not np.abs(even).max() < _LARGEST:
            return None
        grams = sums_of(rows, kinds, scale, 1.0 / left_with_all(even))
        held = frozenset(name for name, own in zip(columns, free, strict=True) if not own)
        # none of a sensor's axis that is zero throughout
        left = {name: noise[name] / own if own else 0.0 for name, own in spreads.items()}
        times = [one.window.samples.times for one in windows]
        lasting = lasting_shares(
            [own[: len(at), -1] for own, at in zip(rows, times, strict=True)], kinds, times
        )
        return cls(
            columns, held, full.theta, scale, signals, left, *grams, point, noise, patient, settled,
            group, dict(zip(signals, lasting.tolist(), strict=True)),
            parted_squares([own[:, -1] for own in rows], kinds, len(signals)),
        )  # fmt: skip

    @property
    def places(self) -> tuple[tuple[str, float], ...]:
        """By window, its recording's name and its start, s."""
        return tuple((one.sequence.name, one.window.start) for one in self.group.windows)

    def resumed(self, problem: WindowedProblem) -> Point:
        """The point from which a fit of the same windows goes on.

        Once this one came to its end, something suspected has changed since: what ran to its
        largest value, as a delay beside a wrong mass, made up for that, and begins anew.
        """
        ended = self.ended.theta
        if self.patient or self.settled:
            ended = np.where(ended >= problem.upper, problem.initial_point().theta, ended)
        return Point(ended, self.ended.starts)

    @property
    def squares(self) -> float:
        """The squares that the fit leaves, each signal in units of its own variation."""
        return sum(left**2 for left in self.left.values())

    def unexplained(self, signals: Sequence[str]) -> float:
        """The share of some signals that the fit leaves beyond noise, root mean square."""
        parts = [self.left[name] ** 2 * self.lasting.get(name, 1.0) for name in signals]
        return math.sqrt(float(np.mean(parts)))

    @property
    def left_of_all(self) -> float:
        """The sum of the logarithms of what the fit leaves of signals."""
        return sum(math.log(left) for left in self.left.values() if left > 0.0)

    def beyond_noise(self, usual: WindowScores) -> Misfit:
        """The rest beyond noise, each signal in units of what another fit leaves of it."""
        own, units = (np.array([one.left[k] for k in one.signals]) for one in (self, usual))
        known = units > 0.0
        lasting = np.array([self.lasting.get(name, 1.0) for name in self.signals])[known]
        left = len(self.parted) * self.parted[:, known] - (1.0 - lasting)
        blocks = np.maximum(left @ (own[known] / units[known]) ** 2, 0.0)
        return Misfit(math.sqrt(float(np.mean(blocks))), blocks)

    def value(self, name: str) -> float:
        """The value of a column's parameter."""
        return float(self.values[self.names.index(name)])

    def together(self, tested: Sequence[str], beside: Sequence[str]) -> tuple[FloatArray, float]:
        """The best steps of some columns together, whatever others do.

        Args:
          tested: Names of columns.
          beside: Names of those that may do whatever explains most.

        Returns:
          The steps in their parameters' units, (c,), and the share of the square that they leave.
        """
        place = {name: k for k, name in enumerate(self.names)}
        rest = [place[name] for name in beside]
        whole = self.by_window.sum(axis=0)
        # What has no effect but rounding, as gravity along the axes of a planar arm, stays.
        least = _NOTHING * float(np.diag(whole)[:-1].max())
        told = np.array([whole[place[name], place[name]] > least for name in tested])
        own = [place[name] for name, felt in zip(tested, told, strict=True) if felt]
        left = []
        for free in (rest, [*rest, *own]):
            steps = -solved(whole[np.ix_(free, free)], whole[free, -1:])[:, 0]
            left.append(float(whole[-1, -1] + whole[-1, free] @ steps))
        found = np.zeros(len(tested))
        found[told] = steps[len(rest) :] * self.scale[own]
        return found, max(left[1], 0.0) / max(left[0], 1e-300)

    def along(
        self, tested: Sequence[str], direction: FloatArray, beside: Sequence[str]
    ) -> tuple[float, float]:
        """As :meth:`together`, along one direction, (c,): how many times that, and the share."""
        steps, left = self.joined("along", tested, direction).together(["along"], beside)
        return float(steps[0]), left

    def joined(self, name: str, columns: Sequence[str], direction: FloatArray) -> WindowScores:
        """The same with one more column, that moves some along a direction, (c,) in their units."""
        last, own = len(self.names), [self.names.index(one) for one in columns]
        basis = np.insert(np.eye(last + 1), last, 0.0, axis=1)
        basis[own, last] = direction / self.scale[own]
        return replace(
            self,
            names=(*self.names, name),
            values=np.append(self.values, 0.0),
            scale=np.append(self.scale, 1.0),
            by_window=basis.T @ self.by_window @ basis,
            by_signal=basis.T @ self.by_signal @ basis,
        )

    def scores(self, tested: Sequence[str], beside: Sequence[str]) -> Scores:
        """The scores of some columns, whatever others do.

        Args:
          tested: Names of columns.
          beside: Names of those that may do whatever explains most.
        """
        place = {name: k for k, name in enumerate(self.names)}
        own = [place[name] for name in tested]
        rest = [place[name] for name in beside]
        kept = [*own, len(self.names)]  # with the residual
        whole = self.by_window.sum(axis=0)
        chosen: FloatArray = np.zeros((len(whole), len(kept)))
        chosen[kept, np.arange(len(kept))] = 1.0
        chosen[rest] = -solved(whole[np.ix_(rest, rest)], whole[np.ix_(rest, kept)])
        raw = np.maximum(np.diag(whole)[own], 1e-300)
        mixed, left, power = _alone(self.by_window, chosen)
        together = self.by_signal[:, own][:, :, own].sum(axis=(1, 2))
        return Scores(
            tuple(tested), self.scale[own], mixed, left, power, self.signals,
            *_alone(self.by_signal, chosen), together, left.sum(axis=0) / raw,
        )  # fmt: skip


def _alone(grams: FloatArray, chosen: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Effects times what is left, their squares, and its square, whatever others do.

    Args:
      grams: Some sums, (k, p + 1, p + 1).
      chosen: The effects without others, and the residual last, (p + 1, c + 1).
    """
    parts = grams @ chosen
    squares = np.einsum("ia,kia->ka", chosen, parts)
    mixed = -np.einsum("ia,ki->ka", chosen[:, :-1], parts[:, :, -1])
    return mixed, squares[:, :-1], squares[:, -1]


def _problem(
    sequences: ModelSequences,
    whole: ParameterDict,
    suspected: int,
    length: float | None,
    pool: RolloutPool,
) -> WindowedProblem | None:
    """Windows to fit; ``None`` if too few, too dear, or they fly apart."""
    length = min(length or _LENGTH, _LENGTH)
    group, most = _afforded(sequences, whole, suspected, length, pool)
    if most < _FEWEST or len(group.windows) < _FEWEST:
        return None
    covered = well_covered(group, most, whole, pool)
    return None if covered is None else covered[0]


def _afforded(
    sequences: ModelSequences, params: ParameterDict, suspects: int, length: float,
    pool: RolloutPool,
) -> tuple[WindowGroup, int]:  # fmt: skip
    """Windows of a length at most, and how many of them time allows."""
    group = windows_of(sequences, params, length)
    problem = problem_of(group.select([0]), params, pool)
    columns = params.size + suspects + group.batches[0].spread.shape[1]
    step = float(group.batches[0].model.opt.timestep)
    if any(exact is not None and not exact.gave_up for exact in problem.exact):
        motion = _STEPS * step / columns
        if length > (shorter := max(motion / _FEWEST, _SHORT)):
            group, length = windows_of(sequences, params, shorter), shorter
        return group, min(max(round(motion / length), _FEWEST), MOST_WINDOWS)
    length = min(length, _ROLLED, _STEPS_ROLLED * step / (columns * _FEWEST))
    if length < _SHORTEST:
        return group, 0
    return windows_of(sequences, params, length), _FEWEST


# Linearizes windows with some parameters elsewhere; ``None`` where they fly apart.
Linearized = Callable[..., WindowScores | None]
