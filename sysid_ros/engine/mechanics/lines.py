# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lengths that forces act along: tendons, slider-cranks, and joints that an equality couples.

A fixed tendon or an equality of joints has the length c . q; what has a path through space
(:mod:`.paths`) has the slope c at the position where it was last laid. Springs, dampers, actuators,
armature and the rows of the constraint
solver act along a line as they do at a joint, and reach the joints through c. MuJoCo keeps matrices
of inertia and of what is implicit only where one joint carries the other, so that armature and
implicit damping along a line do not couple the fingers of a hand; rows of constraints do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray, floats, integers, zeros
from sysid_ros.engine.compiled import add_scaled, compiled, compiled_apart
from sysid_ros.engine.elements import SCALAR, related_dofs
from sysid_ros.engine.mechanics.connections import CONNECT, CONNECTS_EXACTLY, WELD
from sysid_ros.engine.mechanics.paths import (
    Paths,
    Segment,
    crank_actuators,
    moved_by,
    paths_of,
    segment_of_crank,
    segments_of_tendon,
    unsupported_paths,
)

# Rows of Lines.fields: what a parameter may change about one line.
LINE_ARMATURE, LINE_FRICTIONLOSS, LINE_INVWEIGHT, LINE_DAMPING, LINE_STIFFNESS = 0, 1, 2, 3, 4
N_LINE_FIELDS = 5

_DISABLE = mujoco.mjtDisableBit
_JOINT, _FIXED = int(mujoco.mjtEq.mjEQ_JOINT), int(mujoco.mjtWrap.mjWRAP_JOINT)


class Course(NamedTuple):
    """The lines at one position: written by what lays them, so not to be shared by threads."""

    extent: FloatArray  # (n,): lengths
    bend: FloatArray  # (entries, width): of paths, the coefficients' slopes by the line's joints
    gradient: FloatArray  # (6,): scratch
    curvature: FloatArray  # (6, 6): scratch


class Lines(NamedTuple):
    """The lines of a model: tendons, then its active equalities of joints, then slider-cranks."""

    first: IntArray  # (n + 1,): where the joints of each begin
    dof: IntArray  # (entries,)
    coefficient: FloatArray  # (entries,): of a path written with its course
    address: IntArray  # (entries,): of the joint in qpos
    related: IntArray  # (nv, nv): 1 where one degree of freedom carries the other
    fields: FloatArray  # (N_LINE_FIELDS, n)
    relaxed: FloatArray  # (n, 2): lengths between which its spring is slack
    equality: IntArray  # (n,): 1 where the length is to be ``target``
    target: FloatArray  # (n,)
    limited: IntArray  # (n,)
    range: FloatArray  # (n, 2)
    margin: FloatArray  # (n,)
    solref: FloatArray  # (n, 2): of the limit, or of the equality
    solimp: FloatArray  # (n, 5)
    friction_solref: FloatArray  # (n, 2)
    friction_solimp: FloatArray  # (n, 5)
    path: Paths
    course: Course


def lines_of(model: mujoco.MjModel) -> Lines:
    """The lines of a model that :func:`unsupported_lines` has nothing against."""
    equalities, paths = _equalities(model), _paths(model)
    entries = [_of_tendon(model, k) for k in range(model.ntendon)]
    entries += [_of_equality(model, k) for k in equalities]
    entries += [([], [])] * (len(paths) - len(entries))
    for place, segments in enumerate(paths):
        if segments:
            dofs = moved_by(model, segments)
            entries[place] = dofs, [0.0] * len(dofs)
    first = np.cumsum([0] + [len(dofs) for dofs, _ in entries])
    count, coupled = len(entries), slice(model.ntendon, model.ntendon + len(equalities))
    limits = not int(model.opt.disableflags) & int(_DISABLE.mjDSBL_LIMIT)
    path = paths_of(model, paths, [dofs for dofs, _ in entries])
    dofs = [dof for own, _ in entries for dof in own]
    equality, target = np.zeros(count), np.zeros(count)
    equality[coupled] = 1
    target[coupled] = [_target(model, k) for k in equalities]
    solref = np.asarray(model.eq_solref)[equalities]
    solimp = np.asarray(model.eq_solimp)[equalities]
    return Lines(
        first=integers(first),
        dof=integers(dofs),
        address=integers([int(model.jnt_qposadr[int(model.dof_jntid[dof])]) for dof in dofs]),
        related=related_dofs(model),
        coefficient=floats([value for _, values in entries for value in values]),
        fields=line_fields(model),
        relaxed=_rows(count, model.tendon_lengthspring),
        equality=integers(equality),
        target=floats(target),
        limited=integers(_rows(count, np.asarray(model.tendon_limited) * limits)),
        range=_rows(count, model.tendon_range),
        margin=_rows(count, model.tendon_margin),
        solref=_rows(count, np.vstack([model.tendon_solref_lim, solref])),
        solimp=_rows(count, np.vstack([model.tendon_solimp_lim, solimp])),
        friction_solref=_rows(count, model.tendon_solref_fri),
        friction_solimp=_rows(count, model.tendon_solimp_fri),
        path=path,
        course=_new_course(count, len(dofs), path.carried.shape[2]),
    )


