# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motion, thrusts and contacts of robots whose base moves freely, for inverse dynamics.

A free base has six equations of motion more, and no motor acts on them: forces on its body, and the
forces of what it touches do. These are unknown. What they can do is taken out of the equations, of
which a legged robot that stands on all feet keeps six.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import FREE, actuator_moments, n_actuators
from sysid_ros.engine.signals import conjugate, quaternion_product

_NEAR = 0.01  # m; geoms that are no farther apart may touch, as poses are measured no better
_LEAST = 6  # equations that contacts must leave for anything to be tested
_SMALL = 1e-9  # of the largest eigenvalue


def joint_motion(
    model: mujoco.MjModel, coordinates: FloatArray, rates: FloatArray, seconds: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Motion in MuJoCo's terms from coordinates and their derivatives, (n, nq) each.

    Args:
      model: Of hinges, slides and free joints; its ``qpos`` are the coordinates.
      coordinates: Quaternions may have any length near one.
      rates: Their first derivatives.
      seconds: Their second derivatives.

    Returns:
      qpos (n, nq), qvel and qacc (n, nv).
    """
    if model.nq == model.nv:
        return coordinates, rates, seconds
    qpos = coordinates.copy()
    qvel, qacc = np.zeros((len(qpos), model.nv)), np.zeros((len(qpos), model.nv))
    for joint in range(model.njnt):
        first, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        wide = 3 if int(model.jnt_type[joint]) == FREE else 1
        qvel[:, dof : dof + wide] = rates[:, first : first + wide]
        qacc[:, dof : dof + wide] = seconds[:, first : first + wide]
        if wide == 1:
            continue
        turn, spin = slice(first + 3, first + 7), slice(dof + 3, dof + 6)
        quaternion = coordinates[:, turn]
        square = np.sum(quaternion**2, axis=1, keepdims=True)
        back = conjugate(quaternion) * (2.0 / square)
        # omega = 2 conj(q) q'; its derivative adds the scalar 2 conj(q') q', and 2 conj(q) q''.
        qvel[:, spin] = quaternion_product(back, rates[:, turn])[:, 1:]
        qacc[:, spin] = quaternion_product(back, seconds[:, turn])[:, 1:]
        qpos[:, turn] /= np.sqrt(square)
    return qpos, qvel, qacc


def moment_arms(model: mujoco.MjModel, qpos: FloatArray) -> FloatArray:
    """Generalized force per unit of u actuators' forces, (n, u, nv), at postures (n, nq)."""
    data, arms = mujoco.MjData(model), np.zeros((len(qpos), n_actuators(model), model.nv))
    for place, row in enumerate(qpos):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        mujoco.mj_transmission(model, data)
        arms[place] = actuator_moments(data)
    return arms


def most_pushed(model: mujoco.MjModel, qpos: FloatArray) -> FloatArray:
    """The most that a floor can exert on each degree of freedom, N or N m, (nv,).

    That is if the contact with the longest arm carries the whole weight and is about to slip.

    Args:
      model: With its geometry.
      qpos: Postures, (n, nq).
    """
    near, most = _with_margin(model), np.zeros(model.nv)
    weight = float(np.sum(model.body_mass) * np.linalg.norm(model.opt.gravity))
    still = model.body_weldid[model.geom_bodyid] == 0
    data = mujoco.MjData(near)
    for row in qpos:
        data.qpos[:] = row
        _collide(near, data)
        if data.ncon and np.any(floor := still[data.contact.geom].any(axis=1)):
            contacts = data.contact
            sliding = np.column_stack([np.ones(data.ncon), contacts.friction[:, :2]])
            arms = _pushed(near, data).reshape(-1, 3, model.nv)
            arms = np.minimum(sliding, 1.0)[:, :, None] * (contacts.frame.reshape(-1, 3, 3) @ arms)
            most = np.maximum(most, np.linalg.norm(arms[floor], axis=1).max(axis=0))
    return weight * most


def beside_contacts(
    model: mujoco.MjModel, qpos: FloatArray, dofs: Sequence[int], weight: FloatArray
) -> FloatArray | None:
    """The part of k equations of motion that no force between bodies that touch can change.

    Args:
      model: With its geometry.
      qpos: (n, nq).
      dofs: Degrees of freedom that the equations are of.
      weight: By which each counts, (k,).

    Returns:
      (n, k, k), to multiply the equations by; empty, (0, k, k), where too little is left of them;
      ``None`` where nothing touches.
    """
    near, k = _with_margin(model), len(dofs)
    data = mujoco.MjData(near)
    ways = np.zeros((len(qpos), k, k))
    for place, row in enumerate(qpos):
        data.qpos[:] = row
        _collide(near, data)
        if data.ncon:
            pushed = _pushed(near, data)[:, dofs] * weight
            ways[place] = pushed.T @ pushed
    if not ways.any():
        return None
    size, axes = np.linalg.eigh(ways)
    unmoved = size <= _SMALL * np.maximum(size[:, -1:], 1e-300)
    axes = axes * unmoved[:, None]
    if np.median(np.count_nonzero(unmoved, axis=1)) < min(_LEAST, k):
        return np.empty((0, k, k))
    return np.asarray(axes @ (axes.transpose(0, 2, 1) * weight))


def rolling_rates(
    model: mujoco.MjModel, qpos: FloatArray, qvel: FloatArray, wheels: Sequence[int]
) -> FloatArray:
    """The rates of wheels that roll while all else moves as it does, (n, w) [rad/s].

    NaN where one touches nothing that stands still, or is deeper in it than poses are wrong.

    Args:
      model: With its geometry.
      qpos: (n, nq).
      qvel: (n, nv), of which the wheels' own say nothing.
      wheels: Numbers of their joints.
    """
    near, data = _with_margin(model), mujoco.MjData(model)
    dofs = {int(model.jnt_bodyid[one]): int(model.jnt_dofadr[one]) for one in wheels}
    still = model.body_weldid[model.geom_bodyid] == 0
    arm, found = np.zeros((3, model.nv)), np.full((len(qpos), len(wheels)), np.nan)
    for place, (row, speed) in enumerate(zip(qpos, qvel, strict=True)):
        data.qpos[:] = row
        _collide(near, data)
        rates: dict[int, list[float]] = {}
        for contact in data.contact:
            for geom, other in (contact.geom, contact.geom[::-1]):
                body = int(model.body_weldid[model.geom_bodyid[geom]]) if geom >= 0 else 0
                stands = other >= 0 and still[other]
                if body not in dofs or not stands or abs(contact.dist) > _NEAR:
                    continue
                mujoco.mj_jac(near, data, arm, None, contact.pos, body)
                own = arm[:, dofs[body]]
                rest = arm @ speed - own * speed[dofs[body]]
                rates.setdefault(body, []).append(-float(own @ rest) / max(float(own @ own), 1e-12))
        for k, body in enumerate(dofs):
            if body in rates:
                found[place, k] = np.mean(rates[body])
    return found


def _with_margin(model: mujoco.MjModel) -> mujoco.MjModel:
    """The model, with contacts of all that is near enough to touch."""
    near = copy.copy(model)
    near.geom_margin[:] = _NEAR
    near.geom_gap[:] = 0.0
    return near


def _collide(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)


def _pushed(model: mujoco.MjModel, data: mujoco.MjData) -> FloatArray:
    """The effect of forces at the contacts on each degree of freedom, (3 contacts, nv)."""
    found: FloatArray = np.zeros((3 * data.ncon, model.nv))
    one: FloatArray = np.zeros((3, model.nv))
    for k in range(data.ncon):
        contact = data.contact[k]
        for geom, sign in zip(contact.geom, (-1.0, 1.0), strict=True):
            if geom >= 0 and (body := int(model.geom_bodyid[geom])):
                mujoco.mj_jac(model, data, one, None, contact.pos, body)
                found[3 * k : 3 * k + 3] += sign * one
    return found
