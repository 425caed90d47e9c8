# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Everything that one evaluation of the forward dynamics writes, and the linear systems of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, zeros
from sysid_ros.engine.compiled import (
    add_scaled,
    compiled,
    compiled_apart,
    factorize,
    solve_rows,
    solve_with,
)
from sysid_ros.engine.mechanics.constraint_rows import Rows, new_rows
from sysid_ros.engine.mechanics.floor_contacts import Footing, new_footing
from sysid_ros.engine.mechanics.fluid_forces import Resistance, new_resistance
from sysid_ros.engine.mechanics.forces import Forces, new_forces
from sysid_ros.engine.mechanics.kinematics import Motion, Pose, new_motion, new_pose
from sysid_ros.engine.mechanics.lines import (
    LINE_ARMATURE,
    MovedLines,
    new_moved_lines,
    spread_square,
)
from sysid_ros.engine.mechanics.load_friction import FrictionLimits, new_friction_limits
from sysid_ros.engine.mechanics.model_tables import ARMATURE, Tables
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
    resistance: Resistance
    held: FloatArray  # (nv, nv): what is implicit of Coriolis forces and the medium
    ahead: FloatArray  # (nv,): velocities, or by what they change in a step
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


def new_workspace(t: Tables, n_displaced: int, n: int) -> Workspace:
    """Room for ``n`` directions and so many displacements."""
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
        new_footing(nbody, nv, n_displaced),
        np.zeros((1, n)),
        new_moved_lines(t.lines, n),
        new_friction_limits(nv, n),
        new_resistance(t),
        *zeros((nv, nv), nv, (nv, nv), (nv, nv), (nv, nv), nv, nv, nv, nv, nv, nv),
        *zeros((2, 6, 10), (nv, 10), (nv, n), (nv, n), 4, 3, (3, 3), 4, (3, 3)),
    )


@compiled
def factorize_with(
    t: Tables,
    w: Workspace,
    diagonal: FloatArray,
    by_line: FloatArray,
    everywhere: bool,
    scale: float,
) -> bool:
    """Factorize the inertia and ``scale`` times what acts at joints, along lines and on feet.

    Args:
      t: The model.
      w: The instant; its ``factor`` is written.
      diagonal: Of the joints, (nv,).
      by_line: Of the lines, (n_line,).
      everywhere: Whether these are rows of the constraint solver: lines couple all their
        joints, not related ones only, and feet press.
      scale: Of both.

    Returns:
      Whether that can be.
    """
    _set_system(t, w, diagonal, by_line, everywhere, scale)
    if everywhere and w.footing.pressed[0] > 0:
        for i in range(diagonal.size):
            add_scaled(w.system, i, scale, w.footing.stiffness, i, diagonal.size)
    return factorize(w.system, w.factor)


@compiled_apart
def _set_system(
    t: Tables,
    w: Workspace,
    diagonal: FloatArray,
    by_line: FloatArray,
    everywhere: bool,
    scale: float,
) -> None:
    """The inertia and what acts at joints and along lines."""
    for i in range(diagonal.size):
        for j in range(diagonal.size):
            w.system[i, j] = w.inertia[i, j]
        w.system[i, i] += scale * diagonal[i]
    for k in range(by_line.size):
        spread_square(t.lines, k, scale * by_line[k], everywhere, w.system)


@compiled
def solve_implicitly(t: Tables, w: Workspace, h: float, x: FloatArray) -> bool:
    """Solve in place with the inertia and ``h`` times all that is implicit, (nv, n).

    Returns:
      Whether that can be.
    """
    if not t.holds or h == 0.0:
        if not factorize_with(t, w, w.forces.implicit, w.forces.line.implicit, False, h):
            return False
        solve_rows(w.factor, x)
        return True
    _set_system(t, w, w.forces.implicit, w.forces.line.implicit, False, h)
    for i in range(x.shape[0]):
        add_scaled(w.system, i, h, w.held, i, x.shape[0])
    return solve_with(w.system, x)


@compiled
def copy_inertia(t: Tables, w: Workspace) -> None:
    """The mass matrix with armature."""
    for i in range(w.inertia.shape[0]):
        for j in range(w.inertia.shape[0]):
            w.inertia[i, j] = w.derivatives.mass[i, j]
        w.inertia[i, i] += t.dof_fields[ARMATURE, i]
    for k in range(t.lines.equality.size):
        spread_square(t.lines, k, t.lines.fields[LINE_ARMATURE, k], False, w.inertia)
