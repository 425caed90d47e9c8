# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics that is linear in what is unknown, for every robot a model could be.

A body is a set of point masses that may not be negative. Every such set is a body that could exist,
so that least squares under that condition asks of data whether *any* robot with the model's
kinematics could have moved like this, however wrong the model's masses and frictions are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.diagnosis.fits.bounded_fit import bounded_fit
from sysid_ros.engine.elements import SCALAR, bodies_above, rotation_matrix

_STICTION_SHARE = 0.02  # of the usual speed, below which dry friction changes its sign smoothly
_NEAR_ORIGIN = 0.3  # of a body's extent; its centre of mass has no direction then
AT_ONCE = 256  # instants, so that tables of wrenches stay small
_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of coordinates, in moments of mass


@dataclass(frozen=True)
class BodyMotion:
    """Motion of every joint and body at n instants, in world axes, about the tree's centre of mass.

    ``joints`` are qpos (n, nq), qvel and qacc (n, nv).
    ``arm`` (n, nbody, 3) leads from there to the body's origin, ``turn`` (n, nbody, 3, 3) is its
    orientation; ``omega``, ``alpha`` and ``acceleration`` (n, nbody, 3) are its angular velocity,
    angular acceleration and the acceleration of its origin minus gravity; ``axes`` (n, nv, 6) the
    motion per unit of each degree of freedom.
    """

    joints: tuple[FloatArray, FloatArray, FloatArray]
    arm: FloatArray
    turn: FloatArray
    omega: FloatArray
    alpha: FloatArray
    acceleration: FloatArray
    axes: FloatArray

    def under(self, more: FloatArray, model: mujoco.MjModel) -> BodyMotion:
        """The same motion where gravity is more by (3,) m/s^2, from which bodies may be kept."""
        if not more.any():
            return self
        felt = (1.0 - model.body_gravcomp)[:, None] * more
        return replace(self, acceleration=self.acceleration - felt)


class Bodies(Protocol):
    """Bodies on some joints, as far as they are known."""

    @property
    def dofs(self) -> tuple[int, ...]:
        """The joints' degrees of freedom."""

    def torques(self, model: mujoco.MjModel, motion: BodyMotion, dofs: IndexArray) -> FloatArray:
        """Torque on degrees of freedom per unit of each non-negative unknown, (n, dofs, p)."""


@dataclass(frozen=True)
class PointMasses:
    """The sets of points that the bodies on some joints may have mass in.

    The wrench that moves a point is a polynomial of second degree in its place.
    """

    dofs: tuple[int, ...]  # the joints' degrees of freedom
    # by body, the means over each of its sets of 1, place, and the :data:`_PAIRS` of the place's
    # coordinates, (sets of the body, 10)
    moments: Mapping[int, FloatArray]
    moved: FloatArray  # whether a degree of freedom moves a set's body, (nv, sets)

    @classmethod
    def of(
        cls, model: mujoco.MjModel, dofs: Sequence[int], silent: Collection[int] = ()
    ) -> PointMasses:
        """The points of a model's bodies.

        Of bodies that are welded to each other, as fingers that nothing measures are to their hand,
        the heaviest has all points, which say what more there is, and the others' centres.

        Args:
          model: The model.
          dofs: Degrees of freedom of some kinematic trees.
          silent: Joints whose torque is below its noise: what they move is as good as welded.
        """
        above = {body: ancestors(model, body) for body in moving_masses(model)}
        bodies = [body for body, own in above.items() if {*dofs} & {*own}]
        mass, weld = model.body_mass, _welded(model, silent)
        heaviest = {int(weld[body]): body for body in sorted(bodies, key=lambda body: mass[body])}
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        moments, moved = {}, []
        for body in heaviest.values():
            turn, origin = data.xmat[body].reshape(3, 3), data.xpos[body]
            welded = [one for one in bodies if weld[one] == weld[body] and one != body]
            centres = [[(data.xipos[one] - origin) @ turn] for one in welded]
            sets = [*_points(model, body), *centres]
            moments[body] = np.array([_moments(np.array(points)) for points in sets])
            moved += [moves_by(model, body)] * len(sets)
        found = np.array(moved).T if moved else np.zeros((model.nv, 0))
        return cls(tuple(dofs), moments, found)

    def only(self, body: int) -> PointMasses:
        """The points of one body; none if it has none, or is welded to a heavier one."""
        owners = np.repeat([*self.moments], [len(one) for one in self.moments.values()])
        own = {one: moments for one, moments in self.moments.items() if one == body}
        return PointMasses(self.dofs, own, self.moved[:, owners == body])

    def torques(self, model: mujoco.MjModel, motion: BodyMotion, dofs: IndexArray) -> FloatArray:
        """Joint torques that move one kilogram in each set of points, (n, dofs, sets)."""
        moved = self.moved[dofs]
        torque: FloatArray = np.zeros((len(motion.arm), *moved.shape))
        for first in range(0, len(torque) if self.moments else 0, AT_ONCE):
            rows = slice(first, first + AT_ONCE)
            wrench = _wrenches(motion, rows, list(self.moments))
            mean = [wrench[:, i] @ own.T for i, own in enumerate(self.moments.values())]
            torque[rows] = (motion.axes[rows][:, dofs] @ np.concatenate(mean, axis=2)) * moved
        return torque


