# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions that show inertia and friction the best, within what a robot may do.

The expected information of measured torque is made large by its gradient (as Swevers, Ganseman,
Tukel, De Schutter & Van Brussel, IEEE Trans. Robotics and Automation 13, 1997, for Fourier
series), here for splines that are at rest at both ends, under limits that hold at all times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.excitation import ExcitationError
from sysid_ros.excitation.design.clearance import Clearance
from sysid_ros.excitation.design.criterion import CRITERIA, CriterionName, criterion
from sysid_ros.excitation.design.demands import MovingRobot
from sysid_ros.excitation.design.descent import Descent, descend
from sysid_ros.excitation.design.designed_motion import DesignedMotion
from sysid_ros.excitation.design.feasibility import refuse_infeasible
from sysid_ros.excitation.design.fitted_parameters import FittedParameters
from sysid_ros.excitation.design.rest_spline import MotionFamily, RestSpline
from sysid_ros.excitation.design.servo_limits import kept_by_servos
from sysid_ros.excitation.design.task import DesignTask, Goal
from sysid_ros.excitation.design.torque_information import (
    FRICTION_SHARE,
    JointMotion,
    TorqueInformation,
)

_NOISE_SHARE = 0.01  # of the effort limit, where the noise of torque is not known
BY_TORQUE = "measured torque"
WEAK = 1e-3  # prior in units of scale, that makes every design finite
_FIRST_STEPS = 5  # of every start, before the better half goes on
_FINER = 4  # times as many instants at which the best motion keeps torque and distances
_REFINING_STEPS = 10  # with those, from where the motion is drawn in to keep them
_SEARCHING = 0.75  # of the budget, before that
_DRAWN_IN, _DRAWINGS = 0.99, 20  # share of a motion that breaks a demand; how often at the most


@dataclass(frozen=True, kw_only=True)
class DesignSettings:
    """Settings of the search for a motion."""

    duration: float = 20.0  # s
    piece: float = 0.4  # s between knots; a joint's acceleration changes linearly in between
    # one of ``CRITERIA``: "DA" and "D" (all parameters), "A" (their mean), "worst"
    criterion: CriterionName = "DA"
    # words that occur in the names of the parameters that count; all if empty
    interest: tuple[str, ...] = field(default=())
    rate: float = 500.0  # Hz at which torque is sampled
    starts: int = 10  # random motions to begin with
    steps: int = 60  # steps from one start at the most
    budget: float = 60.0  # CPU seconds at the most
    seed: int = 0  # of the random motions
    noise_factor: float = 1.0  # by which noise counts more than is assumed where nothing tells it

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise ExcitationError(f"criterion is {self.criterion!r}; it can be {CRITERIA}")
        positive = (self.duration, self.piece, self.rate, self.budget, self.noise_factor)
        if not all(np.isfinite(value) and value > 0 for value in positive):
            raise ExcitationError(
                "duration, piece, rate, budget and noise_factor of a design must be positive"
            )
        if self.duration < 8 * self.piece:
            raise ExcitationError(
                f"a motion of {self.duration:g} s has fewer than 8 pieces of {self.piece:g} s: "
                "lengthen it or shorten the pieces"
            )
        if self.starts < 1 or self.steps < 1:
            raise ExcitationError("a design needs at least one start and one step")


