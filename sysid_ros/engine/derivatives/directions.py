# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The directions in which a rollout is differentiated: what each changes in the model and start.

Starts are changed in the tangent space, where an orientation has three components.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.elements import (
    BALL,
    FREE,
    InverseWeights,
    ReferencePosture,
    gravity_of,
    inertial_parameters,
)
from sysid_ros.engine.mechanics import (
    ARMATURE,
    FRAME,
    INVWEIGHT,
    Displacements,
    Mountings,
    Tables,
    actuator_fields,
    body_places,
    connections_of,
    displacements_of,
    dof_fields,
    end_places,
    fluid_fields,
    friction_fields,
    has_connections,
    has_feet,
    joint_places,
    line_fields,
    local_twists,
    mountings_of,
    site_places,
)
from sysid_ros.engine.signals import rotation_between
from sysid_ros.engine.simulation import Candidate, Perturbation, RunBatch


class ModelChanges(NamedTuple):
    """Derivatives of the model's tables in the parameters, as they are found."""

    dof_fields: FloatArray  # (N_DOF_FIELDS, nv, n_model)
    actuator_fields: FloatArray  # (N_ACTUATOR_FIELDS, nu, n_model)
    line_fields: FloatArray  # (N_LINE_FIELDS, n_line, n_model)
    inertia: FloatArray  # (nbody, 10, n_model)
    friction_fields: FloatArray  # (TERMS, nv, n_model)
    compensation: FloatArray  # (nbody, n_model)
    gravity: FloatArray  # (3, n_model)
    body_weight: FloatArray  # (nbody, 2, n_model): of inverse inertia, felt by what presses
    fluid: FloatArray  # (nbody, 18 or 0, n_model): of the medium around it
    body_places: FloatArray  # (nbody, 7, n_model)
    joint_places: FloatArray  # (njnt, 6, n_model)
    site_places: FloatArray  # (nsite, 7, n_model)
    end_places: FloatArray  # (2 n_connection, 7, n_model)


@dataclass(frozen=True)
class ChangingTables:
    """The tables of a model that parameters change; :class:`ModelChanges` are derivatives."""

    model: mujoco.MjModel
    tables: tuple[FloatArray, ...]  # in the order of :class:`ModelChanges`
    stands: bool  # whether anything may press on something, or is connected
    # where inverse inertia is told, if it follows from the other tables
    posture: ReferencePosture | None
    weights: InverseWeights | None  # how it follows from them: the tables have zeros for it

    @classmethod
    def of(
        cls,
        model: mujoco.MjModel,
        before: ChangingTables | None = None,
        touching: bool = False,
    ) -> ChangingTables:
        """The tables of a model.

        Args:
          model: The model.
          touching: Whether its geoms touch, other than as feet.
          before: Those of one that may have the same posture.
        """
        same = before is not None and _weighs_alike(model, before.model)
        inertia = before.tables[3] if before and same else inertial_parameters(model)
        stands = touching or has_feet(model) or has_connections(model)
        tables = _changing(model, stands, inertia)
        if stands or tables[2].shape[1]:  # lines and bodies have inverse weights, too
            return cls(model, tables, stands, None, None)
        posture = None if before is None else before.posture
        if posture is None or not posture.is_of(model):
            posture = ReferencePosture(model)
        weights = posture.inverse_weights(model, inertia)
        if weights is not None:
            tables[0][INVWEIGHT] = 0.0
        return cls(model, tables, stands, posture, weights)

    def of_moved(self, model: mujoco.MjModel) -> tuple[FloatArray, ...]:
        """The same tables of a model with parameters moved."""
        same = _weighs_alike(model, self.model)
        tables = _changing(model, self.stands, self.tables[3] if same else None)
        if self.weights is not None:
            tables[0][INVWEIGHT] = 0.0
        return tables

    def completed(self, changes: ModelChanges) -> ModelChanges:
        """Changes of these tables with what follows from them."""
        if self.weights is None:
            return changes
        fields = changes.dof_fields.copy()
        fields[INVWEIGHT] = self.weights.by_armature @ fields[ARMATURE]
        if np.any(changes.inertia):
            fields[INVWEIGHT] += np.tensordot(self.weights.by_inertia, changes.inertia, 2)
        if np.any(changes.body_places) or np.any(changes.joint_places):
            twists = local_twists(self.model, changes.body_places, changes.joint_places)
            fields[INVWEIGHT] += np.tensordot(self.weights.by_displacement, twists, 2)
        return changes._replace(dof_fields=fields)


_INERTIAL = ("body_mass", "body_ipos", "body_iquat", "body_inertia")