class MovedLines(NamedTuple):
    """Derivatives of lines at one instant in all directions."""

    extent: FloatArray  # (n_line, n): of the lengths
    speed: FloatArray  # (n_line, n)
    turned: FloatArray  # (entries, n): of the coefficients of paths


def new_moved_lines(lines: Lines, n: int) -> MovedLines:
    """Room for ``n`` directions."""
    n_line, entries = lines.equality.size, lines.dof.size
    return MovedLines(*zeros((n_line, n), (n_line, n), (entries, n)))


def with_own_course(lines: Lines) -> Lines:
    """The same lines with room of their own for what changes with the position."""
    course = _new_course(lines.equality.size, *lines.course.bend.shape)
    return lines._replace(coefficient=lines.coefficient.copy(), course=course)


def line_of_crank(model: mujoco.MjModel, actuator: int) -> int:
    """The line of an actuator that acts on a slider-crank."""
    before = int(model.ntendon) + len(_equalities(model))
    return before + crank_actuators(model).index(actuator)


def _new_course(n_line: int, entries: int, width: int) -> Course:
    return Course(*zeros(n_line, (entries, width), 6, (6, 6)))


def _paths(model: mujoco.MjModel) -> list[list[Segment]]:
    """The segments of every line, none where its length is linear in joint positions."""
    tendons = [segments_of_tendon(model, k) for k in range(model.ntendon)]
    equalities: list[list[Segment]] = [[] for _ in _equalities(model)]
    return tendons + equalities + [[segment_of_crank(model, u)] for u in crank_actuators(model)]


def line_fields(model: mujoco.MjModel) -> FloatArray:
    """Values of each line that a parameter may change, (N_LINE_FIELDS, n)."""
    equalities, cranks = _equalities(model), crank_actuators(model)
    tendons = np.zeros((N_LINE_FIELDS, model.ntendon))
    disabled = int(model.opt.disableflags)
    tendons[LINE_ARMATURE] = model.tendon_armature
    if not disabled & int(_DISABLE.mjDSBL_FRICTIONLOSS):
        tendons[LINE_FRICTIONLOSS] = model.tendon_frictionloss
    tendons[LINE_INVWEIGHT] = model.tendon_invweight0
    if not disabled & int(_DISABLE.mjDSBL_DAMPER):
        tendons[LINE_DAMPING] = model.tendon_damping
    if not disabled & int(_DISABLE.mjDSBL_SPRING):
        tendons[LINE_STIFFNESS] = model.tendon_stiffness
    coupled = np.zeros((N_LINE_FIELDS, len(equalities)))
    for place, k in enumerate(equalities):
        coupled[LINE_INVWEIGHT, place] = sum(
            float(model.dof_invweight0[dof]) for dof in _of_equality(model, k)[0]
        )
    return np.ascontiguousarray(
        np.hstack([tendons, coupled, np.zeros((N_LINE_FIELDS, len(cranks)))])
    )


def unsupported_lines(model: mujoco.MjModel) -> str | None:
    """Return why the pass does not know a tendon or an equality, ``None`` if it knows them all."""
    if not (model.ntendon or model.neq):
        return unsupported_paths(model)
    if np.any(model.tendon_actfrclimited):
        return "a tendon limits the force of its actuators"
    for name in ("tendon_dampingpoly", "tendon_stiffnesspoly"):
        if np.any(getattr(model, name, 0.0)):
            return f"a tendon has {name.removeprefix('tendon_')}"
    if np.any(getattr(model, "tendon_plasticadr", np.full(1, -1)) >= 0):
        return "the model has plastic springs"
    active = [k for k in range(model.neq) if model.eq_active0[k]]
    known = (_JOINT, CONNECT, WELD) if mujoco.mj_version() >= CONNECTS_EXACTLY else (_JOINT,)
    if not np.all(np.isin(np.asarray(model.eq_type)[active], known)):
        return "the model has equalities of other things than joints and bodies"
    for k in _equalities(model):
        if np.any(model.eq_data[k, 2:5]):
            return "an equality couples joints by a polynomial"
        joints = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
        if any(int(model.jnt_type[joint]) not in SCALAR for joint in joints if joint >= 0):
            return "an equality couples a ball or free joint"
    return unsupported_paths(model)


