# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the inverse inertia by which MuJoCo softens a joint's constraints.

``dof_invweight0`` of a hinge or slide is ``e^T M^-1 e`` at the reference posture, with e the
joint's unit vector and M the inertia in joint coordinates. With ``u = M^-1 e`` it changes by
``-u^T dM u``: twice the kinetic energy that the change has at the velocity u. Where everything
behind a place of the tree is displaced by a small twist S, it sees its velocity change by V x S
with V the velocity before that place, and its momentum tells the energy of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements.inertia import rotation_matrix
from sysid_ros.engine.elements.joints import SCALAR

_AGREEMENT = 1e-9  # relative, of MuJoCo's own numbers with those found here
_PLACES = (
    "body_parentid", "body_pos", "body_quat", "jnt_type", "jnt_bodyid", "jnt_pos", "jnt_axis",
    "qpos0",
)  # fmt: skip


@dataclass(frozen=True)
class InverseWeights:
    """Derivatives of every joint's inverse inertia, each found once it is asked for."""

    _posture: ReferencePosture
    _model: mujoco.MjModel
    _parameters: FloatArray  # the ten inertial parameters of its bodies, (nbody, 10)
    _inverse: FloatArray  # of the inertia in joint coordinates, (nv, nv)

    @property
    def by_armature(self) -> FloatArray:
        """In the armature of every joint, (nv, nv)."""
        return -(self._inverse**2)

    @cached_property
    def by_inertia(self) -> FloatArray:
        """In the ten inertial parameters of each body, (nv, nbody, 10)."""
        return self._posture.by_inertia(self._inverse)

    @cached_property
    def by_displacement(self) -> FloatArray:
        """In small twists, (nv, njnt + nbody, 6).

        They are before each joint, and behind all joints of each body, in the body's frame.
        """
        return self._posture.by_displacement(self._model, self._parameters, self._inverse)


class ReferencePosture:
    """A model at its reference posture, whatever its bodies weigh.

    Args:
      model: One of those that have it.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._places = _places(model)
        self._is_scalar = bool(np.isin(np.asarray(model.jnt_type), SCALAR).all())
        self._twist = twist = _twists(model)
        self._energy = _energy(twist[..., :, None], twist[..., None, :])  # (10, nbody, nv, nv)

    def is_of(self, model: mujoco.MjModel) -> bool:
        """Return whether a model has it."""
        return self._places == _places(model)

    def inverse_weights(
        self, model: mujoco.MjModel, parameters: FloatArray
    ) -> InverseWeights | None:
        """The derivatives of ``dof_invweight0`` at a model's inertia.

        Args:
          model: A model that has this posture.
          parameters: The ten inertial parameters of its bodies, (nbody, 10).

        Returns:
          ``None`` where more than armature and bodies tell it: with ball and free joints, tendons
          that have inertia, or numbers that MuJoCo has bounded.
        """
        nv = int(model.nv)
        if not nv or not self._is_scalar or np.any(model.tendon_armature):
            return None
        inertia = np.tensordot(parameters.T, self._energy, 2)
        inertia[np.diag_indices(nv)] += model.dof_armature
        try:
            inverse = np.linalg.inv(inertia)
        except np.linalg.LinAlgError:
            return None
        told = np.asarray(model.dof_invweight0)
        if not np.all(np.abs(inverse.diagonal() - told) <= _AGREEMENT * np.abs(told)):
            return None
        return InverseWeights(self, model, parameters, inverse)

    def by_inertia(self, inverse: FloatArray) -> FloatArray:
        """The derivatives of :class:`InverseWeights`, from the velocities in its columns."""
        return np.moveaxis(-np.sum((self._energy @ inverse) * inverse, axis=2), (0, 2), (2, 0))

    def by_displacement(
        self, model: mujoco.MjModel, parameters: FloatArray, inverse: FloatArray
    ) -> FloatArray:
        """The derivatives of :class:`InverseWeights`, from the velocities in its columns."""
        velocity = self._twist @ inverse  # (6, nbody, nv)
        momentum = _momentum(parameters, velocity)
        for body in range(model.nbody - 1, 0, -1):
            parent = int(model.body_parentid[body])
            turn = rotation_matrix(model.body_quat[body])
            force, moment = turn @ momentum[3:, body], turn @ momentum[:3, body]
            momentum[3:, parent] += force
            momentum[:3, parent] += moment + np.cross(model.body_pos[body], force, axis=0)
        bodies = np.append(model.jnt_bodyid, np.arange(model.nbody))
        before, behind = velocity[:, bodies], momentum[:, bodies]
        for joint in range(model.njnt):
            body, dof = int(model.jnt_bodyid[joint]), int(model.jnt_dofadr[joint])
            end = int(model.body_dofadr[body]) + int(model.body_dofnum[body])
            before[:, joint] -= self._twist[:, body, dof:end] @ inverse[dof:end]
        turn, go, moment, force = before[:3], before[3:], behind[:3], behind[3:]
        about = np.cross(turn, moment, axis=0) + np.cross(go, force, axis=0)
        found = 2.0 * np.concatenate([about, np.cross(turn, force, axis=0)])
        return np.asarray(np.moveaxis(found, 2, 0).swapaxes(1, 2))


def _places(model: mujoco.MjModel) -> bytes:
    """All that the motion of bodies with joints depends on."""
    return b"".join(np.asarray(getattr(model, name)).tobytes() for name in _PLACES)


def _twists(model: mujoco.MjModel) -> FloatArray:
    """Each body's angular and linear velocity in its own frame by joint, (6, nbody, nv)."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    world = np.zeros((model.nbody, 2, 3, model.nv))
    for body in range(1, model.nbody):
        mujoco.mj_jacBody(model, data, world[body, 1], world[body, 0], body)
    axes = np.asarray(data.xmat).reshape(-1, 3, 3)
    own: FloatArray = np.einsum("bij,bkin->kjbn", axes, world)
    return own.reshape(6, model.nbody, model.nv)


def _momentum(parameters: FloatArray, velocity: FloatArray) -> FloatArray:
    """Torque and force parts of the momenta of bodies about their frames' origins, (6, nbody, n).

    Args:
      parameters: The ten inertial parameters of each, (nbody, 10).
      velocity: Angular and linear, (6, nbody, n).
    """
    mass, moment = parameters[:, 0], parameters[:, 1:4].T[..., np.newaxis]
    x, y, z, xy, xz, yz = parameters[:, 4:].T
    tensor = np.array([[x, xy, xz], [xy, y, yz], [xz, yz, z]])
    turn, go = velocity[:3], velocity[3:]
    about = np.einsum("ijb,jbn->ibn", tensor, turn) + np.cross(moment, go, axis=0)
    return np.concatenate([about, mass[:, np.newaxis] * go - np.cross(moment, turn, axis=0)])


def _energy(a: FloatArray, b: FloatArray) -> FloatArray:
    """The weights of inertial parameters in ``a^T I b`` of velocities (6, ...), angular first.

    Returns:
      Shape (10, ...), in the order of :data:`INERTIAL`.
    """
    turn, go, other_turn, other_go = a[:3], a[3:], b[:3], b[3:]
    mass = np.sum(go * other_go, axis=0)
    moment = np.cross(go, other_turn, axis=0) + np.cross(other_go, turn, axis=0)
    diagonal = turn * other_turn
    off = [turn[i] * other_turn[j] + turn[j] * other_turn[i] for i, j in ((0, 1), (0, 2), (1, 2))]
    return np.stack([mass, *moment, *diagonal, *off])
