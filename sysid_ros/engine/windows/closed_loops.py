# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that nothing measures and that equalities tie to measured ones.

Of a parallel robot the motors are measured, of a gripper one finger. Where the others are follows
from the constraints: r(q) = 0 is solved for the unmeasured part of q by Gauss-Newton steps, and
their velocities from J q' = 0. Joints that only mimic measured ones have polynomials of these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.polynomial import Polynomial

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.elements import BALL, FREE

_MOST_STEPS = 30
_CLOSED = 1e-9  # rad or m, a step that is small enough
_LARGEST_STEP = 0.3  # rad or m
_SINGULAR = 1e-6  # of the largest singular value
_OF_JOINTS = int(mujoco.mjtEq.mjEQ_JOINT)
_TERMS = 5  # of a polynomial that a joint is of another
_EQUALITY = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)


@dataclass(frozen=True)
class ClosedLoops:
    """The constraints of a model, to be met by what is not measured."""

    model: mujoco.MjModel  # with the equalities
    free: IntArray  # degrees of freedom that nothing measures and that an equality concerns
    tied: IntArray  # those of them that the others determine

    @classmethod
    def of(cls, model: mujoco.MjModel, measured: Collection[int]) -> ClosedLoops | None:
        """The loops of a model of which some degrees of freedom are measured; ``None`` without."""
        if not np.any(model.eq_active0):
            return None
        _, jacobian = _constraints(model, mujoco.MjData(model))
        concerned = np.any(jacobian != 0.0, axis=0)
        free = np.array([d for d in np.flatnonzero(concerned) if d not in measured], dtype=np.intp)
        if not free.size:
            return None
        _, sizes, ways = np.linalg.svd(jacobian[:, free])
        loose = ways[np.count_nonzero(sizes > _SINGULAR * sizes.max(initial=0.0)) :]
        tied = free[np.all(np.abs(loose) < _SINGULAR, axis=0)]
        return cls(model, free, tied)

    def close(self, states: FloatArray) -> None:
        """Move what is not measured in ``mjSTATE_FULLPHYSICS`` vectors, (w, nstate), in place.

        Each state is closed from the one before, as a motion goes on.
        """
        if (laws := self._laws()) is not None:
            self._mimic(laws, states)
            return
        model, data = self.model, mujoco.MjData(self.model)
        places, rates = slice(1, 1 + model.nq), slice(1 + model.nq, 1 + model.nq + model.nv)
        own = np.zeros(model.nq, dtype=np.bool_)
        own[_places(model, self.free)] = True
        before = states[0, places].copy() if len(states) else np.zeros(model.nq)
        for state in states:
            data.qpos[:] = np.where(own, before, state[places])
            jacobian = self._closed(data)
            before = np.array(data.qpos)
            state[places] = before
            known = state[rates].copy()
            known[self.free] = 0.0
            state[rates][self.free] = -np.linalg.lstsq(
                jacobian[:, self.free], jacobian @ known, rcond=_SINGULAR
            )[0]

    def _laws(self) -> dict[int, int] | None:
        """By unmeasured joint the equality that has it mimic a measured one, or stay.

        ``None`` where loops are any others.
        """
        model, unmeasured = self.model, {int(self.model.dof_jntid[dof]) for dof in self.free}
        laws: dict[int, int] = {}
        for row in np.flatnonzero(model.eq_active0).tolist():
            joint, leader = int(model.eq_obj1id[row]), int(model.eq_obj2id[row])
            if int(model.eq_type[row]) != _OF_JOINTS or leader in unmeasured or joint in laws:
                return None
            if joint in unmeasured:
                laws[joint] = row
        return laws

    def _mimic(self, laws: Mapping[int, int], states: FloatArray) -> None:
        """Move joints as their equalities say, see :meth:`close`."""
        model = self.model
        places, rates = 1 + model.jnt_qposadr, 1 + model.nq + model.jnt_dofadr
        for joint, row in laws.items():
            law, leader = Polynomial(model.eq_data[row, :_TERMS]), int(model.eq_obj2id[row])
            away, rate = np.zeros(len(states)), np.zeros(len(states))
            if leader >= 0:
                away = states[:, places[leader]] - model.qpos0[model.jnt_qposadr[leader]]
                rate = states[:, rates[leader]]
            states[:, places[joint]] = model.qpos0[model.jnt_qposadr[joint]] + law(away)
            states[:, rates[joint]] = law.deriv()(away) * rate

    def _closed(self, data: mujoco.MjData) -> FloatArray:
        """Move ``data.qpos`` until the constraints are met; their Jacobian there, (m, nv)."""
        step = np.zeros(self.model.nv)
        for _ in range(_MOST_STEPS):
            left, jacobian = _constraints(self.model, data)
            found = np.linalg.lstsq(jacobian[:, self.free], -left, rcond=_SINGULAR)[0]
            largest = float(np.abs(found).max())
            if largest < _CLOSED:
                break
            step[self.free] = found * min(1.0, _LARGEST_STEP / largest)
            mujoco.mj_integratePos(self.model, data.qpos, step, 1.0)
        return jacobian


def _constraints(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[FloatArray, FloatArray]:
    """Return the distances of equalities from being met, (m,), and their Jacobian, (m, nv)."""
    for computed in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_flex, mujoco.mj_tendon):
        computed(model, data)
    mujoco.mj_makeConstraint(model, data)  # contacts, which nobody looked for, have no part in it
    rows = np.asarray(data.efc_type[: data.nefc]) == _EQUALITY
    jacobian = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        layout = data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        mujoco.mju_sparse2dense(jacobian, data.efc_J, *layout)
    else:
        jacobian[:] = np.reshape(data.efc_J, -1)[: jacobian.size].reshape(jacobian.shape)
    return np.array(data.efc_pos[rows]), jacobian[rows]


def free_directions(model: mujoco.MjModel, data: mujoco.MjData) -> FloatArray:
    """The velocities that equalities leave free at a posture, as columns (nv, free)."""
    _, jacobian = _constraints(model, data)
    _, sizes, ways = np.linalg.svd(jacobian)
    tied = np.count_nonzero(sizes > _SINGULAR * sizes.max(initial=0.0))
    free: FloatArray = ways[tied:].T
    return free


def _places(model: mujoco.MjModel, dofs: IntArray) -> list[int]:
    """The places in qpos of the joints that some degrees of freedom belong to."""
    sizes = {FREE: 7, BALL: 4}
    found: list[int] = []
    for joint in dict.fromkeys(int(model.dof_jntid[dof]) for dof in dofs):
        first = int(model.jnt_qposadr[joint])
        found += range(first, first + sizes.get(int(model.jnt_type[joint]), 1))
    return found
