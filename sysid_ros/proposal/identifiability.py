# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters that some recordings determine, tried on the recordings themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.dataset import Dataset, noise_of
from sysid_ros.diagnosis import recorded, still_joints
from sysid_ros.engine.derivatives import EXACT, Sensitivities
from sysid_ros.engine.least_squares import (
    Point,
    loss_named,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import FEW_STEPS, WindowedProblem, squares_left, tolerating
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.engine.uncertainty import first_noise
from sysid_ros.engine.windows import WindowGroup, model_group
from sysid_ros.errors import listed
from sysid_ros.experiment import Experiment
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.chosen_forward import Answers, System, forward
from sysid_ros.proposal.freed_gains import (
    with_gains_beside_damping,
    with_gains_for_masses,
    with_time_constants_for_delays,
)
from sysid_ros.proposal.search_steps import nearer
from sysid_ros.robots import build_parameters

_MOST_SECONDS = 8.0  # of windows that are tried; more says the same again
_MOST_STEPS = 400_000  # of simulation, times columns of the Jacobian: less of robots with more
_MOST_ROLLED = 40_000  # likewise where a column is a rollout of its own, not an exact derivative
_MOST_DIFFERENCED = 80_000  # likewise where friction makes it one in most windows
_FEWEST, _FEWEST_ROLLED = 4, 3  # windows
_DOUBTED = 0.1  # share of the steps, whose contacts leave all to rollouts
_MOST_OF_IT = 0.5  # of a window's steps, beyond which it is differenced whole
_WHOLE = 3.0  # s; longer windows are cut for this
_ROLLED, _DIFFERENCED = 0.25, 0.5  # s; likewise where columns are rollouts, or most are
_STEPS_TO_COMPARE = 4  # of a fit that is only compared with another
_ROUNDS = 2  # in which what is on demand has to prove itself, each a step nearer
_NAMED = 6  # joints in a sentence
_LEAST_NOISE = 1e-3  # of that tenth


@dataclass(frozen=True)
class Determined:
    """The parameters that some recordings determine."""

    answers: list[bool]  # one per candidate
    rolled: bool  # whether derivatives are rollouts of their own
    notes: tuple[str, ...] = ()  # sentences about joints that hardly move
    # attribute and pattern of candidates that are alike and kept as one
    together: frozenset[tuple[str, str]] = frozenset()


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


def left_by(
    experiment: Experiment, dataset: Dataset, offered: Sequence[Candidate], window: float | None
) -> float:
    """The rest of the recordings that some steps from the model's values leave, in units of noise.

    Args:
      experiment: Has the candidates as its parameters, as for :func:`determined`.
      dataset: Its recordings.
      offered: The candidates; those on demand stay.
      window: Length of windows [s].

    Returns:
      A root of squares, not finite where the model cannot be simulated.
    """
    params = _as_offered(build_parameters(experiment, dataset.training[0].spec), offered)
    with RolloutPool(None) as rollouts, single_blas_thread():
        size = (min(window or _WHOLE, _WHOLE), _MOST_STEPS, _FEWEST)
        problem = _problem(experiment, dataset, params, rollouts, size)
        point = problem.initial_point()
        for _ in range(_STEPS_TO_COMPARE):
            point = nearer(problem, point, offered)
        return float(np.sqrt(problem.cost(point)))


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
        if doubtful:
            short = _problem(experiment, dataset, params, rollouts, few)
            if not _stays_exact(short):
                exact = not touching
                size = (min(length, _DIFFERENCED), _MOST_DIFFERENCED, _FEWEST_ROLLED)
                problem = _problem(experiment, dataset, params, rollouts, size)
            _learn(problem, short)
        if exact:
            found = _in_rounds(problem, offered)
            return Determined(found.kept, rolled=False, together=found.together)
        for one, parameter in zip(offered, list(params.values()), strict=True):
            parameter.frozen = one.on_demand
        problem = _problem(experiment, dataset, params, rollouts, few)
        if doubtful and all(one is None or one.gave_up for one in short.exact):
            problem = problem.with_groups(problem.groups)  # no derivatives but differences
        usual = [one for one in offered if not one.on_demand]
        problem = _with_levels(problem, problem.initial_point())
        tried = _tried(problem, problem.initial_point(), usual)
    answers = iter(tried.kept if tried else [True] * len(usual))
    chosen = [False if one.on_demand else next(answers) for one in offered]
    return Determined(chosen, rolled=True)


def _stays_exact(problem: WindowedProblem) -> bool:
    """Return whether derivatives are exact where bodies touch too, which Jacobians show.

    Steps that are not covered, of which each takes simulations for every column, are counted first,
    window by window, until they are too many. Then those windows are differentiated that have more
    than a few, as some of their steps may have no derivative.
    """
    lacking: list[tuple[WindowGroup, Sensitivities, int, float]] = []
    for group, exact in zip(problem.groups, problem.exact, strict=True):
        for place in range(len(group.windows)):
            known = _of_one(problem, group, place, tolerated=1.0)
            if exact is None or known is None or known.gave_up:
                return False
            exact.learn_from(known)
            tolerating(problem)
            lacking += [(group, exact, place, share) for share in known.uncovered.tolist()]
            if sum(share for *_, share in lacking) > _DOUBTED * len(problem.windows):
                if lacking[-1][-1] > _MOST_OF_IT:
                    exact.give_up("most steps have contacts that it does not know")
                return False
    differenced = 0.0
    for group, exact, place, share in lacking:
        if share <= FEW_STEPS:
            continue
        known = _of_one(problem, group, place, tolerated=FEW_STEPS)
        if known is None or known.gave_up:
            exact.give_up("steps that it does not know have no derivative")
            return False
        differenced += known.doubted
        if differenced > _DOUBTED * len(problem.windows):
            return False
    return True


def _of_one(
    problem: WindowedProblem, group: WindowGroup, place: int, tolerated: float
) -> Sensitivities | None:
    """The derivatives of one window alone, which were asked for."""
    alone = tolerating(problem.with_groups([group.select([place])], "auto"), tolerated)
    alone.differentiate(alone.initial_point())
    return alone.exact[0]


def _learn(problem: WindowedProblem, other: WindowedProblem) -> None:
    """Take over what derivatives on other windows of the same models found out about these."""
    for own, known in zip(problem.exact, other.exact, strict=True):
        if own is not None and known is not None:
            own.learn_from(known)


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


def _in_rounds(problem: WindowedProblem, offered: Sequence[Candidate]) -> Answers:
    """Answers a step from the model's values; if something is demanded, a step nearer again."""
    point = problem.initial_point()
    problem = _with_levels(problem, point)
    answers = usual = Answers([not one.on_demand for one in offered])
    before = None
    for number in range(_ROUNDS):
        point = nearer(problem, point, offered)
        if number == 0:
            offered, point = with_gains_for_masses(problem, point, offered, nearer)
            offered, point = with_time_constants_for_delays(problem, point, offered, nearer)
            offered, point = with_gains_beside_damping(
                problem, point, offered, nearer, steps=_ROUNDS
            )
        if point is before:  # where all is known already
            break
        before, problem = point, _with_levels(problem, point)
        answers = _tried(problem, point, offered) or usual
        if not any(
            answer and (one.on_demand or one.guessed)
            for answer, one in zip(answers.kept, offered, strict=True)
        ):
            break
    return answers


def _tried(problem: WindowedProblem, point: Point, offered: Sequence[Candidate]) -> Answers | None:
    """Answers at one point; none where the model cannot be simulated."""
    system = System.of(problem.linearize(point))
    usable = np.all(np.isfinite(system.hessian)) and np.isfinite(system.open)
    return forward(system, offered) if usable and len(system.hessian) == len(offered) else None


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
    noise = _at_least_its_own(groups, first_noise(groups, {}))
    problem = WindowedProblem(groups, params, rollouts, loss=loss_named("linear"), noise=noise)
    return tolerating(problem)


def _at_least_its_own(
    groups: Sequence[WindowGroup], levels: Mapping[str, float]
) -> dict[str, float]:
    """The levels, but those of signals that are hardly more than their noise as large as that.

    So are lateral accelerations of what thrusts along one axis. What nothing explains of them would
    hide what a parameter explains of the others.
    """
    found = dict(levels)
    windows = (window for group in groups for window in group.windows)
    for sequence in {id(window.sequence): window.sequence for window in windows}.values():
        for signal in sequence.signals:
            samples = sequence.sensordata.data[:, signal.measured_column]
            told = np.isfinite(samples)
            own = noise_of(sequence.sensordata.times[told], samples[told])
            found[signal.name] = max(found[signal.name], own)
    return found


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


def _with_levels(problem: WindowedProblem, point: Point) -> WindowedProblem:
    """Take for noise what the model leaves of each signal, at most a tenth of its spread."""
    noise = dict(problem.noise)
    for name, (square, count) in squares_left(problem, point).items():
        left = np.sqrt(square / max(count, 1))
        if np.isfinite(left):
            most = noise[name]
            noise[name] = max(min(most, float(left)), _LEAST_NOISE * most, 1e-12)
    return problem.with_noise(noise)