def _weighs_alike(model: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    return all(np.array_equal(getattr(model, n), getattr(other, n)) for n in _INERTIAL)


def _changing(
    model: mujoco.MjModel, stands: bool, inertia: FloatArray | None
) -> tuple[FloatArray, ...]:
    """The tables that parameters change, with inertial parameters where they are known."""
    return (
        dof_fields(model),
        actuator_fields(model),
        line_fields(model),
        inertial_parameters(model) if inertia is None else inertia,
        friction_fields(model),
        np.array(model.body_gravcomp),
        gravity_of(model),
        np.array(model.body_invweight0) * stands,
        fluid_fields(model),
        body_places(model),
        joint_places(model),
        site_places(model),
        end_places(connections_of(model)) if has_connections(model) else np.zeros((0, 7)),
    )


class ModelDirections(NamedTuple):
    """Model changes with what is touched, shared by all rollouts.

    Inertial parameters are kept sparse, as a parameter seldom touches more than a few bodies.
    """

    dof_fields: FloatArray  # (N_DOF_FIELDS, nv, n_model)
    dof_touched: IntArray  # (k, 2): the (field, dof) that any direction changes
    actuator_fields: FloatArray  # (N_ACTUATOR_FIELDS, nu, n_model)
    actuator_touched: IntArray  # (k, 2)
    line_fields: FloatArray  # (N_LINE_FIELDS, n_line, n_model)
    line_touched: IntArray  # (k, 2)
    body_first: IntArray  # (nbody + 1,): where each body's entries begin
    inertia_direction: IntArray  # (entries,): the direction
    inertia_change: FloatArray  # (entries, 10)
    friction_fields: FloatArray  # (TERMS, nv, n_model)
    lifted: IntArray  # (k,): the bodies whose gravity compensation changes
    compensation: FloatArray  # (nbody, n_model)
    pulled: IntArray  # (k,): the components of gravity that change
    gravity: FloatArray  # (3, n_model)
    body_weight: FloatArray  # (nbody, 2, n_model)
    fluid: FloatArray  # (nbody, 18 or 0, n_model)
    displacements: Displacements
    mountings: Mountings  # of sites, then of the boxes of all bodies that a medium flows around


class StepSlopes(NamedTuple):
    """Derivatives of those steps of rollouts that the pass does not cover.

    Both count positions, velocities and activations behind the step, then readings before it.
    """

    place: IntArray  # (steps,): where a step's are among these; -1 where the pass covers it
    by_state: FloatArray  # (k, 2 nv + na + n_reading, 2 nv + na)
    direct: FloatArray  # (k, 2 nv + na + n_reading, n): at a given state


def all_covered(steps: int) -> StepSlopes:
    """Slopes of no step."""
    nothing = np.zeros((0, 0, 0))
    return StepSlopes(np.full(steps, -1, dtype=np.int64), nothing, nothing)


class StateChanges(NamedTuple):
    """Derivatives of the state at one instant, and of the controls."""

    q: FloatArray  # (nv, n): of the positions
    v: FloatArray  # (nv, n)
    activation: FloatArray  # (na, n)
    control_direction: IntArray  # (n_control,): directions that change the controls
    control: FloatArray  # (n_control, nu)


class BatchDirections(NamedTuple):
    """The directions of derivatives of rollouts; those of the model come first."""

    start: FloatArray  # (w, 2 nv + na, n): of positions, velocities and activations
    control_direction: IntArray  # (n_control,): directions that change the controls
    control_change: FloatArray  # (steps, n_control, nu): steps one behind the other


def model_directions(t: Tables, changes: ModelChanges) -> ModelDirections:
    """Find what is touched of a model."""
    dof_fields, actuator_fields, line_fields, inertia, friction_fields, *lifts = changes[:7]
    compensation, gravity = lifts
    body, direction = np.nonzero(np.any(inertia != 0.0, axis=1))
    return ModelDirections(
        np.ascontiguousarray(dof_fields),
        _touched(dof_fields),
        np.ascontiguousarray(actuator_fields),
        _touched(actuator_fields),
        np.ascontiguousarray(line_fields),
        _touched(line_fields),
        np.searchsorted(body, np.arange(inertia.shape[0] + 1)).astype(np.int64),
        direction.astype(np.int64),
        np.ascontiguousarray(inertia[body, :, direction]),
        np.ascontiguousarray(friction_fields),
        np.flatnonzero(np.any(compensation != 0.0, axis=1)).astype(np.int64),
        np.ascontiguousarray(compensation),
        np.flatnonzero(np.any(gravity != 0.0, axis=1)).astype(np.int64),
        np.ascontiguousarray(gravity),
        np.ascontiguousarray(changes.body_weight),
        np.ascontiguousarray(changes.fluid),
        displacements_of(t, changes.body_places, changes.joint_places, changes.end_places),
        _mountings(t, changes),
    )


def _mountings(t: Tables, changes: ModelChanges) -> Mountings:
    """The twists of sites, and of boxes in a medium."""
    if not t.in_fluid:
        return mountings_of(t.site_places, changes.site_places)
    places = np.vstack([t.site_places, t.body_fluid[:, FRAME]])
    return mountings_of(places, np.concatenate([changes.site_places, changes.fluid[:, FRAME]]))


def _touched(fields: FloatArray) -> IntArray:
    places = np.argwhere(np.any(fields != 0.0, axis=2))
    return np.ascontiguousarray(places.reshape(-1, 2), dtype=np.int64)


def state_changes(model: mujoco.MjModel, before: FloatArray, after: FloatArray) -> FloatArray:
    """The ways from states (w, nq + nv + na) to others, in tangent space, (w, 2 nv + na)."""
    if model.nq == model.nv:
        return after - before
    moved = np.empty((len(before), model.nv))
    for joint in range(model.njnt):
        kind, dof = int(model.jnt_type[joint]), int(model.jnt_dofadr[joint])
        place = int(model.jnt_qposadr[joint])
        straight = 0 if kind == BALL else 3 if kind == FREE else 1
        own = slice(place, place + straight)
        moved[:, dof : dof + straight] = after[:, own] - before[:, own]
        if kind in (FREE, BALL):
            turned = slice(place + straight, place + straight + 4)
            vectors = rotation_between(before[:, turned], after[:, turned])
            moved[:, dof + straight : dof + straight + 3] = vectors
    return np.hstack([moved, (after - before)[:, model.nq :]])


def deviation_slope(model: mujoco.MjModel, deviation: FloatArray) -> FloatArray:
    """The derivative of a start by its deviation from the measured one, square.

    Adding to the rotation vector of an orientation turns it by the right Jacobian of rotations.
    """
    slope = np.eye(deviation.size)
    for joint in range(model.njnt):
        kind, dof = int(model.jnt_type[joint]), int(model.jnt_dofadr[joint])
        if kind in (FREE, BALL):
            ball = dof + (3 if kind == FREE else 0)
            own = slice(ball, ball + 3)
            slope[own, own] = _right_jacobian(deviation[own])
    return slope


def _right_jacobian(vector: FloatArray) -> FloatArray:
    """Sola, Deray & Atchuthan (2018), eq. 143, (3, 3)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    second = 2.0 * (np.sin(0.5 * angle) / angle) ** 2
    third = (angle - np.sin(angle)) / angle**3 if angle > 1e-3 else (1.0 - angle**2 / 20.0) / 6.0
    jacobian: FloatArray = np.eye(3) - second * cross + third * cross @ cross
    return jacobian


def start_directions(
    batch: RunBatch,
    deviations: FloatArray,
    starts: FloatArray,
    moved: Sequence[Perturbation],
    moving: Sequence[int],
) -> FloatArray:
    """Return the derivatives of the starts in every direction, (w, 2 nv + na, n)."""
    model, n_start = batch.model, batch.spread.shape[1]
    size = 2 * model.nv + model.na
    directions = np.zeros((len(starts), size, len(moved) + n_start))
    for k in moving:
        change = batch.starts(moved[k].candidate, deviations)[:, 1:]
        directions[:, :, k] = state_changes(model, starts, change) / moved[k].step
    if n_start and model.nq == model.nv:
        directions[:, :, len(moved) :] = np.eye(n_start)
    elif n_start:
        directions[:, :, len(moved) :] = [deviation_slope(model, each) for each in deviations]
    directions[:, :, len(moved) :] *= batch.seen
    return directions


def control_directions(
    batch: RunBatch,
    base: Candidate,
    control: FloatArray,
    moved: Sequence[Perturbation],
    moving: Sequence[int],
) -> tuple[IntArray, FloatArray]:
    """The directions that change the controls, and how: (n_control,), (steps, n_control, nu)."""
    which, changes = [], []
    for k in moving:
        if moved[k].candidate.same_controls(base):  # it changes the starts
            continue
        change = (batch.controls(moved[k].candidate) - control) / moved[k].step
        if np.any(change):
            which.append(k)
            changes.append(change)
    stacked = (
        np.stack(changes, axis=1) if changes else np.zeros((len(control), 0, control.shape[1]))
    )
    return np.array(which, dtype=np.int64), np.ascontiguousarray(stacked)
