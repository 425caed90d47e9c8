# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters that some recordings determine, tried on the recordings themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis import recorded, still_joints
from sysid_ros.engine.derivatives import EXACT
from sysid_ros.engine.least_squares import (
    Linearization,
    Point,
    eliminate_starts,
    loss_named,
    start_solutions,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import WindowedProblem, squares_left, tolerating
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.engine.uncertainty import first_noise
from sysid_ros.engine.windows import WindowGroup, model_group
from sysid_ros.errors import listed
from sysid_ros.experiment import Experiment
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.freed_gains import (
    DEMANDED,
    with_gains_beside_damping,
    with_gains_for_masses,
)
from sysid_ros.robots import build_parameters

_MOST_SECONDS = 8.0  # of windows that are tried; more says the same again
_MOST_STEPS = 400_000  # of simulation, times columns of the Jacobian: less of robots with more
_MOST_ROLLED = 40_000  # likewise where a column is a rollout of its own, not an exact derivative
_MOST_DIFFERENCED = 80_000  # likewise where friction makes it one in most windows
_FEWEST, _FEWEST_ROLLED = 4, 3  # windows
_DOUBTED = 0.1  # share of the steps, whose contacts leave all to rollouts
_WHOLE = 3.0  # s; longer windows are cut for this
_ROLLED, _DIFFERENCED = 0.25, 0.5  # s; likewise where columns are rollouts, or most are
_ROUNDS = 2  # in which what is on demand has to prove itself, each a step nearer
# Standard error over the typical size, at most, with what a fit is expected to leave as noise. What
# is left at a wrong value so moves others by a third of their errors at most. On demand a guess
# must not do.
_DETERMINED = 3.0
_DETERMINED_ON_DEMAND = 0.5
_OWN_SHARE = 0.02  # of a parameter's effect that no parameter before it has, at the least
_DEMANDED = {"kp": DEMANDED, "kv": DEMANDED}  # as below
_DEMANDED_OTHERS = 0.05  # of what is left unexplained that a parameter on demand must explain
_LEAST_LEFT = 1e-4  # of the squares that are open, of which a fit leaves some
_SHARES = (1.0, 0.3)  # of the step that are tried
_NAMED = 6  # joints in a sentence
_LEAST_NOISE = 1e-3  # of that tenth


@dataclass(frozen=True)
class Determined:
    """The parameters that some recordings determine."""

    answers: list[bool]  # one per candidate
    rolled: bool  # whether derivatives are rollouts of their own
    notes: tuple[str, ...] = ()  # sentences about joints that hardly move


def determined(
    experiment: Experiment,
    dataset: Dataset,
    offered: Sequence[Candidate],
    window: float | None,
    *,
    touching: bool,
) -> Determined:
    """Choose those of some parameters that the recordings determine, given those before.

    The Gauss-Newton system one step from the model's own values, with windows and sensors as in a
    fit, is taken parameter by parameter: one is kept if what it does to the signals is its own, and
    large beside what the model leaves open. A candidate on demand must also explain a share of
    that.

    Where derivatives are rollouts of their own, one for each column, a few short windows are tried
    from the model's own values, and nothing on demand.

    Args:
      experiment: Has the candidates as its parameters, one scalar each, without priors, in order
        but that those of one element stand together.
      dataset: Its recordings.
      offered: The candidates.
      window: Length of windows [s].
      touching: Whether bodies touch in the recorded postures.

    Returns:
      Its answers are all but those on demand where the model cannot be simulated. Joints that
      hardly move have no parameters, as ``check`` would say of them.
    """
    tried = _determined(experiment, dataset, offered, window, touching)
    still = still_joints(recorded(dataset.training))
    answers = [
        answer and not (one.element == "joint" and one.name in still)
        for answer, one in zip(tried.answers, offered, strict=True)
    ]
    names = listed(sorted(map(repr, still)), _NAMED)
    note = f"moved too little to tell their parameters: {names}" if still else ""
    return replace(tried, answers=answers, notes=(note,) if note else ())


def _determined(
    experiment: Experiment,
    dataset: Dataset,
    offered: Sequence[Candidate],
    window: float | None,
    touching: bool,
) -> Determined:
    params = _as_offered(build_parameters(experiment, dataset.training[0].spec), offered)
    with RolloutPool(None) as rollouts, single_blas_thread():
        length = min(window or _WHOLE, _WHOLE)
        problem = _problem(experiment, dataset, params, rollouts, (length, _MOST_STEPS, _FEWEST))
        few = (min(length, _ROLLED), _MOST_ROLLED, _FEWEST_ROLLED)
        exact = EXACT in problem.derivative_sources().values()
        doubtful = exact and (touching or _noslip(problem))
        if doubtful and not _stays_exact(_problem(experiment, dataset, params, rollouts, few)):
            exact = not touching
            size = (min(length, _DIFFERENCED), _MOST_DIFFERENCED, _FEWEST_ROLLED)
            problem = _problem(experiment, dataset, params, rollouts, size)
        if exact:
            return Determined(_in_rounds(problem, offered), rolled=False)
        for one, parameter in zip(offered, list(params.values()), strict=True):
            parameter.frozen = one.on_demand
        problem = _problem(experiment, dataset, params, rollouts, few)
        usual = [one for one in offered if not one.on_demand]
        problem = _with_levels(problem, problem.initial_point())
        tried = _tried(problem, problem.initial_point(), usual)
    answers = iter(tried or [True] * len(usual))
    chosen = [False if one.on_demand else next(answers) for one in offered]
    return Determined(chosen, rolled=True)


def _stays_exact(problem: WindowedProblem) -> bool:
    """Return whether derivatives are exact where bodies touch too, which a Jacobian shows."""
    problem.differentiate(problem.initial_point())
    return all(each is not None and each.doubted <= _DOUBTED for each in problem.exact)


def _noslip(problem: WindowedProblem) -> bool:
    """Return whether dry friction is solved anew behind all else, which no derivative follows."""
    return any(group.batches[0].model.opt.noslip_iterations > 0 for group in problem.groups)


def _as_offered(params: ParameterDict, offered: Sequence[Candidate]) -> ParameterDict:
    """Parameters in the order of the candidates; a file has those of one element together."""
    elements: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(offered):
        elements.setdefault((one.element, one.name), []).append(number)
    written = [number for numbers in elements.values() for number in numbers]
    frozen = [one for one in params.values() if one.frozen]  # how a robot is mounted
    free = [one for one in params.values() if not one.frozen]
    named = dict(zip(written, free, strict=True))
    ordered = [*(named[k] for k in range(len(offered))), *frozen]
    return ParameterDict({one.name: one for one in ordered})


def _in_rounds(problem: WindowedProblem, offered: Sequence[Candidate]) -> list[bool]:
    """Answers a step from the model's values; if something is demanded, a step nearer again."""
    point = problem.initial_point()
    problem = _with_levels(problem, point)
    answers = usual = [not one.on_demand for one in offered]
    before = None
    for number in range(_ROUNDS):
        point = _nearer(problem, point, offered)
        if number == 0:
            offered, point = with_gains_for_masses(problem, point, offered, _nearer)
            offered, point = with_gains_beside_damping(
                problem, point, offered, _nearer, steps=_ROUNDS
            )
        if point is before:  # where all is known already
            break
        before, problem = point, _with_levels(problem, point)
        answers = _tried(problem, point, offered) or usual
        if not any(
            answer and (one.on_demand or one.guessed)
            for answer, one in zip(answers, offered, strict=True)
        ):
            break
    return answers


def _tried(problem: WindowedProblem, point: Point, offered: Sequence[Candidate]) -> list[bool]:
    """Answers at one point; none where the model cannot be simulated."""
    system = _System.of(problem.linearize(point))
    usable = np.all(np.isfinite(system.hessian)) and np.isfinite(system.open)
    return _forward(system, offered) if usable and len(system.hessian) == len(offered) else []


def _problem(
    experiment: Experiment,
    dataset: Dataset,
    params: ParameterDict,
    rollouts: RolloutPool,
    size: tuple[float, int, int],
) -> WindowedProblem:
    """The problem of a fit with some windows: their length [s], most steps, fewest windows."""
    length, steps, fewest = size
    groups = [
        _some(
            model_group(
                group,
                params,
                window_length=length,
                estimate_starts=True,
                velocity_filter=experiment.initial_state.velocity_filter,
            ),
            params.size,
            (length, steps // len(dataset.training), fewest),
        )
        for group in dataset.training
    ]
    noise = first_noise(groups, {})
    problem = WindowedProblem(groups, params, rollouts, loss=loss_named("linear"), noise=noise)
    return tolerating(problem)


def _some(group: WindowGroup, parameters: int, size: tuple[float, int, int]) -> WindowGroup:
    """The group with as many of its windows as say enough, spread over all recordings."""
    length, steps, fewest = size
    batch = group.batches[0]
    columns = parameters + batch.spread.shape[1] + 1
    cost = columns * length / float(batch.model.opt.timestep)
    most = max(fewest, round(min(_MOST_SECONDS / length, steps / cost)))
    count = len(group.windows)
    places = np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(int))
    return group.select(places.tolist())


def _nearer(problem: WindowedProblem, point: Point, offered: Sequence[Candidate]) -> Point:
    """One step towards the recordings, so that a guessed delay does not hide the rest.

    Parameters on demand stay; the others are held by their typical sizes.
    """
    system = _System.of(problem.linearize(point))
    moved = [i for i, one in enumerate(offered) if not one.on_demand]
    if not moved or not np.all(np.isfinite(system.hessian)):
        return point
    typical = np.array([offered[i].typical for i in moved])
    block = system.hessian[np.ix_(moved, moved)] + np.diag(typical**-2)
    step = np.zeros(len(point.theta))
    step[moved] = -np.linalg.solve(block, system.gradient[moved])
    before = problem.cost(point)
    for share in _SHARES:
        theta = np.clip(point.theta + share * step, problem.lower, problem.upper)
        tried = Point(theta, point.starts)
        if problem.cost(tried) < before:
            return tried
    return point


def _with_levels(problem: WindowedProblem, point: Point) -> WindowedProblem:
    """Take for noise what the model leaves of each signal, at most a tenth of its spread."""
    noise = dict(problem.noise)
    for name, (square, count) in squares_left(problem, point).items():
        left = np.sqrt(square / max(count, 1))
        if np.isfinite(left):
            most = noise[name]
            noise[name] = max(min(most, float(left)), _LEAST_NOISE * most, 1e-12)
    return problem.with_noise(noise)


@dataclass(frozen=True)
class _System:
    """The normal equations without starts, and what is open before any step."""

    hessian: FloatArray  # (p, p)
    gradient: FloatArray  # (p,)
    open: float  # sum of squares in units of noise

    @staticmethod
    def of(linearization: Linearization) -> _System:
        reduced = eliminate_starts(linearization)
        p = len(reduced.gradient)
        left = 0.0
        grams = linearization.grams
        for gram, solved in zip(grams, start_solutions(grams, p, 0.0), strict=True):
            left += float(gram[-1, -1] - gram[p:-1, -1] @ solved[:, p])
        return _System(reduced.hessian, reduced.gradient, left)

    def share_left(self, offered: Sequence[Candidate]) -> float:
        """The share of what is open that one more step would leave, none on demand."""
        moved = [i for i, one in enumerate(offered) if not one.on_demand]
        typical = np.array([offered[i].typical for i in moved])
        own, slope = self.hessian[np.ix_(moved, moved)], self.gradient[moved]
        step = -np.linalg.solve(own + np.diag(typical**-2), slope)
        left = self.open + float(step @ (2.0 * slope + own @ step))
        return min(1.0, max(left / self.open, _LEAST_LEFT)) if self.open > 0.0 else 1.0


def _forward(system: _System, offered: Sequence[Candidate]) -> list[bool]:
    """Keep each parameter that tells something beyond those kept before it.

    What was refused on demand is tried again once another one explains what it was small beside.
    So is what displaces a joint as another one does that explains more.
    """
    chosen, waiting = _Chosen.of(system, offered), list(range(len(offered)))
    while waiting:
        found = []
        for i in waiting:
            others = [
                j
                for j in waiting
                if j != i and j not in found and offered[j].displaces == offered[i].displaces != ""
            ]
            if not chosen.explains_more(i, others, offered) and chosen.take(i, offered[i]):
                found.append(i)
        if not any(offered[i].on_demand for i in found):
            break
        waiting = [i for i in waiting if offered[i].on_demand and i not in found]
    return [i in chosen.kept for i in range(len(offered))]


@dataclass
class _Chosen:
    """The parameters that were kept, in units of their typical sizes."""

    information: FloatArray  # (p, p)
    slope: FloatArray  # (p,)
    noise: float  # share of what is open that a fit leaves
    open: float  # squares that those kept do not explain
    kept: list[int]

    @staticmethod
    def of(system: _System, offered: Sequence[Candidate]) -> _Chosen:
        typical = np.array([one.typical for one in offered])
        information = system.hessian * np.outer(typical, typical)
        left = system.share_left(offered)
        return _Chosen(information, system.gradient * typical, left, system.open, [])

    def explains_more(self, i: int, others: Sequence[int], offered: Sequence[Candidate]) -> bool:
        """Tell whether one of some parameters is good, and explains more than the first."""
        own = self._told(i, offered[i])[1]
        told = [self._told(j, offered[j]) for j in others]
        return any(good and explained > own for good, explained in told)

    def take(self, i: int, one: Candidate) -> bool:
        """Keep a parameter if it tells something of its own; tell whether it does."""
        good, explained = self._told(i, one)
        if good:
            self.kept.append(i)
            self.open -= explained
        return good

    def _told(self, i: int, one: Candidate) -> tuple[bool, float]:
        """True of a parameter that tells something of its own, and the squares that it explains."""
        own, kept = float(self.information[i, i]), self.kept
        left, push = own, float(self.slope[i])
        if kept:
            cross = self.information[kept, i]
            solved = np.linalg.solve(self.information[np.ix_(kept, kept)], cross)
            left -= float(cross @ solved)
            push -= float(self.slope[kept] @ solved)
        most = _DETERMINED_ON_DEMAND if one.on_demand else _DETERMINED
        good = left > _OWN_SHARE**2 * own and left > self.noise / most**2
        explained = push**2 / left if good else 0.0
        demanded = _DEMANDED.get(one.attribute, _DEMANDED_OTHERS) * max(self.open, 0.0)
        if one.on_demand and explained <= demanded:
            good = False
        return good or (one.guessed and left > 0.0), explained