def regressor(
    model: mujoco.MjModel,
    motion: BodyMotion,
    bodies: Bodies | None = None,
    rows: Sequence[int] | None = None,
) -> FloatArray:
    """Joint torque per unit of every unknown: point masses, armature, damping, friction, springs.

    Args:
      model: Only its kinematics matter, and where its masses are.
      motion: Of its bodies.
      bodies: On all joints of some kinematic trees; point masses of the model's if left out.
      rows: Degrees of freedom on which the torque is wanted; all of these trees if left out.

    Returns:
      (n, nv or rows, p), of the unknowns of these trees; each is non-negative.
    """
    bodies = PointMasses.of(model, range(model.nv)) if bodies is None else bodies
    wanted = np.arange(model.nv) if rows is None else np.array(rows, dtype=np.intp)
    of_bodies = bodies.torques(model, motion, wanted)
    own = own_torques(model, *motion.joints, bodies.dofs if rows is None else rows)[:, wanted]
    if not (model.opt.density or model.opt.viscosity):
        return np.concatenate([of_bodies, own], axis=2)
    resistance = _resistance(model, *motion.joints[:2])[:, wanted, None]
    return np.concatenate([of_bodies, own, resistance], axis=2)


def _resistance(model: mujoco.MjModel, qpos: FloatArray, qvel: FloatArray) -> FloatArray:
    """The force against air or water as the model has them, (n, nv)."""
    data, found = mujoco.MjData(model), np.empty_like(qvel)
    for place, motion in enumerate(zip(qpos, qvel, strict=True)):
        data.qpos[:], data.qvel[:] = motion
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        found[place] = -data.qfrc_fluid
    return found


def own_torques(
    model: mujoco.MjModel,
    qpos: FloatArray,
    qvel: FloatArray,
    qacc: FloatArray,
    dofs: Sequence[int] | None = None,
) -> FloatArray:
    """Joint torque per unit of what acts on one joint alone: armature, damping, friction, spring.

    On a free body that is the air's resistance.

    Args:
      model: The model.
      qpos: (n, nq).
      qvel: (n, nv).
      qacc: (n, nv).
      dofs: On which it acts; all of the model if left out.

    Returns:
      (n, nv, p).
    """
    columns = []
    usual = np.sqrt(np.mean(qvel**2, axis=0)) + 1e-9
    for dof in range(model.nv) if dofs is None else dofs:
        if int(model.jnt_type[model.dof_jntid[dof]]) not in SCALAR:
            columns.append(_alone(qvel[:, dof], dof, model.nv))
            continue
        friction = np.tanh(qvel[:, dof] / (_STICTION_SHARE * usual[dof]))
        for values in (qacc[:, dof], qvel[:, dof], friction):
            columns.append(_alone(values, dof, model.nv))
        joint = int(model.dof_jntid[dof])
        if model.jnt_stiffness[joint].max() > 0.0:
            spring = model.qpos_spring[model.jnt_qposadr[joint]]
            columns.append(_alone(qpos[:, model.jnt_qposadr[joint]] - spring, dof, model.nv))
    return np.stack(columns, axis=2)


def non_negative_fit(matrix: FloatArray, target: FloatArray) -> FloatArray:
    """Least squares with non-negative unknowns.

    Args:
      matrix: (m, p).
      target: (m,).

    Returns:
      (p,).
    """
    size = np.linalg.norm(matrix, axis=0)
    used = size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)
    solution: FloatArray = np.zeros(matrix.shape[1])
    joined = np.column_stack([matrix[:, used] / size[used], target])
    gram = joined.T @ joined
    solution[used] = bounded_fit(gram[:-1, :-1], gram[:-1, -1]) / size[used]
    return solution


def body_motion(
    model: mujoco.MjModel, qpos: FloatArray, qvel: FloatArray, qacc: FloatArray
) -> BodyMotion:
    """Kinematics of all bodies, under the model's gravity.

    Args:
      model: The model.
      qpos: (n, nq).
      qvel: (n, nv).
      qacc: (n, nv).
    """
    data = mujoco.MjData(model)
    n, nbody = len(qpos), model.nbody
    centre, arm = np.empty((n, nbody, 3)), np.empty((n, nbody, 3))
    velocity, acceleration = np.empty((n, nbody, 6)), np.empty((n, nbody, 6))
    turn, axes = np.empty((n, nbody, 9)), np.empty((n, model.nv, 6))
    given, wanted = (data.qpos, data.qvel, data.qacc), (qpos, qvel, qacc)
    kept = (centre, arm, turn, velocity, acceleration, axes)
    seen = (data.subtree_com, data.xpos, data.xmat, data.cvel, data.cacc, data.cdof)
    for i in range(n):
        for into, values in zip(given, wanted, strict=True):
            into[:] = values[i]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        for own, values in zip(kept, seen, strict=True):
            own[i] = values
    arm -= centre[:, model.body_rootid]
    omega, alpha = velocity[..., :3], acceleration[..., :3]
    speed = velocity[..., 3:] + cross(omega, arm)
    # From spatial to classical acceleration of the body's origin (Featherstone 2008, 2.11).
    of_origin = acceleration[..., 3:] + cross(alpha, arm) + cross(omega, speed)
    of_origin += model.body_gravcomp[:, None] * model.opt.gravity  # what floats weighs nothing
    joints = (qpos, qvel, qacc)
    return BodyMotion(joints, arm, turn.reshape(n, nbody, 3, 3), omega, alpha, of_origin, axes)


