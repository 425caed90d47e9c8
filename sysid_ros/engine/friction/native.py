# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The friction budget inside MuJoCo's step, as a native function without Python.

It runs where MuJoCo calls ``mjcb_control``: constraints are set up and wait to be solved, so that
the budget acts in the step it was computed for. A row of ``efc_frictionloss`` is the limit of the
joint's friction force; what stands in ``efc_frictionloss`` and its copy ``iefc_frictionloss`` (by
islands) is replaced. The model is only read. Models without rows of :mod:`joint_friction` are left
alone, and what has to be kept between steps is kept in the simulation's own ``userdata``: any
number of threads may simulate any models at once.

The torques are those of the same instant: MuJoCo's own functions compute the actuators' forces and
the sum of all smooth ones, and the actuators' damping counts to the motor. The exception is the
force of other constraints (limits, contacts, equalities), which is not known before the solution:
the previous step's is used, and none in the first step, where ``qacc_warmstart`` is zero.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import llvmlite.binding
import mujoco
from numba import types

from sysid_ros.engine.compiled import (
    array,
    compiled,
    digest_of,
    integer,
    integer_array,
    kept_callback,
    load_dependent,
    offset,
)
from sysid_ros.engine.elements import ON_JOINT
from sysid_ros.engine.friction import joint_friction
from sysid_ros.engine.friction.joint_friction import FIRST, KEPT, MARK, ROW, SLOT

# What the compiled function needs to know about the structures; the order is that of the unpacking.
_MODEL_FIELDS = ("nv", "nuser_jnt", "nuserdata", "jnt_user", "dof_jntid", "dof_damping",
                 "dof_frictionloss")  # fmt: skip
_ACTUATOR_FIELDS = ("nu", "actuator_trntype", "actuator_trnid", "actuator_gear",
                    "actuator_damping", "actuator_dampingpoly")  # fmt: skip
_DATA_FIELDS = (
    "ne", "nf", "nisland", "qvel", "qacc", "qacc_warmstart", "qfrc_actuator", "qfrc_smooth",
    "qfrc_constraint", "userdata", "efc_type", "efc_id", "efc_frictionloss", "efc_D", "efc_aref",
    "map_efc2iefc", "iefc_frictionloss",
)  # fmt: skip
FRICTION_DOF = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)

_step_function = types.void(types.voidptr, types.voidptr)
_FUNCTIONS = ("mj_fwdActuation", "mj_fwdAcceleration")
forward_actuation = types.ExternalFunction("mj_fwdActuation", _step_function)
forward_acceleration = types.ExternalFunction("mj_fwdAcceleration", _step_function)


@compiled
def find_row(users: Any, first: int, width: int) -> int:
    """Find the beginning of a joint's row in ``jnt_user``, -1 where it has none."""
    for i in range(first, first + width - ROW + 1):
        if users[i] == MARK[0] and users[i + 1] == MARK[1]:
            return i
    return -1


@compiled
def largest(values: Any, count: int) -> Any:
    """The largest size among ``count`` numbers."""
    size = 0.0
    for i in range(count):
        size = max(size, abs(values[i]))
    return size


@compiled
def actuator_damping(model: Any, fields: Any, joint: int, v: float) -> float:
    """Compute the actuators' damping at a joint: :func:`stepper.actuator_damping` from memory."""
    count, kinds, places, gears, linear, polynomial = fields
    total = 0.0
    for u in range(integer(model, count)):
        kind = integer_array(model, kinds)[u]
        on_joint = kind == ON_JOINT[0] or kind == ON_JOINT[1]
        if on_joint and integer_array(model, places)[2 * u] == joint:
            gear, poly = array(model, gears)[6 * u], array(model, polynomial)
            slope = poly[2 * u] * abs(v) + poly[2 * u + 1] * v * v
            total += gear * gear * (array(model, linear)[u] + slope)
    return total


@compiled
def own_force(kept: Any, slot: int, acceleration: float) -> Any:
    """The friction's own force in the last solution: ``-(a - aref) / R`` within its limit."""
    force = -kept[slot + 1] * (acceleration - kept[slot + 2])
    return min(max(force, -kept[slot]), kept[slot])


@lru_cache(maxsize=1)
def native_callback() -> Any:
    """The compiled function of the type of ``mjcb_control``, with its address in ``address``.

    The first call compiles it, unless it was kept on disk.

    Raises:
      ModelError: This MuJoCo's structures are not laid out as described.
    """
    library = ctypes.CDLL(mujoco._functions.__file__)
    for name in _FUNCTIONS:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvmlite.binding.add_symbol(name, address)
    digest = digest_of(__file__, joint_friction.__file__)
    damped = hasattr(mujoco.MjModel, "actuator_dampingpoly")  # since MuJoCo 3.7
    return _compile(
        tuple(offset("mjModel", name) for name in _MODEL_FIELDS),
        tuple(offset("mjData", name) for name in _DATA_FIELDS),
        tuple(offset("mjModel", name) for name in _ACTUATOR_FIELDS) if damped else None,
        digest,
    )


def _compile(
    model_offsets: tuple[int, ...],
    data_offsets: tuple[int, ...],
    actuator_offsets: tuple[int, ...] | None,
    digest: str,
) -> Any:
    """The callback for one layout; a change of the layout or of this file compiles it again."""
    nv, nuser, nuserdata, jnt_user, dof_jntid, dof_damping, dof_frictionloss = model_offsets
    ne, nf, nisland, qvel, qacc, warmstart, actuator, smooth, constraint = data_offsets[:9]
    userdata, efc_type, efc_id, efc_frictionloss, efc_d, efc_aref = data_offsets[9:15]
    efc2iefc, iefc_frictionloss = data_offsets[15:]

    def control(model: Any, data: Any) -> None:
        len(digest)
        width, rows = integer(model, nuser), integer(data, nf)
        if width < ROW or rows == 0:
            return
        users, joints = array(model, jnt_user), integer_array(model, dof_jntid)
        kinds, ids = integer_array(data, efc_type), integer_array(data, efc_id)
        first = True
        for i in range(integer(data, ne), integer(data, ne) + rows):
            if kinds[i] != FRICTION_DOF:
                continue
            dof = ids[i]
            at = find_row(users, joints[dof] * width, width)
            if at < 0:
                continue
            if first:
                forward_actuation(model, data)
                forward_acceleration(model, data)
                solved = largest(array(data, warmstart), integer(model, nv)) > 0.0
                first = False
            v, tm = array(data, qvel)[dof], array(data, actuator)[dof]
            if actuator_offsets is not None:
                tm -= actuator_damping(model, actuator_offsets, joints[dof], v) * v
            te = array(data, smooth)[dof] - tm + array(model, dof_damping)[dof] * v
            limit = array(model, dof_frictionloss)[dof]
            kept, slot = array(data, userdata), int(users[at + SLOT])
            has_room = slot >= 0 and slot + KEPT <= integer(model, nuserdata)
            if has_room and solved:
                te += array(data, constraint)[dof]
                te -= own_force(kept, slot, array(data, qacc)[dof])
            limit += load_dependent(users, at + FIRST, v, tm, te)
            if has_room:
                kept[slot] = limit
                kept[slot + 1] = array(data, efc_d)[i]
                kept[slot + 2] = array(data, efc_aref)[i]
            array(data, efc_frictionloss)[i] = limit
            if integer(data, nisland) > 0:
                array(data, iefc_frictionloss)[integer_array(data, efc2iefc)[i]] = limit

    return kept_callback(control, _step_function)
