# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows that hold a search up: their linearization promises what no step keeps.

A search takes one step of all unknowns and refuses it when the sum of all windows' costs rises. A
window that begins beside a touch-down, where a foot meets the floor a time step earlier or later
and everything behind it jumps, has a linearization that is steep and holds nowhere: its cost rises
a hundredfold where it should fall, and the search stays where it is for its sake, often before it
has begun. Whether a window's promise is kept is known of every step that is tried, window by
window, since each has a cost and a start of its own. Those that break theirs while the others keep
it, and in which bodies touch that do not always, say nothing that a linear model can use: they are
left out, tried again where the others lead, by steps of their starts alone, and come back where
they fit as well as those. Windows without touches leap too, such as at the other optimum of a
delay, which is not to be lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.elements import FREE
from sysid_ros.engine.estimation.window_sample import part_of, window_costs
from sysid_ros.engine.least_squares import GOOD_GAIN, Linearization, Point, Solution, damped_step
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.simulation import run_slices
from sysid_ros.engine.windows import WindowSimulation, can_touch, touches_at
from sysid_ros.errors import listed

DAMPINGS = (1e-3, 1e-2, 1e-1)  # of the steps that windows are judged by
FEW = 0.25  # of the windows, which may break a promise at once; more say that the model is wrong
GLANCE = 4e-3  # s between the postures that are looked at
WORTH = 1e-3  # of the cost: what the others must gain by a step that is refused for a few
EXCESS = 1.2  # times what a window in the middle costs per sample: it fits as well as others
MOST = 0.5  # of the windows, which may be left out in all
RETURNS = 3  # times that windows may come back
ROUNDS, TRIES = 8, 3  # of steps of every start by itself; of the length of each
GROWTH, SHRINKAGE = 8.0, 0.1


@dataclass(frozen=True)
class Stretch:
    """A window that is left out: from when to when, of which of a model's recordings."""

    recording: str
    begin: float
    end: float

    def holds(self, recording: str, time: float) -> bool:
        """Return whether an instant lies in it."""
        return recording == self.recording and self.begin <= time < self.end


class TrustedWindows:
    """The windows that a search goes by, and the others where it left them.

    Args:
      problem: All windows.

    Attributes:
      problem: Those that count.
      left_out: The others, from their beginning to their end.
    """

    def __init__(self, problem: WindowedProblem) -> None:
        self.problem = problem
        self._whole = problem
        self.kept: IndexArray = np.arange(len(problem.windows))  # none of a problem in chunks
        self._starts = list(problem.initial_point().starts)
        self._returns = RETURNS

    @property
    def left_out(self) -> tuple[Stretch, ...]:
        """The windows that do not count."""
        out = np.setdiff1d(np.arange(len(self._whole.windows)), self.kept)
        return tuple(_stretch(self._whole.windows[k]) for k in out.tolist())

    def in_words(self) -> str:
        """Say what is left out, and why; nothing where nothing is."""
        out = [f"{one.recording} at {one.begin:.3g} s" for one in self.left_out]
        if not out:
            return ""
        what = f"{len(out)} of {len(self._starts)} windows"
        return f"; {what} left out, whose simulation leaps, as at a touch-down: {listed(out)}"

    def whole(self, point: Point) -> Point:
        """The point with the starts of all windows."""
        starts = list(self._starts)
        for k, start in zip(self.kept.tolist(), point.starts, strict=True):
            starts[k] = start
        return Point(point.theta, tuple(starts))

    def without_hindrance(self, solution: Solution) -> Point | None:
        """Leave out what holds a search up that ended; where to go on, ``None`` where nothing does.

        Raises:
          StopRequestedError: A rollout was interrupted.
        """
        if solution.linearization is None or not len(self.kept):
            return None
        out = holding_up(self.problem, solution.point, solution.linearization)
        kept = self.kept[~out]
        if not out.any() or len(kept) < MOST * len(self._starts) or self._loses_one(kept):
            return None
        return self._go_on_with(kept, self.whole(solution.point))

    def with_returned(self, solution: Solution) -> Point | None:
        """Take back what fits as well as the others; where to go on, ``None`` where nothing does.

        Raises:
          StopRequestedError: A rollout was interrupted.
        """
        out = np.setdiff1d(np.arange(len(self._whole.windows)), self.kept)
        if not len(out) or not self._returns:
            return None
        self._returns -= 1
        point = self.whole(solution.point)
        others = _with_noise(part_of(self._whole, out), self.problem)
        costs = window_costs(self.problem, solution.point) / _sizes(self.problem)
        began = Point(point.theta, tuple(point.starts[k] for k in out.tolist()))
        settled, found = settled_starts(others, began)
        for k, start in zip(out.tolist(), settled.starts, strict=True):
            self._starts[k] = start
        back = out[found / _sizes(others) <= EXCESS * np.median(costs)]
        if not len(back):
            return None
        return self._go_on_with(np.union1d(self.kept, back), self.whole(solution.point))

    def leave_unseen(self, linearization: Linearization) -> None:
        """Do without derivatives by starts that a simulation tells and no residual does.

        So it is with rollers of a wheel: moved as far as their prior goes, they change the
        residuals of a window, all together, by less than one standard deviation.
        """
        grams = iter(linearization.grams)
        for group in self.problem.groups if len(self.kept) else ():
            first = group.windows[0]
            own = np.stack([np.diag(next(grams))[-1 - first.n_start : -1] for _ in group.windows])
            told = np.max(own * [one.spread**2 for one in group.windows], axis=0) - 1.0
            if first.n_start and first.reader.carried.any():
                group.tell_by(first.seen & ~(first.reader.carried & (told < 1.0)))

    def _loses_one(self, kept: IndexArray) -> bool:
        """Return whether no window of some recording would be left."""
        names = [window.sequence.name for window in self._whole.windows]
        return len({names[k] for k in kept.tolist()}) < len(set(names))

    def _go_on_with(self, kept: IndexArray, point: Point) -> Point:
        self.kept, self._starts = kept, list(point.starts)
        self.problem = _with_noise(part_of(self._whole, kept), self.problem)
        return Point(point.theta, tuple(point.starts[k] for k in kept.tolist()))


