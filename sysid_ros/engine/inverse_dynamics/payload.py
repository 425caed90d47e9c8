# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A payload as one more body of the robot."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import IndexArray
from sysid_ros.engine.elements import INERTIAL, is_moved
from sysid_ros.engine.regressor import Columns
from sysid_ros.errors import ModelError

PAYLOAD = "payload"
_UNLOADED = " without payload"  # ends the conditions in which nothing is held
_RADIUS = 0.05  # m, a guess


def with_payload(spec: mujoco.MjSpec, body: str, *, mass: float = 1.0) -> mujoco.MjSpec:
    """A copy of a specification with a ball fixed to a body, as the start of its estimate.

    The condition of recordings without it ends with " without payload".

    Args:
      spec: Left as it is.
      body: What holds the payload, whose frame is the payload's.
      mass: kg, a guess; 0 where nothing is held.

    Raises:
      ModelError: There is no such body, or one that is called "payload" already.
    """
    copy = spec.copy()
    moved = [one.name for one in copy.bodies if is_moved(one)]
    if body not in moved:
        raise ModelError(
            f"no body {body!r} that joints move can hold a payload; the model has "
            f"{', '.join(moved) or 'none'}"
        )
    holder = copy.body(body)
    if copy.body(PAYLOAD) is not None:
        raise ModelError(f"the model has a body {PAYLOAD!r} already")
    added = holder.add_body(name=PAYLOAD)
    added.explicitinertial = True
    added.mass = mass
    added.ipos = np.zeros(3)
    added.inertia = np.full(3, 0.4 * mass * _RADIUS**2)
    return copy


def condition_of(spec: mujoco.MjSpec, robot: str | None) -> str:
    """The condition of recordings of a robot: whether it holds its payload, if there is one."""
    held = spec.body(PAYLOAD)
    return (robot or "") + (_UNLOADED if held is not None and held.mass == 0.0 else "")


def robot_of(condition: str) -> str:
    """The robot that a condition is of."""
    return condition.removesuffix(_UNLOADED)


def absent_columns(columns: Columns, condition: str) -> IndexArray:
    """The columns of a payload that is not held, else none."""
    if not condition.endswith(_UNLOADED):
        return np.zeros(0, dtype=np.intp)
    pairs = zip(columns.names, columns.kinds, strict=True)
    own = [name == f"{PAYLOAD}.{kind}" and kind in INERTIAL for name, kind in pairs]
    return np.flatnonzero(own)
