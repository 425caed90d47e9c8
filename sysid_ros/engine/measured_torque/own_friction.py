# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The law of dry friction at reversals: as sharp as MuJoCo allows, or as soft as the model has it.

Real joints change the sign of their friction with their velocity. A simulated robot is one that
has MuJoCo's own law, by default so soft that the sign changes some 10 ms before the velocity does.
Gears that bend, and lubricants, make friction whole only from some speed on; the solver parameters
of the sharp law say from which, joint by joint.

One fit has one law for all robots. Each has its own friction; where they need other laws, too, the
fit says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import SLIDE
from sysid_ros.engine.inverse_dynamics import (
    Estimate,
    Evidence,
    Settings,
    doubtful_estimate,
    robot_of,
    total_torques,
)
from sysid_ros.engine.measured_torque.rows import TorqueProblem, about, with_creep, with_own_law
from sysid_ros.engine.measured_torque.settled_sums import SettledSums, linearised_sums
from sysid_ros.engine.measured_torque.torque_sums import values_at
from sysid_ros.engine.regressor import friction_of, friction_signs, row_weights, thin
from sysid_ros.errors import StopRequestedError

_LEFT = 0.8  # of squared residuals, at most, that the model's own law leaves to be taken
_SAME = 0.005  # of a law's width, by which another differs too little to matter
_ROUNDS = 8  # at most, with the model's own law about the one before
_CREEPS = (0.02, 0.04, 0.07, 0.1, 0.15, 0.2)  # rad/s, and a fifth of it in m/s
_SLIDE = 0.2  # m/s per rad/s
_WHOLE_LATER = 0.9  # of squared residuals, at most, that friction which is whole later leaves
_CREEP_ROUNDS = 3


@dataclass(frozen=True)
class Law:
    """Of dry friction: sharp and whole from some speeds on, by joint, or the model's own."""

    sharp: bool
    creep: Mapping[str, float] = field(default_factory=dict)

    def words(self, joint: str) -> str:
        """Words for a joint's friction by it."""
        if not self.sharp:
            return "MuJoCo's own"
        return f"whole from {self.creep[joint]:g}" if joint in self.creep else "whole at once"


_SHARP = Law(True)


@dataclass(frozen=True)
class FrictionFit:
    """An estimate with one of the laws of friction."""

    problem: TorqueProblem  # with that law
    settings: Settings  # of the regression
    sums: SettledSums  # of the recordings
    found: Estimate  # what they lead to

    @property
    def values(self) -> FloatArray:
        """Of the declared parameters, (n,)."""
        return values_at(self.problem.declared, self.found.x, self.found.gains)[0]

    @cached_property
    def models(self) -> dict[str, mujoco.MjModel]:
        """The model with them, by condition."""
        declared = self.problem.declared
        return {one: declared.compiled(self.values, one) for one in declared.robots}

    def model(self) -> mujoco.MjModel:
        """The model of the first robot."""
        return self.models[self.problem.declared.robots[0]]


def with_settled_friction(
    problem: TorqueProblem,
    settings: Settings,
    values: FloatArray,
    should_stop: Callable[[], bool] | None,
) -> FrictionFit:
    """Estimate with the sharp law, or the model's own if that explains torque better.

    By the sharp law friction is whole from the speed on, of each joint, that explains torque best.
    The range of velocities of the latter follows from friction and inertia: the equations are
    linearised about those of the round before.

    Args:
      problem: With the sharp law.
      settings: Of the regression.
      values: Of the declared parameters, (n,), to begin at.
      should_stop: Asked before every round.

    Raises:
      StopRequestedError: ``should_stop`` asked for it.
    """
    end_if_asked(should_stop)
    fit = _fitted(problem, settings, values)
    notes = _disagreements(fit)
    fit = _with_settled_law(fit, settings, should_stop)
    return replace(fit, problem=replace(fit.problem, notes=(*fit.problem.notes, *notes)))


