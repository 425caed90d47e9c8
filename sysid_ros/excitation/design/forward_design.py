# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions for fits by simulation: where no torque is measured, under the robot's own servos.

Three searches follow each other. The first makes motions that show torque, to learn from. The
second follows the learned effects of the parameters (:mod:`.learned_rows`), the better half going
on after every round. The third goes on with the best motion and takes only steps that make the
exact criterion smaller (:mod:`.forward_information`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import priors
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.excitation.design.criterion import criterion
from sysid_ros.excitation.design.demands import MovingRobot
from sysid_ros.excitation.design.descent import Descent, descend
from sysid_ros.excitation.design.design import (
    WEAK,
    DesignSettings,
    Told,
    chosen_parameters,
    described,
    design_task,
    kept_throughout,
    random_start,
    rest_spline,
)
from sysid_ros.excitation.design.designed_motion import DesignedMotion
from sysid_ros.excitation.design.feasibility import refuse_infeasible
from sysid_ros.excitation.design.fitted_parameters import FittedParameters
from sysid_ros.excitation.design.forward_information import ForwardInformation
from sysid_ros.excitation.design.learned_rows import LearnedRows, servo_lags
from sysid_ros.excitation.design.planned_recording import PlannedRecording, SimulatedFit
from sysid_ros.excitation.design.task import DesignTask, Goal

SERVO_PIECE = 0.2  # s between knots: delays and armature show where motion turns quickly
BY_SIMULATION = "a fit by simulation"
_STARTS = 3  # at the most
_ROUND = 5  # steps that what was learned is trusted for
_FIRST, _SECOND = 0.3, 0.6  # shares of the budget at which the first two searches end
_SEARCHING = 0.93  # share of the budget for all searches
_SHRINK, _LAST_RADIUS = 0.3, 2e-3  # of steps after a round that made nothing better


def design_servo_motion(
    robot: MovingRobot,
    fit: SimulatedFit,
    settings: DesignSettings | None,
    *,
    after: FittedParameters | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> DesignedMotion:
    """Design a motion for a fit that simulates the robot under its own servos.

    Args:
      robot: What moves, each joint with a position servo, and what the motion must keep.
      fit: What the recording is for.
      settings: How to search; ``rate`` is that of the fit's sensors.
      after: What an earlier fit of the same parameters knows.
      progress: Told the share of the search that is done, 0 to 1.

    Returns:
      The best motion that was found; it keeps every demand.

    Raises:
      ExcitationError: A joint has no servo or its position is not measured, or the demands leave
        no motion.
    """
    settings, began = settings or DesignSettings(piece=SERVO_PIECE), time.process_time()
    fit, joints, home = fit.noisier(settings.noise_factor), robot.joints, robot.home
    with single_blas_thread(), RolloutPool(None) as rollouts:
        planned = PlannedRecording(fit, joints, home, settings.duration, rollouts)
        spline = rest_spline(settings)
        torque = replace(settings, interest=())  # whose parameters have other names
        task = design_task(robot, torque, family=spline)
        refuse_infeasible(task, np.zeros((spline.free, len(joints))), joints)
        lags = servo_lags(planned.model, home, joints, planned.servos)
        worth = SimulationWorth(
            ForwardInformation(planned, spline, task.start),
            LearnedRows(
                task.information, lags, spline, task.start,
                acceleration=float(robot.demands.limits.acceleration.min()),
            ),
            planned.positions,
        )  # fmt: skip
        best, task = _searched(task, worth, fit, settings, after, progress, began)
        simulated = replace(robot, model=planned.model)
        best = replace(best, c=kept_throughout(task, best.c, simulated))
        told = Told(tuple(fit.params.scalar_names()), fit.values, BY_SIMULATION)
        motion = described(task, joints, spline, best, told, worth.forward(best.c), after)
        progress(1.0)
        return motion


@dataclass(frozen=True)
class SimulationWorth:
    """The worth of motions for a fit by simulation; see :class:`.task.Worth`."""

    forward: ForwardInformation  # the exact one
    rows: LearnedRows  # the learned one
    positions: tuple[str, ...]  # by joint the signal that shows its position

    def data(self, c: FloatArray) -> FloatArray:
        """Information (p, p) of a motion as it was learned."""
        return self.rows.information(c)

    def slope(self, c: FloatArray, weight: FloatArray) -> FloatArray:
        """The slope (k, n) of tr(W data)."""
        return self.rows.slope(c, weight)

    def exact(self, goal: Goal, c: FloatArray) -> float:
        """The criterion of a motion's exact information."""
        information = goal.prior + self.forward(c)
        return criterion(goal.criterion, information, goal.scale, goal.interest)[0]

    def learn(self, c: FloatArray) -> FloatArray:
        """Learn from a motion; return the mean squares (p,) of its slopes in units of noise."""
        response = self.forward.response(c)
        self.rows.learn(c, response, self.positions)
        squares = [np.mean(one**2, axis=0) for one in response.slopes.values()]
        return np.asarray(np.mean(squares, axis=0))


def _searched(
    task: DesignTask, worth: SimulationWorth, fit: SimulatedFit, settings: DesignSettings,
    after: FittedParameters | None, progress: Callable[[float], None], began: float,
) -> tuple[Descent, DesignTask]:  # fmt: skip
    """Go down in three searches; return the motion that is best exactly, and its problem."""

    def until(share: float) -> Callable[[Descent], bool]:
        def go_on(_: Descent) -> bool:
            used = (time.process_time() - began) / (_SEARCHING * settings.budget)
            progress(min(used, 1.0))
            return used < share

        return go_on

    generator = np.random.default_rng(settings.seed)
    starts = [random_start(task, generator) for _ in range(min(settings.starts, _STARTS))]
    shown = [descend(task, one, steps=_ROUND, go_on=until(_FIRST)) for one in starts]
    squares = np.mean([worth.learn(one.c) for one in shown], axis=0)
    task = task.valued(_goal(fit, squares, settings, after), worth)
    tried = [
        descend(task, Descent(one.c, task.cost(one.c)), steps=_ROUND, go_on=until(_SECOND))
        for one in shown
    ]
    best = min(tried, key=lambda one: one.cost)
    best, go_on = replace(best, cost=worth.exact(task.goal, best.c)), until(1.0)
    while go_on(best) and best.radius > _LAST_RADIUS and best.steps < settings.steps:
        worth.learn(best.c)
        best = _next(task, worth, best, go_on)
    return best, task


def _next(
    task: DesignTask, worth: SimulationWorth, best: Descent, go_on: Callable[[Descent], bool]
) -> Descent:
    """A better motion after some learned steps, or the same one with shorter steps to come."""
    here = replace(best, cost=task.cost(best.c), converged=False)
    found = descend(task, here, steps=_ROUND, go_on=go_on)
    cost = worth.exact(task.goal, found.c)
    if cost < best.cost:
        return replace(found, cost=cost)
    worth.learn(found.c)
    return replace(best, radius=_SHRINK * best.radius, steps=found.steps)


def _goal(
    fit: SimulatedFit, squares: FloatArray, settings: DesignSettings, after: FittedParameters | None
) -> Goal:
    """Errors count in what changes one sample by its noise, along the motions seen so far."""
    scale = np.where(
        squares > 0.0, 1.0 / np.sqrt(np.maximum(squares, 1e-300)), fit.params.bounds.width
    )
    known = np.diag(priors(fit.params)[1]) if after is None else after.information
    interest = chosen_parameters(tuple(fit.params.scalar_names()), settings.interest)
    return Goal(settings.criterion, scale, interest, np.diag((WEAK / scale) ** 2) + known)
