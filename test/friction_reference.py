# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The friction models in NumPy, and a simulation step with them: what native code is checked by."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import ON_JOINT
from sysid_ros.engine.friction.joint_friction import LEAST_FRICTIONLOSS, frictions_by_joint
from sysid_ros.engine.friction.models import FrictionParameters, parameters_of

_FRICTION_DOF = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)


class FrictionStepper:
    """Steps one simulation in place of ``mujoco.mj_step``, as the native callback should.

    Not under Runge-Kutta, whose stages cannot be told apart in Python.
    """

    def __init__(self, model: Any) -> None:
        """Read the frictions of a model's joints."""
        self._model = model
        self._frictions = {
            int(model.jnt_dofadr[joint]): friction
            for joint, friction in frictions_by_joint(model).items()
        }
        self._others = np.zeros(model.nv)  # the other constraints' force in the last step, N m

    def step(self, data: Any) -> None:
        """Advance ``data`` by one time step under ``data.ctrl``."""
        mujoco.mj_step1(self._model, data)
        for dof, limit in self.budgets(data).items():
            _write(data, dof, limit)
        mujoco.mj_step2(self._model, data)
        own = np.zeros(self._model.nv)
        for row in _rows(data):
            own[data.efc_id[row]] = data.efc_force[row]
        self._others = np.array(data.qfrc_constraint) - own

    def budgets(self, data: Any) -> dict[int, float]:
        """Compute the frictions' largest resistance by degree of freedom, N m.

        Without Kv |v|, which acts as damping. Positions and velocities in ``data`` must be
        evaluated, as after ``mj_step1`` or ``mj_forward``.
        """
        mujoco.mj_fwdActuation(self._model, data)
        mujoco.mj_fwdAcceleration(self._model, data)
        found = {}
        for dof, friction in self._frictions.items():
            v = data.qvel[dof]
            tm = data.qfrc_actuator[dof] - actuator_damping(self._model, dof, v) * v
            damping = friction.friction_viscous * v
            te = data.qfrc_smooth[dof] - tm + damping + self._others[dof]
            limit = float(budget(friction.model, v, tm, te, friction)) - abs(damping)
            found[dof] = max(limit, LEAST_FRICTIONLOSS)
        return found


def actuator_damping(model: Any, dof: int, v: float) -> float:
    """The damping that the actuators of a joint add to it, as a motor's back-EMF does.

    MuJoCo applies it among the passive forces; it is the motor's torque all the same.

    Args:
      model: An MjModel.
      dof: A degree of freedom.
      v: Its velocity, rad/s.

    Returns:
      ``gear^2 (d_0 + d_1 |v| + d_2 v^2)`` summed over the actuators, N m s/rad; 0 in versions of
      MuJoCo whose actuators have no damping (before 3.7).
    """
    if not hasattr(model, "actuator_dampingpoly"):
        return 0.0
    here = np.isin(model.actuator_trntype, ON_JOINT)
    here &= np.asarray(model.actuator_trnid)[:, 0] == model.dof_jntid[dof]
    polynomial = np.asarray(model.actuator_dampingpoly)[here] @ np.array([abs(v), v * v])
    slopes = np.asarray(model.actuator_damping)[here] + polynomial
    return float(np.asarray(model.actuator_gear)[here, 0] ** 2 @ slopes)


def _rows(data: Any) -> np.ndarray:
    """The rows of the constraint solver that are joints' frictions."""
    return np.flatnonzero(np.asarray(data.efc_type) == _FRICTION_DOF)


def _write(data: Any, dof: int, limit: float) -> None:
    for row in _rows(data):
        if data.efc_id[row] == dof:
            data.efc_frictionloss[row] = limit
            if data.nisland:
                data.iefc_frictionloss[data.map_efc2iefc[row]] = limit


def budget(
    model: str,
    v: npt.ArrayLike,
    tm: npt.ArrayLike,
    te: npt.ArrayLike,
    parameters: FrictionParameters,
) -> FloatArray:
    """Return the friction budget of a model by its name, the largest torque of the friction.

    It is the sum of all terms in :mod:`~sysid_ros.engine.friction.models`, where the parameters
    that the model lacks are zero.

    Args:
      model: m1 to m6.
      v: Velocity, rad/s.
      tm: Torque of the motor at the joint, N m.
      te: External torque at the joint, N m.
      parameters: Those that the model lacks are ignored.

    Returns:
      N m, in the arguments' common shape.

    Raises:
      ParameterError: There is no such model.
    """
    own = {name: getattr(parameters, name) for name in parameters_of(model)}
    p = FrictionParameters(**own)
    speed, motor, external = (np.asarray(x, dtype=np.float64) for x in (v, tm, te))
    load = np.abs(motor - external)
    moving = p.friction_viscous * np.abs(speed) + p.friction_base + p.load_friction_base * load
    moving = moving + np.abs(p.load_friction_motor * motor - p.load_friction_external * external)
    resting = p.friction_stribeck + p.load_friction_stribeck * load
    resting = resting + np.abs(
        p.load_friction_motor_stribeck * motor - p.load_friction_external_stribeck * external
    )
    resting = resting + _quadratic(motor, external, p)
    stribeck = np.exp(-(np.abs(speed / p.dtheta_stribeck) ** p.alpha))
    return np.asarray(moving + stribeck * resting)


def _quadratic(tm: FloatArray, te: FloatArray, p: FrictionParameters) -> FloatArray:
    """``Q``: Keq te^2 where |tm| > |te|, else Kmq tm^2, where the torques oppose each other."""
    driven = np.abs(tm) > np.abs(te)
    size = np.where(
        driven, p.load_friction_external_quad * te**2, p.load_friction_motor_quad * tm**2
    )
    return np.where(tm * te < 0.0, size, 0.0)
