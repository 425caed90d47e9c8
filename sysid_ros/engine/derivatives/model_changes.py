# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The changes of a model by parameters: differences of compiled models, table by table.

The model is compiled once per parameter, so everything the compiler couples (a damping ratio makes
armature change an actuator's bias) is in the derivative. That shows which joints, actuators, lines
and bodies a parameter touches; later, one compilation serves all that touch different ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.derivatives.directions import ChangingTables, ModelChanges
from sysid_ros.engine.derivatives.model_parts import (
    ModelPart,
    model_parts,
    renewed,
    whole_model,
)
from sysid_ros.engine.derivatives.sensors import readings
from sysid_ros.engine.mechanics import INVWEIGHT, TIME, inertial_frames, tables_of
from sysid_ros.engine.simulation import Candidate, CandidateBuilder, Perturbation

# How far from where derivatives lead to a number may be, relative to the way, and to its value.
LASTING, ROUNDING = 1e-7, 1e-15


def model_derivative(
    base: ChangingTables, moved: Sequence[mujoco.MjModel], steps: Sequence[float]
) -> ModelChanges:
    """Difference quotients of the tables.

    Args:
      base: Those at the point.
      moved: The model with one parameter moved each.
      steps: By how much, not zero.
    """
    others = [base.of_moved(model) for model in moved]
    return ModelChanges(
        *(
            _quotients(table, [other[k] for other in others], steps)
            for k, table in enumerate(base.tables)
        )
    )


@dataclass(frozen=True)
class KnownChanges:
    """The changes of a model's tables at a point, most of which last: damping adds to damping."""

    theta: FloatArray  # the point, (p,)
    base: ChangingTables  # the tables there
    parameters: tuple[int, ...]  # those that the changes are by, in their order
    changes: ModelChanges  # the derivatives

    def lasting(self, theta: FloatArray, base: ChangingTables) -> list[int]:
        """The parameters whose derivatives seem to be what they were.

        Whatever such a parameter changes has gone where the derivatives lead to.

        Args:
          theta: Another point, (p,).
          base: The tables there.
        """
        columns = list(self.parameters)
        if (base.weights is None) != (self.base.weights is None):
            return []
        wrong = self._wrong(self.base.tables, base.tables, (theta - self.theta)[columns])
        # What filters is an input of the simulation, for which models are compared.
        lasts = ~np.any(self.changes.actuator_fields[TIME] != 0.0, axis=0)
        acts = np.zeros(len(columns), dtype=bool)  # on the model, rather than on a command
        for table, change in zip(wrong, self.changes, strict=True):
            if table is None and acts.all():
                continue
            touched = change != 0.0
            axes = tuple(range(touched.ndim - 1))
            acts |= touched.any(axis=axes)
            if table is not None:
                lasts &= ~(touched & table[..., np.newaxis]).any(axis=axes)
        return [j for j, last in zip(columns, lasts & acts, strict=True) if last]

    def hold(self, base: ChangingTables, moved: mujoco.MjModel, change: FloatArray) -> bool:
        """Return whether the derivatives lead from one model to another, in all their numbers.

        Args:
          base: Tables at a point.
          moved: The model with several parameters changed at once.
          change: By how much, (p,).
        """
        wrong = self._wrong(base.tables, base.of_moved(moved), change[list(self.parameters)])
        return not any(table is not None and table.any() for table in wrong)

    def _wrong(
        self, tables: Sequence[FloatArray], after: Sequence[FloatArray], step: FloatArray
    ) -> list[BoolArray | None]:
        """Mark where a step does not lead from tables to those of a model; ``None`` for nowhere."""
        result: list[BoolArray | None] = []
        for old, new, change in zip(tables, after, self.changes, strict=True):
            if np.array_equal(old, new):
                result.append(None)
                continue
            parts = change * step
            with np.errstate(invalid="ignore"):  # limits that are infinite
                error = np.abs(new - old - parts.sum(axis=-1))
            near = error <= LASTING * np.abs(parts).sum(axis=-1) + ROUNDING * np.abs(old)
            result.append((old != new) & ~near)
        return result

    def of(self, lasting: Sequence[int]) -> ModelChanges:
        """The changes by those parameters that last, in their order."""
        if len(lasting) == len(self.parameters):
            return self.changes
        places = {j: k for k, j in enumerate(self.parameters)}
        own = [places[j] for j in lasting]
        return ModelChanges(*(table[..., own] for table in self.changes))


class TablesReader:
    """Reads the tables of one model at point after point.

    Args:
      addresses: The columns of its sensor data that are read, ascending.
    """

    def __init__(self, addresses: IndexArray) -> None:
        self._addresses = addresses
        self._latest: tuple[tuple[ModelPart, ...], ModelPart] | None = None
        self._sites: FloatArray | None = None  # places that readings were taken at

    def read(self, base: ChangingTables, static: bool) -> tuple[tuple[ModelPart, ...], ModelPart]:
        """The parts of the model with their tables and what is read of them, and all as one.

        Args:
          base: What changes with parameters.
          static: Whether nothing else does.
        """
        sites = base.tables[-2]
        stays = self._sites is not None and np.array_equal(sites, self._sites)
        if self._latest is None or not (static and stays) or base.stands:
            self._sites = sites
            tables, read = tables_of(base.model), readings(base.model, self._addresses)
            self._latest = model_parts(tables, read), whole_model(tables, read)
            return self._latest
        dof, actuator, line, inertia, friction, compensation, gravity, *rest = base.tables
        _, fluid, bodies, joints, *_ = rest
        dof = dof.copy()
        dof[INVWEIGHT] = base.model.dof_invweight0
        parts, whole = self._latest
        tables = whole.tables._replace(
            dof_fields=dof,
            actuator_fields=actuator,
            lines=whole.tables.lines._replace(fields=line),
            inertia=inertia,
            friction_fields=friction,
            gravity=gravity,
            gravity_compensation=compensation,
            compensates=bool(np.any(compensation)),
            body_fluid=fluid,
            body_frame=inertial_frames(fluid),
            body_pos=np.ascontiguousarray(bodies[:, :3]),
            body_quat=np.ascontiguousarray(bodies[:, 3:]),
            jnt_pos=np.ascontiguousarray(joints[:, :3]),
            jnt_axis=np.ascontiguousarray(joints[:, 3:]),
        )
        return renewed(parts, tables), whole._replace(tables=tables)


def merged(
    parts: Sequence[tuple[Sequence[int], ModelChanges]],
) -> tuple[tuple[int, ...], ModelChanges]:
    """All parameters, ascending, and the changes by them, from parts by some of them each.

    Those of a part are in ascending order.
    """
    if len(parts) == 1:
        ((own, found),) = parts
        return tuple(own), found
    numbers = [j for own, _ in parts for j in own]
    order = np.argsort(numbers)
    tables = zip(*(changes for _, changes in parts), strict=True)
    joined = (np.concatenate(table, axis=-1)[..., order] for table in tables)
    return tuple(sorted(numbers)), ModelChanges(*joined)


class SharedMoves:
    """The parameters that can be moved in one model, as they touch different elements of it.

    Attributes:
      groups: By component, those that are moved together.
    """

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self._touched: dict[int, BoolArray] = {}

    def without(self, lasting: Collection[int]) -> SharedMoves:
        """Those whose effect on the model is not known already."""
        rest = SharedMoves()
        rest.groups = [[j for j in group if j not in lasting] for group in self.groups]
        rest.groups = [group for group in rest.groups if group]
        rest._touched = self._touched
        return rest

    @property
    def components(self) -> list[int]:
        """All that share, ascending."""
        return sorted(j for group in self.groups for j in group)

    def learn(
        self,
        builder: CandidateBuilder,
        base: Candidate,
        moved: Mapping[int, Perturbation],
        changes: ModelChanges,
    ) -> None:
        """Find out which parameters can share models from now on.

        Args:
          builder: Of the models.
          base: The candidate at the point.
          moved: Parameters moved alone, by component.
          changes: Theirs, in this order.
        """
        marks, components = _touched(changes), []
        for k, (j, column) in enumerate(moved.items()):
            # What has no effect here may have one elsewhere, which would be taken for another's.
            acts = marks[:, k].any()
            if acts and builder.independent(j) and column.candidate.same_inputs(base):
                before = self._touched.get(j, marks[:, k])
                same = before.shape == marks[:, k].shape
                self._touched[j] = marks[:, k] | before if same else marks[:, k]
                components.append(j)
        groups: list[tuple[list[int], BoolArray]] = []
        for j in components:
            own = self._touched[j]
            free = next((group for group in groups if not np.any(group[1] & own)), None)
            if free is None:
                groups.append(([j], own.copy()))
            else:
                free[0].append(j)
                free[1][:] |= own
        self.groups = [group for group, _ in groups] if len(groups) < len(components) else []

    def changes(
        self,
        builder: CandidateBuilder,
        base: Candidate,
        tables: ChangingTables,
        theta: FloatArray,
        steps: Sequence[float],
    ) -> ModelChanges | None:
        """The changes by all components, in ascending order.

        Args:
          builder: Of the models.
          base: The candidate at the point.
          tables: Its model's.
          theta: The point, (p,).
          steps: How far each parameter is moved, not zero.

        Returns:
          ``None`` where nothing is shared, or something changed that no parameter of the group is
          known to touch.
        """
        components = self.components
        moved = [
            builder.together(base, {j: theta[j] + steps[j] for j in group}) for group in self.groups
        ]
        if not moved or any(model is None for model in moved):
            return None
        of = np.array(
            [next(g for g, own in enumerate(self.groups) if j in own) for j in components]
        )
        marks = np.stack([self._touched[j] for j in components], axis=1)
        found = model_derivative(tables, moved, [1.0] * len(moved))
        changed = _touched(found)
        if len(changed) != len(marks):
            return None
        for g in range(len(moved)):
            if np.any(changed[:, g] & ~marks[:, of == g].any(axis=1)):
                return None
        model, n_line = base.model, found.line_fields.shape[1]
        n_end = len(found.end_places)
        sizes = (model.nv, model.nu, n_line, model.nbody, model.njnt, model.nsite, n_end, 3)
        own = marks / np.array([steps[j] for j in components])
        split = np.split(own, np.cumsum(sizes)[:-1])
        dof, actuator, line, body, joint, site, end, gravity = split
        return ModelChanges(
            found.dof_fields[..., of] * dof,
            found.actuator_fields[..., of] * actuator,
            found.line_fields[..., of] * line,
            found.inertia[..., of] * body[:, np.newaxis],
            found.friction_fields[..., of] * dof,
            found.compensation[..., of] * body,
            found.gravity[..., of] * gravity,
            found.body_weight[..., of] * body[:, np.newaxis],
            found.fluid[..., of] * body[:, np.newaxis],
            found.body_places[..., of] * body[:, np.newaxis],
            found.joint_places[..., of] * joint[:, np.newaxis],
            found.site_places[..., of] * site[:, np.newaxis],
            found.end_places[..., of] * end[:, np.newaxis],
        )


def _touched(changes: ModelChanges) -> BoolArray:
    """Mark the dofs, actuators, ... and components of gravity that change, (k, n_model)."""
    return np.concatenate(
        [
            np.any(changes.dof_fields, axis=0) | np.any(changes.friction_fields, axis=0),
            np.any(changes.actuator_fields, axis=0),
            np.any(changes.line_fields, axis=0),
            np.any(changes.inertia, axis=1)
            | (changes.compensation != 0.0)
            | np.any(changes.body_weight, axis=1)
            | np.any(changes.fluid, axis=1)
            | np.any(changes.body_places, axis=1),
            np.any(changes.joint_places, axis=1),
            np.any(changes.site_places, axis=1),
            np.any(changes.end_places, axis=1),
            changes.gravity != 0.0,
        ]
    )


def _quotients(base: FloatArray, moved: Sequence[FloatArray], steps: Sequence[float]) -> FloatArray:
    """Difference quotients, a column each on the last axis."""
    result = np.zeros((*base.shape, len(moved)))
    for k, (table, step) in enumerate(zip(moved, steps, strict=True)):
        known = np.isfinite(base)  # infinite limits stay what they are
        result[known, k] = (table[known] - base[known]) / step
    return result