def _wrenches(motion: BodyMotion, rows: slice, bodies: Sequence[int]) -> FloatArray:
    """Moment about the tree's centre and force per unit of each moment of mass, (m, b, 6, 10)."""
    turn, arm = motion.turn[rows][:, bodies], motion.arm[rows][:, bodies]
    omega, alpha = motion.omega[rows][:, bodies], motion.alpha[rows][:, bodies]
    axes = np.moveaxis(turn, -1, 0)  # what a unit along each axis of the body is in the world
    force = np.empty((4, *arm.shape))  # per unit of mass and of place
    force[0] = motion.acceleration[rows][:, bodies]
    force[1:] = cross(alpha, axes) + cross(omega, cross(omega, axes))
    found: FloatArray = np.zeros((10, *arm.shape[:2], 6))
    found[:4, ..., 3:] = force
    found[:4, ..., :3] = cross(arm, force)
    found[1:4, ..., :3] += cross(axes, force[0])
    both = cross(axes[:, None], force[None, 1:])
    for k, (i, j) in enumerate(_PAIRS):
        found[4 + k, ..., :3] = both[i, j] if i == j else both[i, j] + both[j, i]
    return np.moveaxis(found, 0, -1)


def _moments(points: FloatArray) -> FloatArray:
    """Means of 1, place and products of coordinates over points (k, 3), (10,)."""
    products = np.stack([points[:, i] * points[:, j] for i, j in _PAIRS], axis=1)
    return np.concatenate([[1.0], points.mean(axis=0), products.mean(axis=0)])


def cross(one: FloatArray, other: FloatArray) -> FloatArray:
    """Cross products along the last axis; ``np.cross`` takes several times as long."""
    x, y, z = one[..., 0], one[..., 1], one[..., 2]
    u, v, w = other[..., 0], other[..., 1], other[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def moving_masses(model: mujoco.MjModel) -> list[int]:
    """Numbers of the bodies that have a mass and move."""
    return [
        body
        for body in range(1, model.nbody)
        if model.body_mass[body] > 0.0 and model.body_weldid[body] != 0
    ]


def ancestors(model: mujoco.MjModel, body: int) -> list[int]:
    """Every degree of freedom that moves a body."""
    dofs: list[int] = []
    for above in bodies_above(model, body):
        first = int(model.body_dofadr[above])
        dofs += range(first, first + int(model.body_dofnum[above]))
    return dofs


def moves_by(model: mujoco.MjModel, body: int) -> FloatArray:
    """One for every degree of freedom that moves a body, else zero, (nv,)."""
    return np.isin(np.arange(model.nv), ancestors(model, body)).astype(float)


def _welded(model: mujoco.MjModel, silent: Collection[int]) -> list[int]:
    """The body that each is fixed to, where some joints count as fixed."""
    found: list[int] = []
    for body in range(model.nbody):
        own = int(model.body_weldid[body])
        first = int(model.body_dofadr[own])
        moving = range(first, first + int(model.body_dofnum[own]))
        fixed = bool(moving) and all(int(model.dof_jntid[dof]) in silent for dof in moving)
        found.append(found[int(model.body_parentid[own])] if fixed else own)
    return found


def _points(model: mujoco.MjModel, body: int) -> list[list[FloatArray]]:
    """Return places for a body's mass, in sets that share it evenly.

    They are the body's origin, its centre, twice as far out, and pairs c +- s_i e_i on its axes of
    inertia. A third of the mass in each pair has the body's own inertia for
    s_i^2 = 3 (tr(I)/2 - I_i)/m. The centre may so be nearer or farther than the model says but not
    in another direction, which would be an offset of the joint. Where it lies on the origin its
    direction is unknown, and each point of a pair stands for itself.
    """
    centre = np.array(model.body_ipos[body])
    inertia = np.asarray(model.body_inertia[body])
    reach = np.sqrt(3.0 * np.maximum(inertia.sum() / 2.0 - inertia, 0.0) / model.body_mass[body])
    axes = (rotation_matrix(model.body_iquat[body]) * reach).T
    alone = [[np.zeros(3)], [centre], [2.0 * centre]]
    if np.linalg.norm(centre) < _NEAR_ORIGIN * reach.max():
        return [*alone, *([centre + sign * axis] for axis in axes for sign in (1.0, -1.0))]
    return [*alone, *([centre + axis, centre - axis] for axis in axes)]


def _alone(values: FloatArray, dof: int, nv: int) -> FloatArray:
    """A force that acts on one degree of freedom only."""
    column: FloatArray = np.zeros((len(values), nv))
    column[:, dof] = values
    return column