def _equalities(model: mujoco.MjModel) -> list[int]:
    """The equalities of joints that act from the start."""
    if int(model.opt.disableflags) & int(_DISABLE.mjDSBL_EQUALITY):
        return []
    kinds = np.asarray(model.eq_type)
    return [k for k in range(model.neq) if model.eq_active0[k] and int(kinds[k]) == _JOINT]


def _of_tendon(model: mujoco.MjModel, k: int) -> tuple[list[int], list[float]]:
    """The joints of a fixed tendon with their coefficients, none of another."""
    own = slice(int(model.tendon_adr[k]), int(model.tendon_adr[k] + model.tendon_num[k]))
    if int(model.wrap_type[own.start]) != _FIXED:
        return [], []
    dofs = np.asarray(model.jnt_dofadr)[np.asarray(model.wrap_objid)[own]]
    return [int(dof) for dof in dofs], [float(value) for value in model.wrap_prm[own]]


def _of_equality(model: mujoco.MjModel, k: int) -> tuple[list[int], list[float]]:
    """The first joint, and where there is one the second with minus its coefficient."""
    dofs, values = [int(model.jnt_dofadr[int(model.eq_obj1id[k])])], [1.0]
    if int(model.eq_obj2id[k]) >= 0:
        dofs.append(int(model.jnt_dofadr[int(model.eq_obj2id[k])]))
        values.append(-float(model.eq_data[k, 1]))
    return dofs, values


def _target(model: mujoco.MjModel, k: int) -> float:
    """The length at which ``q1 - q1_0 = data[0] + data[1] (q2 - q2_0)`` holds."""
    dofs, values = _of_equality(model, k)
    at_reference = sum(
        value * float(model.qpos0[int(model.jnt_qposadr[int(model.dof_jntid[dof])])])
        for dof, value in zip(dofs, values, strict=True)
    )
    return at_reference + float(model.eq_data[k, 0])


def _rows(count: int, known: Any) -> FloatArray:
    """An array of so many lines of which the first are known and the others zero."""
    rows = np.asarray(known)
    return floats(np.concatenate([rows, np.zeros((count - len(rows), *rows.shape[1:]))]))


@compiled
def along(lines: Lines, k: int, x: FloatArray) -> float:
    """The component c . x of a vector in the degrees of freedom, (nv,)."""
    total = 0.0
    for i in range(lines.first[k], lines.first[k + 1]):
        total += lines.coefficient[i] * x[lines.dof[i]]
    return total


@compiled
def add_along(lines: Lines, k: int, scale: float, x: FloatArray, out: FloatArray) -> None:
    """``out += scale * (c . x)``, (1, n), with x of shape (nv, n)."""
    for i in range(lines.first[k], lines.first[k + 1]):
        add_scaled(out, 0, scale * lines.coefficient[i], x, lines.dof[i], x.shape[1])


@compiled
def spread(lines: Lines, k: int, scale: float, out: FloatArray) -> None:
    """``out += scale * c``, (nv,)."""
    for i in range(lines.first[k], lines.first[k + 1]):
        out[lines.dof[i]] += scale * lines.coefficient[i]


@compiled_apart
def spread_changes(
    lines: Lines, k: int, force: float, turned: FloatArray, change: FloatArray, out: FloatArray
) -> None:
    """Add the derivative of ``force * c`` to the rows of a line's joints, (nv, n).

    Args:
      lines: The lines.
      k: The line.
      force: Along it.
      turned: The derivatives of all coefficients, (entries, n).
      change: That of the force, (1, n).
      out: Added to.
    """
    for i in range(lines.first[k], lines.first[k + 1]):
        dof, coefficient = lines.dof[i], lines.coefficient[i]
        for c in range(out.shape[1]):
            out[dof, c] += coefficient * change[0, c] + force * turned[i, c]


@compiled
def spread_square(lines: Lines, k: int, scale: float, everywhere: bool, out: FloatArray) -> None:
    """``out += scale * c c^T``, (nv, nv), everywhere or between related joints only."""
    for i in range(lines.first[k], lines.first[k + 1]):
        for j in range(lines.first[k], lines.first[k + 1]):
            if everywhere or lines.related[lines.dof[i], lines.dof[j]]:
                change = scale * lines.coefficient[i] * lines.coefficient[j]
                out[lines.dof[i], lines.dof[j]] += change


@compiled
def related_along(lines: Lines, k: int, i: int, x: FloatArray) -> float:
    """The component of a vector, (nv,), along the joints related to that of entry ``i``."""
    total = 0.0
    for j in range(lines.first[k], lines.first[k + 1]):
        if lines.related[lines.dof[i], lines.dof[j]]:
            total += lines.coefficient[j] * x[lines.dof[j]]
    return total