def _with_settled_law(
    fit: FrictionFit, settings: Settings, should_stop: Callable[[], bool] | None
) -> FrictionFit:
    law = fit.model()
    if not _is_softer(law, fit):
        return _with_settled_creep(fit, settings, should_stop)
    settings = replace(settings, reversals_count=False)
    for _ in range(_ROUNDS):
        end_if_asked(should_stop)
        own = about(with_own_law(fit.problem, law), fit.values)
        fit = _fitted(own, settings, fit.values, fit.sums.evidence)
        law, before = fit.model(), law
        if is_same_law(before, law):
            break
    return fit


def _with_settled_creep(
    fit: FrictionFit, settings: Settings, should_stop: Callable[[], bool] | None
) -> FrictionFit:
    """The fit with the speeds from which on friction is whole that explain torque best."""
    if fit.problem.declared.has_laws:
        return fit
    for _ in range(_CREEP_ROUNDS):
        end_if_asked(should_stop)
        creep = _best_creep(fit.model(), fit)
        if creep == fit.problem.creep:
            break
        problem = with_creep(fit.problem, creep)
        fit = _fitted(problem, settings, fit.values, fit.sums.evidence)
    return fit


def _best_creep(model: mujoco.MjModel, fit: FrictionFit) -> dict[str, float]:
    """The speeds by joint, of those whose friction is clearly better whole later."""
    laws = [_SHARP, *_later_laws(model)]
    left = np.sum(list(_left_over(fit, laws).values()), axis=0)
    found = {}
    for name, dof in _rubbing(model).items():
        best = 1 + int(left[1:, dof].argmin())
        if left[best, dof] < _WHOLE_LATER * left[0, dof]:
            found[name] = laws[best].creep[name]
    return found


def _rubbing(model: mujoco.MjModel) -> dict[str, int]:
    """Hinges and slides with dry friction, and their degrees of freedom."""
    dofs = {model.joint(j).name: int(model.jnt_dofadr[j]) for j in range(model.njnt)}
    return {
        name: dof
        for name, dof in dofs.items()
        if name and model.joint(name).type[0] >= SLIDE and model.dof_frictionloss[dof] > 0.0
    }


def _later_laws(model: mujoco.MjModel) -> list[Law]:
    """The sharp law with friction that is whole from some speed on, one for each speed."""
    slides = {name: model.joint(name).type[0] == SLIDE for name in _rubbing(model)}
    return [
        Law(True, {name: speed * (_SLIDE if slide else 1.0) for name, slide in slides.items()})
        for speed in _CREEPS
    ]


def _disagreements(fit: FrictionFit) -> tuple[str, ...]:
    """A sentence about joints for which no one law explains the torque of all robots."""
    declared = fit.problem.declared
    if declared.has_laws or len({robot_of(one) for one in declared.robots}) < 2:
        return ()
    model = fit.model()
    laws = [_SHARP, Law(False), *_later_laws(model)]
    by_robot: dict[str, FloatArray] = {}
    for condition, left in _left_over(fit, laws).items():
        robot = robot_of(condition)
        by_robot[robot] = by_robot.get(robot, 0.0) + left
    clauses = []
    for name, dof in _rubbing(model).items():
        left = np.array([one[:, dof] for one in by_robot.values()])
        best = left.argmin(axis=1)
        if not np.any(np.all(_WHOLE_LATER * left <= left.min(axis=1)[:, None], axis=0)):
            pairs = zip(by_robot, best.tolist(), strict=True)
            told = ", ".join(f"{robot} {laws[law].words(name)}" for robot, law in pairs)
            clauses.append(f"{name} ({told})")
    if not clauses:
        return ()
    return (
        "Robots differ in the speed (rad/s, of slides m/s) from which on dry friction is whole: "
        f"{'; '.join(clauses)}. One fit takes one law for all; fit them apart where friction near "
        "reversals counts.",
    )


def end_if_asked(should_stop: Callable[[], bool] | None) -> None:
    """End a fit that is asked to.

    Raises:
      StopRequestedError: It is.
    """
    if should_stop is not None and should_stop():
        raise StopRequestedError("the fit was stopped before its end, and has no result")


