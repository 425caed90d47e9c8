# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Everything that one evaluation of the forward dynamics writes, in room that is reused."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.mechanics.constraint_rows import Rows, new_rows
from sysid_ros.engine.mechanics.floor_contacts import Footing, new_footing
from sysid_ros.engine.mechanics.forces import Forces, new_forces
from sysid_ros.engine.mechanics.kinematics import Motion, Pose, new_motion, new_pose
from sysid_ros.engine.mechanics.lines import MovedLines, new_moved_lines
from sysid_ros.engine.mechanics.load_friction import FrictionLimits, new_friction_limits
from sysid_ros.engine.mechanics.model_tables import Tables
from sysid_ros.engine.mechanics.pendulum import Pendulum, new_pendulum
from sysid_ros.engine.mechanics.rigid_body import Derivatives, new_derivatives


class Workspace(NamedTuple):
    """Everything evaluated at one instant, in room that is reused."""

    pose: Pose
    motion: Motion
    pendulum: Pendulum
    derivatives: Derivatives
    forces: Forces
    rows: Rows
    line_rows: Rows
    footing: Footing
    line_change: FloatArray  # (1, n): scratch
    moved_lines: MovedLines
    friction: FrictionLimits
    inertia: FloatArray  # (nv, nv): mass matrix with armature
    system: FloatArray  # (nv, nv): a matrix to factorize
    factor: FloatArray  # (nv, nv)
    qacc: FloatArray  # (nv,)
    residual: FloatArray  # (nv,)
    smooth: FloatArray  # (nv,)
    step: FloatArray  # (nv,)
    trial: FloatArray  # (nv,)
    gradient: FloatArray  # (nv,)
    basis: FloatArray  # (2, 6, 10)
    regressor: FloatArray  # (nv, 10)
    d_qacc: FloatArray  # (nv, n): of qacc, where constraints or accelerometers need it
    d_rows: FloatArray  # (nv, n)
    frame_quaternion: FloatArray  # (4,): of a sensor
    frame_position: FloatArray  # (3,)
    frame_axes: FloatArray  # (3, 3)
    reference_quaternion: FloatArray  # (4,): of the frame that it is seen from
    reference_axes: FloatArray  # (3, 3)


def new_workspace(t: Tables, n_held: int, n_displaced: int, n: int) -> Workspace:
    """Room for ``n`` directions and so many displacements, with ``n_held`` feet and connections."""
    nbody, nv, nu = t.body_parentid.size, t.dof_bodyid.size, t.actuator_dof.size
    n_line = t.lines.equality.size
    return Workspace(
        new_pose(nbody, nv),
        new_motion(nbody, nv),
        new_pendulum(),
        new_derivatives(nbody, nv),
        new_forces(nv, nu, n_line),
        new_rows(nv),
        new_rows(n_line),
        new_footing(n_held, nv, n_displaced),
        np.zeros((1, n)),
        new_moved_lines(t.lines, n),
        new_friction_limits(nv, n),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros((2, 6, 10)),
        np.zeros((nv, 10)),
        np.zeros((nv, n)),
        np.zeros((nv, n)),
        np.zeros(4),
        np.zeros(3),
        np.zeros((3, 3)),
        np.zeros(4),
        np.zeros((3, 3)),
    )
