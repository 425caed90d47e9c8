# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Time steps that are too long for a model's own servos, so that each overshoots the one before.

A step multiplies a small deviation by the eigenvalues of its transition matrix. Those of what a
robot does, falling over included, lie right of -1 in the complex plane; below it a damping is
stepped explicitly that stops its joint in less than half a step (Hairer, Norsett & Wanner, Solving
Ordinary Differential Equations II, IV.2).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import HINGE

_EULER, _RK4 = int(mujoco.mjtIntegrator.mjINT_EULER), int(mujoco.mjtIntegrator.mjINT_RK4)
_LARGEST = 150  # degrees of freedom; the matrix costs twice as many steps
_NUDGE = 1e-6
_FAR = 1e3  # rad, beyond which it is lost in rounding: encoders' counts that are taken for angles
_JAGGED = (  # what is not linear about a posture, and stops what it does not start
    int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    | int(mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS)
)


@dataclass(frozen=True)
class StepOscillation:
    """The deviation that a time step throws back farthest."""

    factor: float  # the deviation after a step over that before; below -1 it grows
    dof: int  # the degree of freedom that takes most part
    # the factor with the integrator ``implicitfast`` instead of Euler's; as it is where the model
    # has another
    implicit: float


def step_oscillation(model: mujoco.MjModel, postures: FloatArray) -> StepOscillation | None:
    """The worst swing from step to step in postures (n, nq); ``None`` where it cannot be told."""
    if int(model.opt.integrator) == _RK4 or not 0 < model.nv <= _LARGEST:
        return None
    own = copy.copy(model)
    own.opt.disableflags |= _JAGGED
    for limited in (own.actuator_forcelimited, own.jnt_actfrclimited, own.tendon_actfrclimited):
        limited[:] = 0  # commands are not known here, and nobody holds back at its goal
    hinges = own.jnt_qposadr[own.jnt_type == HINGE]
    angles = postures[:, hinges]
    postures = postures.copy()
    postures[:, hinges] = np.where(np.abs(angles) > _FAR, angles % (2.0 * np.pi), angles)
    factor, dof, posture = min(
        (*_swing(own, posture), place) for place, posture in enumerate(postures)
    )
    implicit = factor
    if int(own.opt.integrator) == _EULER and factor < -1.0:
        own.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        implicit, _ = _swing(own, postures[posture])
    return StepOscillation(factor, dof, implicit)


def _swing(model: mujoco.MjModel, posture: FloatArray) -> tuple[float, int]:
    """The least real part of the transition's eigenvalues, and the dof that moves most with it."""
    data, size = mujoco.MjData(model), 2 * model.nv + model.na
    data.qpos[:] = posture
    mujoco.mj_forward(model, data)
    moved = np.zeros((size, size))
    mujoco.mjd_transitionFD(model, data, _NUDGE, 1, moved, None, None, None)
    if not np.all(np.isfinite(moved)):
        return 0.0, 0
    values, vectors = np.linalg.eig(moved)
    worst = int(np.argmin(values.real))
    speeds = np.abs(vectors[model.nv : 2 * model.nv, worst])
    return float(values.real[worst]), int(np.argmax(speeds))
