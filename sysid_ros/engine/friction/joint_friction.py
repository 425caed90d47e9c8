# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction as a property of a model's joints, so that it goes wherever the model goes.

Kv and Kc are MuJoCo's own ``damping`` and ``frictionloss``; what MuJoCo has no name for is a row
of ``jnt_user``: two marks, the first of three numbers in ``userdata`` that the native code keeps
between steps, dtheta_stribeck, alpha and nine coefficients. A copy of the model, a file of it and
a model that it is attached to have the same friction, and a program that knows nothing of it sees
its Coulomb and viscous part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import SCALAR, find, linear
from sysid_ros.engine.friction.models import PARAMETERS, SHAPE, FrictionParameters
from sysid_ros.engine.friction.user_rows import row_start, user_data, with_row
from sysid_ros.errors import ModelError

# The layout of a row; native.py reads it by the same numbers.
MARK = (271828.0, 314159.0)
SLOT, FIRST = 2, 3
STORED = PARAMETERS[2:]  # without Kv and Kc; the row's order from FIRST on
ROW = FIRST + len(STORED)
KEPT = 3  # numbers in userdata per joint

# MuJoCo's default friction constraint creeps: 0.98 N m under a limit of 1.5 N m drift 0.1 rad/s.
# With these it is 2e-5 rad/s.
SOLIMP_FRICTION = (0.9999, 0.9999)
SOLREF_FRICTION = (0.004, 1.0)
# A friction loss of zero has no row in the solver: none that the budget could be written to, and
# none whose derivative would tell a fit at its bound that it should leave it.
LEAST_FRICTIONLOSS = 1e-10


def apply_friction_to_spec(spec: Any, joint: str, friction: FrictionParameters) -> None:
    """Give a joint of a spec a friction, in place of what it had.

    Args:
      spec: An MjSpec, which is changed.
      joint: The name of a hinge or slide.
      friction: Its parameters; those of M1 alone need no native code.

    Raises:
      ModelError: There is no such joint, or it is neither hinge nor slide.
    """
    item = _single(spec, joint)
    damping = np.array(item.damping, dtype=np.float64)
    first = np.atleast_1d(damping)
    first[0] = friction.friction_viscous
    item.damping = first if damping.ndim else float(first[0])
    item.frictionloss = max(friction.friction_base, LEAST_FRICTIONLOSS)
    stiffen(item)
    if is_marked(item) or any(getattr(friction, n) != 0.0 for n in STORED if n not in SHAPE):
        _write_row(spec, item, friction)


def stiffen(joint: Any) -> None:
    """Make a joint's friction hold what is below its budget instead of creeping."""
    joint.solimp_friction[:2] = SOLIMP_FRICTION
    joint.solref_friction = np.array(SOLREF_FRICTION)


def friction_of_spec(spec: Any, joint: str) -> FrictionParameters:
    """The friction that a joint of a spec has.

    Raises:
      ModelError: There is no such joint, or it is neither hinge nor slide.
    """
    item = _single(spec, joint)
    return _read(linear(item.damping), float(item.frictionloss), user_data(item.userdata))


def mark_joint(spec: Any, joint: str) -> None:
    """Give a joint a row for all terms, so that models keep their size whatever the values are.

    Raises:
      ModelError: There is no such joint, or it is neither hinge nor slide.
    """
    item = _single(spec, joint)
    if not is_marked(item):
        friction = friction_of_spec(spec, joint)
        _write_row(spec, item, friction)
        item.frictionloss = max(float(item.frictionloss), LEAST_FRICTIONLOSS)
    stiffen(item)


def is_marked(joint: Any) -> bool:
    """Return whether a joint of a spec has a row for all terms."""
    return _row_start(joint.userdata) is not None


def joint_frictions(model: Any) -> Mapping[str, FrictionParameters]:
    """The joints of a compiled model whose friction needs native code, by name.

    A joint without a name is called by its number.
    """
    found = frictions_by_joint(model)
    return {model.joint(i).name or str(i): friction for i, friction in found.items()}