def may_land(problem: WindowedProblem) -> bool:
    """Return whether a free body may meet something in windows whose starts are estimated."""
    return any(
        one.n_start and FREE in one.model.jnt_type and can_touch(one.model)
        for one in problem.windows
    )


def landing(problem: WindowedProblem, point: Point) -> BoolArray:
    """Marks of the windows in whose simulation bodies touch that do not in every posture, (w,)."""
    seen = []
    for group, batches in zip(problem.groups, problem.simulated(point), strict=True):
        model = group.builder.build(point.theta).model
        every = max(1, round(GLANCE / model.opt.timestep))
        for batch, rollout in zip(group.batches, batches, strict=True):
            for run in run_slices(batch.steps):
                postures = rollout.states[run][::every, 1 : 1 + model.nq]
                times = np.arange(float(len(postures)))
                seen.append(touches_at(model, times, postures, base_is_known=True).pairs())
    always = set.intersection(*(pairs for each in seen for pairs in each)) if any(seen) else set()
    return np.array([any(pairs - always for pairs in each) for each in seen], dtype=np.bool_)


def _with_noise(problem: WindowedProblem, before: WindowedProblem) -> WindowedProblem:
    """The problem with the noise levels and the counts of another."""
    problem.noise = dict(before.noise)
    problem.evaluations, problem.jacobians = before.evaluations, before.jacobians
    return problem


def _sizes(problem: WindowedProblem) -> FloatArray:
    """Measured values of each window, (w,)."""
    return np.array([float(window.n_samples) for window in problem.windows])


def _stretch(window: WindowSimulation) -> Stretch:
    begin = window.window.start
    return Stretch(window.sequence.name, begin, begin + float(window.window.samples.times.max()))


def holding_up(problem: WindowedProblem, point: Point, here: Linearization) -> BoolArray:
    """Marks of the windows without which a search would go on from where it ended, (w,).

    None where it would not, or where more than a few break their promises.

    Raises:
      StopRequestedError: A rollout was interrupted.
    """
    none = np.zeros(len(here.grams), dtype=bool)
    if not any(one.n_start and can_touch(one.model) for one in problem.windows):
        return none
    costs, may = None, None
    for damping in DAMPINGS:
        trial, promised = damped_step(problem, point, here, damping)
        if promised.sum() <= WORTH * here.cost:
            return none
        costs = window_costs(problem, point) if costs is None else costs
        gained = costs - window_costs(problem, trial)
        gained = np.nan_to_num(gained, nan=-np.inf)
        if _keeps(promised, gained):
            continue
        may = landing(problem, point) if may is None else may
        out = _breaking(promised, gained, may)
        kept = gained[~out].sum()
        if out.any() and out.sum() <= FEW * len(out) and kept > WORTH * here.cost:
            return out
    return none


def _keeps(promised: FloatArray, gained: FloatArray) -> bool:
    """Return whether windows gain what they promise together."""
    return bool(gained.sum() >= GOOD_GAIN * promised.sum() > 0.0)


def _breaking(promised: FloatArray, gained: FloatArray, may: BoolArray) -> BoolArray:
    """Marks of the fewest windows without which the others gain what they promise together.

    None where that takes more than those that ``may`` be left out, (w,).
    """
    out = np.zeros(len(promised), dtype=bool)
    for k in np.flatnonzero(may)[np.argsort((gained - promised)[may])]:
        out[k] = True
        if _keeps(promised[~out], gained[~out]):
            return out
    return np.zeros_like(out)


def settled_starts(problem: WindowedProblem, point: Point) -> tuple[Point, FloatArray]:
    """A point of lower cost at the same parameters, and the windows' costs there.

    At given parameters windows know nothing of each other: each takes or refuses its own step, with
    a damping of its own.

    Raises:
      StopRequestedError: A rollout was interrupted.
    """
    p, costs = point.theta.size, window_costs(problem, point)
    damping = np.full(len(costs), DAMPINGS[0])
    for _ in range(ROUNDS):
        grams, before = problem.linearize(point).grams, costs.sum()
        starts, waiting = list(point.starts), np.ones(len(costs), dtype=bool)
        for _ in range(TRIES):
            moved = [
                start + _start_step(gram, p, own) if wants else start
                for start, gram, own, wants in zip(
                    point.starts, grams, damping, waiting, strict=True
                )
            ]
            tried = window_costs(problem, Point(point.theta, tuple(moved)))
            better = waiting & (tried < costs)
            for k in np.flatnonzero(better):
                starts[k] = moved[k]
            costs = np.where(better, tried, costs)
            damping *= np.where(better, SHRINKAGE, np.where(waiting, GROWTH, 1.0))
            waiting &= ~better
            if not waiting.any():
                break
        point = Point(point.theta, tuple(starts))
        if not before - costs.sum() > WORTH * before:
            break
    return point, costs


def _start_step(gram: FloatArray, p: int, damping: float) -> FloatArray:
    """The damped step of one window's start, (n_start,)."""
    block = gram[p:-1, p:-1] + damping * np.diag(gram[p:-1, p:-1].diagonal())
    return np.asarray(-np.linalg.solve(block, gram[p:-1, -1]))
