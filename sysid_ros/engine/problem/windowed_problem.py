# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The windowed identification problem: parameters shared by all windows, a start for each.

The objective is that of docs/uncertainty.md, of the parameters theta and, where starts are
estimated, a deviation per window from the start read off the measurements; and, where joint torque
is measured, half the squares of rows in theta alone (:mod:`.added_rows`).
Groups with :attr:`WindowGroup.finer` are compared as they would be at a time step of zero.

A linearization keeps one Gram matrix of ``[J_theta  J_start  r]`` per window, so that memory does
not grow with the number of samples and the starts can be eliminated window by window.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Linearization, Loss, Point, Trial
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem.added_rows import AddedRows, Span, add_grams, rows_of_gram
from sysid_ros.engine.problem.exact import Simulator, exact_derivatives
from sysid_ros.engine.problem.parameter_priors import ParameterPriors
from sysid_ros.engine.problem.trials import FEWEST, Trials
from sysid_ros.engine.problem.visit import (
    Visit,
    bytes_at_a_point,
    extrapolated_jacobians,
    extrapolated_residuals,
)
from sysid_ros.engine.problem.window_rows import grams_of, rows_of
from sysid_ros.engine.simulation import (
    BatchRollout,
    RolloutPool,
    RunJacobian,
    finite_differences,
    perturbed,
    simulation_of,
)
from sysid_ros.engine.windows import WindowBatch, WindowGroup, WindowSimulation

if TYPE_CHECKING:
    from sysid_ros.engine.derivatives import Sensitivities

KEPT_BYTES = 128 << 20  # of what is known of a point; where there is more, it is found out again
TWICE_KEPT_BYTES = 48 << 20  # where there is less, also of the latest point with a Jacobian