def _fitted(
    problem: TorqueProblem, settings: Settings, values: FloatArray, before: Evidence | None = None
) -> FrictionFit:
    sums = linearised_sums(problem, settings, values, before)
    found = doubtful_estimate(problem.declared.model, sums.free, settings, sums.evidence)
    return FrictionFit(problem, settings, sums, found)


def _is_softer(model: mujoco.MjModel, fit: FrictionFit) -> bool:
    """Tell whether the own law of what was found explains torque better than the sharp one."""
    sharp, own = np.sum(list(_left_over(fit, [_SHARP, Law(False)]).values()), axis=0)
    used = (np.asarray(model.dof_frictionloss) > 0.0) & (sharp > 0.0)
    return bool(used.any() and np.mean(own[used] / sharp[used]) < _LEFT)


def is_same_law(one: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Tell whether the own laws of two models go over in the same range of velocities.

    Its width is the friction over the inertia that it works against, which are found with it.
    """
    first, second = (friction_of(model, None, sharp=False).width for model in (one, other))
    return bool(np.allclose(first, second, rtol=_SAME, atol=0.0))


def _left_over(fit: FrictionFit, laws: Sequence[Law]) -> dict[str, FloatArray]:
    """Squared residuals (laws, nv) by condition, with its best friction by each law.

    All else is as it was fitted.
    """
    nv, moments = fit.problem.declared.model.nv, dict[str, FloatArray]()
    evidence, found = fit.sums.evidence, fit.found
    recorded = [fit.problem.recordings[one.recording].condition for one in evidence.smooth]
    for stretch, condition in zip(evidence.smooth, recorded, strict=True):
        motion, model = stretch.motion, fit.models[condition]
        theta = fit.sums.free.theta(found.x, condition)
        velocity, (total,) = total_torques(
            fit.problem.regressor, stretch, evidence.filters, theta[None]
        )
        table = np.hstack(
            [
                friction_signs(model, motion.qvel, motion.qacc, sharp=one.sharp, creep=one.creep)
                for one in (Law(True, fit.problem.creep), *laws)
            ]
        )
        signs = np.zeros((len(stretch.times), (len(laws) + 1) * nv))
        thin(row_weights(evidence.filters, stretch.inner), stretch.every, table, signs)
        own = signs[:, :nv] * model.dof_frictionloss + velocity * model.dof_damping
        torque = stretch.torque / found.gains - total + own
        known = np.isfinite(torque)
        sums = moments.setdefault(condition, np.zeros((len(laws), nv, 4, 4)))
        for law, sign in zip(sums, np.split(signs, len(laws) + 1, axis=1)[1:], strict=True):
            rows = np.stack([sign, velocity, np.ones_like(sign), torque], axis=-1)
            rows = np.where(known[:, :, None], rows, 0.0)
            law += np.einsum("njp,njq->jpq", rows, rows)
    return {condition: _without_friction(sums) for condition, sums in moments.items()}


def _without_friction(moments: FloatArray) -> FloatArray:
    """Squared residuals (laws, nv) with the best viscous and dry friction.

    Args:
      moments: Of the law's sign, velocity, one, and torque, (laws, nv, 4, 4).
    """
    left = np.full(moments.shape[:2], np.inf)
    for used in ([0, 1, 2], [0, 2], [1, 2]):  # neither kind of friction is negative
        normal, side = moments[..., used, :][..., used], moments[..., used, 3]
        size = np.trace(normal, axis1=-2, axis2=-1)[..., None, None]
        best = np.linalg.solve(normal + 1e-12 * size * np.eye(len(used)) + 1e-300, side[..., None])
        allowed = np.all(best[..., :-1, 0] >= 0.0, axis=-1)
        squares = moments[..., 3, 3] - np.einsum("ljp,ljp->lj", best[..., 0], side)
        left = np.where(allowed, np.minimum(left, squares), left)
    return np.asarray(np.minimum(left, moments[..., 3, 3]))