def frictions_by_joint(model: Any) -> dict[int, FrictionParameters]:
    """The same by the joint's id."""
    dofs = {i: int(model.jnt_dofadr[i]) for i in _row_starts(model)}
    return {
        i: _read(linear(model.dof_damping[dof]), model.dof_frictionloss[dof], model.jnt_user[i])
        for i, dof in dofs.items()
    }


def friction_rows(model: Any) -> dict[int, FloatArray]:
    """Values that the native code reads of each joint, by joint id: ``STORED``, in order."""
    return {
        i: np.array(model.jnt_user[i, start + FIRST : start + ROW])
        for i, start in _row_starts(model).items()
    }


def _row_starts(model: Any) -> dict[int, int]:
    """The first place of each row in ``jnt_user``, by joint id."""
    if model.nuser_jnt < ROW:
        return {}
    starts = {i: _row_start(model.jnt_user[i]) for i in range(model.njnt)}
    return {i: start for i, start in starts.items() if start is not None}


def apply_friction(model: Any, joint: str, friction: FrictionParameters) -> None:
    """Change the friction of a joint in a compiled model, between steps.

    Args:
      model: An MjModel, which is changed.
      joint: A joint that :func:`joint_frictions` lists: compiled models cannot grow.
      friction: The new parameters.

    Raises:
      ModelError: The joint has no friction model in this MjModel.
    """
    known = {model.joint(i).name or str(i): i for i in _row_starts(model)}
    if joint not in known:
        raise ModelError(
            f"joint {joint!r} has no friction model to change; joints that have one: "
            f"{', '.join(known) or 'none'}. Give it one with apply_friction_to_spec before the "
            "model is compiled"
        )
    index = known[joint]
    start, dof = _row_starts(model)[index], int(model.jnt_dofadr[index])
    model.dof_damping[dof] = friction.friction_viscous
    model.dof_frictionloss[dof] = max(friction.friction_base, LEAST_FRICTIONLOSS)
    values = [getattr(friction, name) for name in STORED]
    model.jnt_user[index, start + FIRST : start + ROW] = values


def has_friction(model: Any) -> bool:
    """Return whether a compiled model has a joint whose friction needs native code."""
    if model.nuser_jnt < ROW:
        return False
    marks = (model.jnt_user[:, :-1] == MARK[0]) & (model.jnt_user[:, 1:] == MARK[1])
    return bool(marks.any())


def _single(spec: Any, joint: str) -> Any:
    item = find(spec, "joint", joint)
    if int(item.type) not in SCALAR:
        raise ModelError(f"joint {joint!r} cannot have a friction model: it is no hinge or slide")
    if int(spec.option.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION):
        raise ModelError(
            f"joint {joint!r} cannot have a friction model: it runs in MuJoCo's control callback, "
            "which the model switches off (option flag actuation)"
        )
    return item


def _write_row(spec: Any, item: Any, friction: FrictionParameters) -> None:
    start = _row_start(item.userdata)
    if start is None:
        slot = max(int(spec.nuserdata), 0)
        spec.nuserdata = slot + KEPT
    else:
        slot = int(item.userdata[start + SLOT])
    values = [getattr(friction, name) for name in STORED]
    item.userdata = with_row(item.userdata, MARK, [slot, *values])
    if spec.nuser_jnt >= 0:  # -1: as many as needed
        spec.nuser_jnt = max(int(spec.nuser_jnt), len(item.userdata))


def _read(viscous: float, base: float, users: Any) -> FrictionParameters:
    values = {
        "friction_viscous": float(viscous),
        "friction_base": float(base) if base > LEAST_FRICTIONLOSS else 0.0,
    }
    start = _row_start(users)
    if start is not None:
        row = users[start + FIRST : start + ROW]
        values.update({name: float(x) for name, x in zip(STORED, row, strict=True)})
    return replace(FrictionParameters(), **values)


def _row_start(users: Any) -> int | None:
    return row_start(users, MARK, ROW)