def design_motion(
    robot: MovingRobot,
    settings: DesignSettings | None = None,
    *,
    torque_noise: FloatArray | None = None,
    after: FittedParameters | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> DesignedMotion:
    """Design a motion for identification by inverse dynamics.

    Args:
      robot: What moves, and what the motion must keep.
      settings: How to search.
      torque_noise: Standard deviations (n,) of measured torque; 1 % of the effort limits if None.
        ``settings.noise_factor`` multiplies them.
      after: Parameters of a fit, which count instead of all that torque can show, with what is
        known about them already.
      progress: Told the share of the search that is done, 0 to 1.

    Returns:
      The best motion that was found; it keeps every demand.

    Raises:
      ExcitationError: The demands leave no motion, and why.
    """
    settings = settings or DesignSettings()
    spline = rest_spline(settings)
    task = design_task(robot, settings, torque_noise, after, spline)
    refuse_infeasible(task, np.zeros((task.spline.free, len(robot.joints))), robot.joints)
    best = search(task, settings, progress)
    best = replace(best, c=kept_throughout(task, best.c, robot))
    progress(1.0)
    told = Told(task.information.names, task.information.values)
    return described(task, robot.joints, spline, best, told, task.data(best.c), after)


def information_about(
    parameters: FittedParameters,
    motion: DesignedMotion,
    robot: MovingRobot,
    settings: DesignSettings,
    torque_noise: FloatArray | None,
) -> FloatArray:
    """The information (p, p) about some parameters in the torque along a motion.

    The motion may be designed for others, such as base parameters.
    """
    known = replace(robot, model=parameters.model)
    task = design_task(known, settings, torque_noise, parameters, motion.spline)
    return task.data(motion.control)


def search(
    task: DesignTask, settings: DesignSettings, progress: Callable[[float], None]
) -> Descent:
    """Go down from several starts, of which the better half goes on after every round.

    The last steps look at more instants, so that nothing of the motion is lost where torque or
    distances break a demand between two of them.
    """
    began = time.process_time()
    generator = np.random.default_rng(settings.seed)
    states = [random_start(task, generator) for _ in range(settings.starts)]
    total = settings.steps * (1 + settings.starts.bit_length())
    done = 0

    def go_on(state: Descent, share: float = _SEARCHING, most: int = settings.steps) -> bool:
        used = (time.process_time() - began) / settings.budget
        progress(min(1.0, max(used, (done + state.steps) / total)))
        return used < share and state.steps < most

    steps = _FIRST_STEPS
    while len(states) > 1:
        for i, state in enumerate(states):
            states[i] = descend(task, state, steps=steps, go_on=go_on)
            done += states[i].steps - state.steps
        states = sorted(states, key=lambda state: state.cost)[: (len(states) + 1) // 2]
    best = descend(task, states[0], steps=settings.steps, go_on=go_on)
    most = best.steps + min(_REFINING_STEPS, settings.steps)
    return _refined(task.finer(_FINER), best, partial(go_on, share=1.0, most=most))


def _refined(task: DesignTask, best: Descent, go_on: Callable[[Descent], bool]) -> Descent:
    """A motion drawn in until it keeps the demands of a task, and improved from there."""
    c = _drawn_in(best.c, task.keeps)
    start = Descent(c, task.cost(c), steps=best.steps)
    return descend(task, start, steps=_REFINING_STEPS, go_on=go_on)


def design_task(
    robot: MovingRobot,
    settings: DesignSettings,
    torque_noise: FloatArray | None = None,
    after: FittedParameters | None = None,
    family: MotionFamily | None = None,
) -> DesignTask:
    """Set up the problem of :func:`design_motion`, with the same arguments.

    ``family`` may hold other motions than splines, to compare with.
    """
    model, joints, home, limits = robot.model, robot.joints, robot.home, robot.demands.limits
    if torque_noise is None:
        finite = np.isfinite(limits.effort)
        torque_noise = np.where(finite, _NOISE_SHARE * np.where(finite, limits.effort, 0.0), 1.0)
    noise = settings.noise_factor * torque_noise
    reach = JointMotion(
        0.5 * (limits.upper - limits.lower)[None], limits.velocity[None], limits.acceleration[None]
    )
    information = TorqueInformation(
        model,
        joints,
        home,
        noise,
        reach=reach,
        friction_velocity=FRICTION_SHARE * float(limits.velocity.min()),
        fitted=after,
    )
    spline = family or rest_spline(settings)
    samples = 4 * round(settings.duration / settings.piece)
    share = settings.rate * settings.duration / samples
    scale = _scale(information, reach, robot.start, after)
    prior = np.diag((WEAK / scale) ** 2)
    if after is not None:
        prior = prior + after.information
    interest = chosen_parameters(information.names, settings.interest)
    goal = Goal(settings.criterion, scale, interest, prior)
    clearance = Clearance(model, joints, home, robot.demands.clearance)
    return DesignTask(
        spline,
        information,
        clearance,
        robot.demands,
        goal,
        robot.start,
        samples=samples,
        share=share,
    )


@dataclass(frozen=True)
class Told:
    """The parameters that a recording tells."""

    names: tuple[str, ...]  # of p parameters
    values: FloatArray  # theirs, (p,)
    by: str = BY_TORQUE  # where that comes from


def described(
    task: DesignTask,
    joints: tuple[str, ...],
    spline: RestSpline,
    best: Descent,
    told: Told,
    data: FloatArray,
    after: FittedParameters | None,
) -> DesignedMotion:
    """A motion of a task with what it promises by the information (p, p) of its recording."""
    goal, control = task.goal, best.c
    total = goal.prior + data
    unit = np.outer(goal.scale, goal.scale)
    covariance = np.linalg.inv(total * unit) * unit
    shown = np.diag(data) > 0.0
    sizes = 1.0 / np.sqrt(np.diag(data)[shown])
    eigenvalues = np.linalg.eigvalsh(data[np.ix_(shown, shown)] * np.outer(sizes, sizes))
    return DesignedMotion(
        joints=joints,
        start=task.start,
        spline=spline,
        control=control,
        names=told.names,
        nominal=told.values,
        standard_errors=np.sqrt(np.diag(covariance)),
        errors_before=None if after is None else after.standard_errors,
        condition=float(np.sqrt(eigenvalues[-1] / max(eigenvalues[0], 1e-300))),
        cost=criterion(goal.criterion, total, goal.scale, goal.interest)[0],
        steps=best.steps,
        told_by=told.by,
        information=data,
    )


def random_start(task: DesignTask, generator: np.random.Generator) -> Descent:
    """A smooth random motion that keeps its demands, as large as they allow."""
    limits, spline = task.demands.limits, task.spline
    knots = np.linspace(0.0, 1.0, spline.free)
    waves = generator.integers(1, max(3, spline.free // 4), (4, len(task.start)))
    phases = generator.uniform(0.0, 2.0 * np.pi, waves.shape)
    angle = 2.0 * np.pi * waves * knots[:, None, None] + phases
    shape = np.sin(angle).mean(axis=1) * 0.5 * (limits.upper - limits.lower)
    size = 1.0
    for _ in range(60):
        if task.keeps(size * shape):
            return Descent(size * shape, task.cost(size * shape))
        size *= 0.8
    return Descent(np.zeros_like(shape), np.inf)


def kept_throughout(task: DesignTask, control: FloatArray, robot: MovingRobot) -> FloatArray:
    """A motion drawn in until it keeps its demands at all times, not only at some instants.

    Where servos move the joints, those keep the robot's own limits, too.
    """

    def keeps(c: FloatArray) -> bool:
        try:
            refuse_infeasible(task, c, robot.joints)
        except ExcitationError:
            return False
        return True

    control = _drawn_in(control, keeps)
    control = kept_by_servos(
        robot.model, robot.joints, robot.home, task.demands, task.spline, control
    )
    refuse_infeasible(task, control, robot.joints)
    return control


def _drawn_in(control: FloatArray, keeps: Callable[[FloatArray], bool]) -> FloatArray:
    """A motion made smaller, a little at a time, until it keeps its demands or is no use."""
    for _ in range(_DRAWINGS):
        if keeps(control):
            break
        control = _DRAWN_IN * control
    return control


def rest_spline(settings: DesignSettings) -> RestSpline:
    """The splines among which a design chooses."""
    return RestSpline(settings.duration, round(settings.duration / settings.piece))


def _scale(
    information: TorqueInformation,
    reach: JointMotion,
    start: FloatArray,
    after: FittedParameters | None,
) -> FloatArray:
    """Sizes in which errors count: what gives the noise of one sample at the fastest motion.

    Parameters of a fit that torque does not show at all count in what is known about them.
    """
    generator = np.random.default_rng(1)
    drawn = [generator.uniform(-1.0, 1.0, (200, len(start))) * part for part in reach]
    rows = information.information(JointMotion(start + drawn[0], *drawn[1:]), 1.0 / 200.0)
    sizes = np.diag(rows).copy()
    if after is not None:
        errors = after.standard_errors
        known = np.where(np.isfinite(errors) & (errors > 0.0), errors, 1.0)
        sizes = np.where(sizes > 0.0, sizes, 1.0 / known**2)
    return np.asarray(1.0 / np.sqrt(sizes))


def chosen_parameters(names: tuple[str, ...], words: tuple[str, ...]) -> IndexArray | None:
    """The parameters (k,) with one of some words in their names; all, as None, without words.

    Raises:
      ExcitationError: There is none.
    """
    if not words:
        return None
    found = [i for i, name in enumerate(names) if any(word in name for word in words)]
    if not found:
        raise ExcitationError(
            f"no parameter of the design has {' or '.join(map(repr, words))} in its name; "
            f"there are {', '.join(names)}"
        )
    return np.array(found, dtype=np.intp)