class WindowedProblem:
    """Objective and Gauss-Newton models of the windowed problem.

    Args:
      groups: Windows by model.
      params: The parameters: bounds, priors and the order of scalar components.
      rollouts: Where simulations run.
      loss: The loss on residuals in units of noise.
      noise: Standard deviation per signal name, in the signal's unit.
      engine: ``auto`` for exact derivatives where they are known, ``reference`` for finite
        differences throughout.
      hold: Whether a weak pull holds what the data leaves open near its nominal value.
      added: Rows beside those of simulation, of any spans.
      learned: :attr:`exact` of another problem of the same models.

    Attributes:
      exact: What makes the derivatives, by group; ``None`` for finite differences.
      linearized: What is kept of the latest point with a Jacobian, where a search may end.
      simulator: Simulates residuals.
    """

    def __init__(
        self,
        groups: Sequence[WindowGroup],
        params: ParameterDict,
        rollouts: RolloutPool,
        *,
        loss: Loss,
        noise: Mapping[str, float],
        engine: str = "auto",
        hold: bool = False,
        added: AddedRows | None = None,
        learned: Sequence[Sensitivities | None] = (),
    ) -> None:
        self.groups = tuple(groups)
        self.params = params
        self.loss = loss
        self.added = None if added is None else added.over([Span.of(w) for w in self.windows])
        self.noise = {**(self.added.first_noise() if self.added else {}), **noise}
        self.bounds = params.bounds
        self.lower, self.upper = self.bounds.lower, self.bounds.upper
        self.scale = self.bounds.scale
        self.evaluations = 0
        self.jacobians = 0
        self._priors = ParameterPriors(params, hold=hold)
        self._rollouts, self._hold, self.engine = rollouts, hold, engine
        own = self.groups if engine == "auto" else ()
        self.exact = exact_derivatives(own, rollouts, self.upper, self.scale, learned)
        self.exact = self.exact or [None] * len(self.groups)
        self.simulator = Simulator(self.exact, rollouts)
        self._finer = self._at_half_steps(learned)
        self._latest: Visit | None = None
        self.linearized: Visit | None = None
        size = sum(bytes_at_a_point(group, self.lower.size) for group in self.groups)
        self._keeps, self._keeps_two = size <= KEPT_BYTES, size <= TWICE_KEPT_BYTES
        plain = self._keeps and self.added is None and self._finer is None
        plain &= len(self.windows) >= FEWEST
        self._trials = Trials(groups, self.simulator) if plain else None

    @property
    def windows(self) -> tuple[WindowSimulation, ...]:
        """All windows, in the order of a point's starts."""
        return tuple(window for group in self.groups for window in group.windows)

    @property
    def start_sizes(self) -> tuple[int, ...]:
        """Unknowns of each window's start."""
        return tuple(window.n_start for window in self.windows)

    @property
    def n_samples(self) -> int:
        """Measured values that are compared."""
        return sum(window.n_samples for window in self.windows)

    @property
    def spreads(self) -> Mapping[str, float]:
        """Largest standard deviation of a recording by signal, in its unit."""
        largest: dict[str, float] = {}
        for sequence in {id(each.sequence): each.sequence for each in self.windows}.values():
            for signal in sequence.signals:
                column = sequence.sensordata.data[:, signal.measured_column]
                largest[signal.name] = max(float(np.nanstd(column)), largest.get(signal.name, 0.0))
        return largest

    def with_groups(
        self, groups: Sequence[WindowGroup], engine: str = "reference"
    ) -> WindowedProblem:
        """The same problem over other windows, by default for evaluating costs only."""
        alike = len(groups) == len(self.groups)
        for group, own in zip(groups, self.groups if alike else (), strict=False):
            group.tell_by(own.windows[0].seen)
        return WindowedProblem(
            groups, self.params, self._rollouts, loss=self.loss, noise=self.noise, engine=engine,
            hold=self._hold, added=self.added, learned=self.exact if alike else (),
        )  # fmt: skip

    def with_noise(self, noise: Mapping[str, float]) -> WindowedProblem:
        """The same with other noise levels, and all that is known of its points."""
        other = copy.copy(self)
        other.noise = {**self.noise, **noise}
        other._finer = None if self._finer is None else self._finer.with_noise(noise)
        return other

    def initial_point(self) -> Point:
        """The parameters' current values, and starts as measured."""
        return Point(self.params.as_vector(), tuple(map(np.zeros, self.start_sizes)))

    def residuals(self, point: Point) -> list[FloatArray]:
        """Predicted minus measured in the signals' units, one array per window."""
        return [part for batch, own in self._residuals(point) for part in batch.parts(own)]

    def cost(self, point: Point) -> float:
        """The objective; infinite where a rollout diverges."""
        total = self._prior_cost(point) + float(self.added_costs(point.theta).sum())
        for batch, residual in self._residuals(point):
            total += self.loss.cost(residual / batch.sigma(self.noise))
        return total

    def cost_of(self, residuals: Sequence[FloatArray], point: Point) -> float:
        """The objective where the residuals, one array per window, are known already."""
        total = self._prior_cost(point) + float(self.added_costs(point.theta).sum())
        for window, residual in zip(self.windows, residuals, strict=True):
            total += self.loss.cost(residual / window.sigma(self.noise))
        return total

    def linearize(self, point: Point) -> Linearization:
        """The Gauss-Newton model around ``point``."""
        self.jacobians += 1
        cost, squares = self._prior_cost(point), dict.fromkeys(self.noise, (0.0, 0))
        grams, residuals = list[FloatArray](), list[FloatArray]()
        for batch, starts, derivatives in self.derivatives(point):
            residuals += [] if self._trials is None else [derivatives.residual]
            grams += grams_of(batch, starts, derivatives, self.loss, self.noise)
            cost += self.loss.cost(derivatives.residual / batch.sigma(self.noise))
            for name, (total, count) in batch.squares(derivatives.residual).items():
                squares[name] = (squares[name][0] + total, squares[name][1] + count)
        if self.added is not None:
            add_grams(grams, self.added.grams(point.theta, self.noise))
            cost += float(self.added_costs(point.theta).sum())
            squares |= self.added.squares(point.theta)
        prior, trial = self.prior_rows(point.theta), self.trial(point, residuals)
        return Linearization(cost, tuple(grams), prior.T @ prior, squares, trial=trial)

    def trial(self, point: Point, residuals: Sequence[FloatArray] = ()) -> Trial | None:
        """As :attr:`Linearization.trial` at a point, with its residuals by batch if known."""
        if self._trials is None:
            return None
        own = residuals or [each for _, each in self._residuals(point)]
        here = own, self._flat_starts(point), self.loss, self.noise
        known = cache(partial(self._trials.costs, *here))  # of many problems no step is tried
        return partial(self._tried, known, self._priors.cost(point.theta))

    def _tried(
        self, parts: Callable[[], FloatArray], own: float, point: Point, expected: FloatArray
    ) -> float:
        """The objective after a step, as :attr:`Linearization.trial`.

        Before it, ``parts()`` are the costs of the trials' parts, and ``own`` that of the priors.
        """
        before = self._latest if self._keeps_two else None
        visit = self._visited(point)
        if visit.rollouts is None and self._trials is not None:
            after = visit.candidates, self._flat_starts(point), self._priors.cost(point.theta) - own
            run = self._trials.simulated
            visit.rollouts = run(*after, parts(), expected, self.loss, self.noise)
            if visit.rollouts is None:
                self.evaluations += 1
                self._latest = before  # it goes on from there
                return np.inf
        return self.cost(point)

    def added_costs(self, theta: FloatArray) -> FloatArray:
        """The share of the windows' rows beside those of simulation in the objective, (w,)."""
        if self.added is None:
            return np.zeros(len(self.windows))
        return self.added.costs(theta, self.noise)

    def window_rows(self, point: Point) -> Iterator[FloatArray]:
        """``[J_theta J_start r]`` of each window in units of noise, (m + n_start, p + n_start + 1).

        The rows of its start's prior come last; :attr:`added` has those beside simulation.
        """
        for batch, starts, derivatives in self.derivatives(point):
            yield from rows_of(batch, starts, derivatives, self.loss, self.noise)

    def _visited(self, point: Point) -> Visit:
        """All that is known of a point; something is of the latest and the linearized only."""
        if self.linearized is not None and self.linearized.is_at(point):
            return self.linearized
        if self._latest is None or not self._latest.is_at(point):
            self._latest = None  # makes room
            self._latest = Visit(point, [each.builder.build(point.theta) for each in self.groups])
        return self._latest

    def _residuals(self, point: Point) -> Iterator[tuple[WindowBatch, FloatArray]]:
        """Every batch with its residuals, (m,)."""
        self.evaluations += 1
        if self._finer is None:
            return self._simulated_residuals(point)
        finer = self._finer._residuals(point)
        return extrapolated_residuals(self._simulated_residuals(point), finer)

    def _simulated_residuals(self, point: Point) -> Iterator[tuple[WindowBatch, FloatArray]]:
        """Residuals at the time step of the groups' models."""
        visit, starts = self._visited(point), self._starts(point)
        for g, (group, candidate) in enumerate(zip(self.groups, visit.candidates, strict=True)):
            for k, batch in enumerate(group.batches):
                if self._keeps:
                    done = self._simulated(visit, starts)[g][k]
                else:
                    job = simulation_of(batch, candidate, starts[g][k])
                    (done,) = self.simulator.run_group(g, [job])
                yield batch, batch.residual(candidate, done.sensordata)

    def _simulated(self, visit: Visit, starts: list[list[FloatArray]]) -> list[list[BatchRollout]]:
        """The rollouts at a point, which are kept."""
        if visit.rollouts is None:
            visit.rollouts = [
                self.simulator.run_group(g, [
                    simulation_of(batch, visit.candidates[g], each)
                    for batch, each in zip(group.batches, starts[g], strict=True)
                ])
                for g, group in enumerate(self.groups)
            ]  # fmt: skip
        return visit.rollouts

    def simulated(self, point: Point) -> list[list[BatchRollout]]:
        """The rollouts at a point, by group and batch."""
        return self._simulated(self._visited(point), self._starts(point))

    def _starts(self, point: Point) -> list[list[FloatArray]]:
        """The deviations of the windows' starts by group and batch, (w, n_start) each."""
        rest = iter(point.starts)
        return [
            [np.array([next(rest) for _ in batch.windows]) for batch in group.batches]
            for group in self.groups
        ]

    def _flat_starts(self, point: Point) -> list[FloatArray]:
        """The same by batch alone."""
        return list(itertools.chain.from_iterable(self._starts(point)))

    def differentiate(self, point: Point) -> None:
        """Find out what :attr:`exact` tells of a point, whose linearization is then known."""
        for _ in self.derivatives(point):
            pass

    def derivatives(self, point: Point) -> Iterator[tuple[WindowBatch, FloatArray, RunJacobian]]:
        """Every batch with its starts' deviations, residuals and Jacobian."""
        if self._finer is None:
            return self._simulated_derivatives(point)
        finer = self._finer.derivatives(point)
        return extrapolated_jacobians(self._simulated_derivatives(point), finer)

    def _simulated_derivatives(
        self, point: Point
    ) -> Iterator[tuple[WindowBatch, FloatArray, RunJacobian]]:
        """The same at the time step of the groups' models."""
        visit, flat = self._visited(point), self._flat_starts(point)
        batches = [batch for group in self.groups for batch in group.batches]
        if visit.derivatives is not None:
            yield from zip(batches, flat, visit.derivatives, strict=True)
            return
        found: list[RunJacobian] = []
        made = self._new_derivatives(visit, self._starts(point))
        for batch, own, derivatives in zip(batches, flat, made, strict=True):
            if self._keeps:
                found.append(derivatives)
            yield batch, own, derivatives
        visit.derivatives = found if self._keeps else None
        self.linearized = visit if self._keeps_two else None

    def _new_derivatives(
        self, visit: Visit, starts: list[list[FloatArray]]
    ) -> Iterator[RunJacobian]:
        """Residuals and Jacobian of every batch."""
        for g, (group, exact) in enumerate(zip(self.groups, self.exact, strict=True)):
            if exact is not None:
                known = None
                if self._keeps and not exact.gave_up:
                    known = visit.candidates[g], self._simulated(visit, starts)[g]
                yield from exact.derivatives(visit.point.theta, np.concatenate(starts[g]), known)
                continue
            columns = perturbed(
                group.builder, visit.point.theta, self.upper, self.scale, base=visit.candidates[g]
            )
            for batch, own in zip(group.batches, starts[g], strict=True):
                yield finite_differences(self._rollouts, batch, own, columns)

    def check_derivatives(self, point: Point) -> bool:
        """Compare exact derivatives with rollouts in one direction; give up those that differ.

        Returns:
          Whether the residuals that the search saw are still those of MuJoCo.
        """
        trusted = [each for each in self.exact if each is not None and not each.gave_up]
        known: Iterator[RunJacobian] | None = None
        if self._keeps and trusted:  # whoever checks them needs them next
            known = iter([found for _, _, found in self._simulated_derivatives(point)])
        for group, exact, starts in zip(self.groups, self.exact, self._starts(point), strict=True):
            own = None if known is None else list(itertools.islice(known, len(group.batches)))
            if exact is not None:
                exact.check(point.theta, np.concatenate(starts), own)
        if any(each.gave_up or each.runs.trusted is False for each in trusted):
            self._latest = self.linearized = None
        finer = self._finer is None or self._finer.check_derivatives(point)
        return finer and not any(each.runs.used and each.runs.trusted is False for each in trusted)

    def _at_half_steps(self, learned: Sequence[Sensitivities | None]) -> WindowedProblem | None:
        """The same windows at half the time step, where the groups have them."""
        finer = [group.finer for group in self.groups if group.finer is not None]
        if not finer or len(finer) < len(self.groups):
            return None
        return WindowedProblem(
            finer, self.params, self._rollouts, loss=self.loss, noise=self.noise,
            engine=self.engine, learned=learned or self.exact,
        )  # fmt: skip

    def derivative_sources(self) -> Mapping[str, str]:
        """Return the origin of the Jacobian's columns, by parameter: exact, or why they are not."""
        names = self.params.scalar_names()
        sources = dict.fromkeys(names, "finite differences, as asked for")
        for exact in self.exact:
            if exact is not None:
                sources.update(zip(names, exact.sources(), strict=True))
        return sources

    def theta_rows(self, theta: FloatArray) -> FloatArray:
        """``[J_theta r]`` of all rows that theta alone determines, (k, p + 1)."""
        prior = self.prior_rows(theta)
        if self.added is None:
            return prior
        return np.vstack([prior, rows_of_gram(self.added.grams(theta, self.noise).sum(axis=0))])

    def prior_rows(self, theta: FloatArray) -> FloatArray:
        """``[J_theta r]`` of the parameters' priors, shape (p, p + 1)."""
        return self._priors.rows(theta)

    def _prior_cost(self, point: Point) -> float:
        """The share of the parameters' and the starts' priors in the objective."""
        batches = (batch for group in self.groups for batch in group.batches)
        total = self._priors.cost(point.theta)
        for batch, own in zip(batches, self._flat_starts(point), strict=True):
            total += 0.5 * float(np.sum((own / batch.spread) ** 2))
        return total
