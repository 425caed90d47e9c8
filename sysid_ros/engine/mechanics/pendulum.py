# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model that moves by one joint alone, whose inverse dynamics is a line.

The inertia about an axis that stands still never changes, no velocity acts on it, and the torque of
gravity is a sine of the angle, a constant on a slide: two postures tell all of it. Such are the
benches that servos are identified on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray, zeros
from sysid_ros.engine.compiled import compiled
from sysid_ros.engine.elements import HINGE
from sysid_ros.engine.mechanics.kinematics import Motion, Pose, move, propagate
from sysid_ros.engine.mechanics.model_tables import Tables
from sysid_ros.engine.mechanics.rigid_body import Derivatives, fall


class Pendulum(NamedTuple):
    """The inverse dynamics of a model's only joint."""

    alone: IntArray  # (1,): 1 where this is known
    pull: FloatArray  # (2,): what holds it at rest at its reference position and a right angle on
    held: FloatArray  # (1,): the same where it is now
    place: FloatArray  # (1,): scratch
    still: FloatArray  # (1,): zero


def new_pendulum() -> Pendulum:
    """Room for it."""
    return Pendulum(np.zeros(1, dtype=np.int64), *zeros(2, 1, 1, 1))


@compiled
def hang(
    t: Tables, pose: Pose, motion: Motion, d: Derivatives, known: Pendulum, wanted: bool
) -> None:
    """Find out whether a model has one joint alone, and write its mass and what gravity does.

    Args:
      t: The model.
      pose: Written. In place are bodies that do not move.
      motion: Likewise.
      d: The mass is written.
      known: Written.
      wanted: Whether nobody looks at poses and motions of bodies.
    """
    known.alone[0] = 0
    if not wanted or t.dof_bodyid.size != 1 or t.lines.equality.size or t.feet.radius.size:
        return
    if t.connections.weight.size or t.site_actuators.size or t.in_fluid:
        return
    for k in range(2):
        known.place[0] = t.qpos0[0] + k * 0.5 * np.pi
        move(t, known.place, pose)
        propagate(t, pose, known.still, known.still, motion)
        fall(t, pose, motion, known.still, d)  # no actuator at a site
        known.pull[k] = d.torque[0]
    d.by_velocity[0, 0] = 0.0
    known.alone[0] = 1


@compiled
def swing(t: Tables, known: Pendulum, q: FloatArray, d: Derivatives) -> None:
    """Write the inverse dynamics at rest of a model that :func:`hang` has found to be one joint."""
    torque, slope = known.pull[0], 0.0
    if t.jnt_type[0] == HINGE:
        cosine, sine = np.cos(q[0] - t.qpos0[0]), np.sin(q[0] - t.qpos0[0])
        torque = known.pull[0] * cosine + known.pull[1] * sine
        slope = known.pull[1] * cosine - known.pull[0] * sine
    known.held[0] = torque
    d.torque[0] = torque
    d.by_position[0, 0] = slope
