# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulation step with friction models, in NumPy: no native code, no callback, one simulation."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from sysid_ros.engine.elements import ON_JOINT
from sysid_ros.engine.friction.budget import budget
from sysid_ros.engine.friction.joint_friction import (
    LEAST_FRICTIONLOSS,
    frictions_by_joint,
)
from sysid_ros.errors import ModelError

_FRICTION_DOF = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)


class FrictionStepper:
    """Steps one simulation in place of ``mujoco.mj_step``.

    It does what the native callback does and is what that is checked against. A Python loop needs
    nothing else; batched rollouts and the Runge-Kutta integrator need :func:`friction_callback`.

    Usage::

        stepper = FrictionStepper(model)
        while running:
            data.ctrl[:] = controller(data)
            stepper.step(data)
    """

    def __init__(self, model: Any) -> None:
        """Read the frictions of a model's joints.

        Raises:
          ModelError: Its integrator is Runge-Kutta, whose stages cannot be told apart in Python.
        """
        if int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4):
            raise ModelError("FrictionStepper steps Euler and implicit; use friction_callback()")
        self._model = model
        self._frictions = {
            int(model.jnt_dofadr[joint]): friction
            for joint, friction in frictions_by_joint(model).items()
        }
        self._others = np.zeros(model.nv)  # the other constraints' force in the last step, N m

    def reset(self) -> None:
        """Forget the last step; call it with ``mj_resetData`` or after setting a state."""
        self._others[:] = 0.0

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
