# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parts of a model that do not feel each other, each a model of its own for the pass.

A kinematic tree that starts at the world moves by what acts in it alone: a leg of a robot that
hangs, one of two arms on a stand. Trees that a tendon or an equality couples are one part; where
trees touch, the equation of motion of each shows it. A part has fewer bodies and derivatives in
fewer directions, which saves the more the more parts there are; most models are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sysid_ros.arrays import BoolArray, IndexArray, IntArray
from sysid_ros.engine.derivatives.directions import ModelChanges
from sysid_ros.engine.derivatives.frame_readings import (
    ACCELERATED,
    BALL_ORIENTATION,
    BALL_SPIN,
    FrameReadings,
)
from sysid_ros.engine.derivatives.sensors import ACTUATOR, JOINT, TENDON, Readings
from sysid_ros.engine.mechanics import Connections, Ellipsoids, Feet, Lines, Paths, Tables

# What the first axis of a table counts, by the beginning of its name.
_COUNTS = {
    "body": "bodies", "inertia": "bodies", "gravity_compensation": "bodies", "jnt": "joints",
    "dof": "dofs", "actuator": "actuators", "ctrl": "actuators", "act": "actuators",
    "qpos0": "positions", "friction_fields": "dofs",
}  # fmt: skip
_COUNTED_LAST = ("dof_fields", "actuator_fields", "friction_fields")
# Tables whose values are indices, and of what.
_REFERS = {
    "body_parentid": "bodies", "body_jntadr": "joints", "body_dofadr": "dofs",
    "body_lastdof": "dofs", "jnt_qposadr": "positions", "jnt_dofadr": "dofs",
    "dof_bodyid": "bodies", "dof_jntid": "joints", "dof_parentid": "dofs", "dof_first": "dofs",
    "actuator_dof": "dofs", "actuator_line": "lines", "actuator_bodyid": "bodies",
    "actuator_act": "activations",
}  # fmt: skip
_LISTS = {"site_actuators": "actuators", "friction_dofs": "dofs"}
_OF_SENSOR = {JOINT: "dofs", ACTUATOR: "actuators", TENDON: "lines"}


class Elements(NamedTuple):
    """The elements of a part as indices into those of the model, ascending."""

    bodies: IndexArray  # those it moves, and the fixed ones that carry or hold it
    joints: IndexArray
    positions: IndexArray  # of qpos
    dofs: IndexArray
    actuators: IndexArray
    activations: IndexArray
    lines: IndexArray


class ModelPart(NamedTuple):
    """A part of a model."""

    elements: Elements  # what belongs to it
    rows: IndexArray  # which readings of the model it has, (k,), ascending
    tables: Tables  # its own
    readings: Readings  # its own, in the order of ``rows``

    def touched(self, t: Tables, changes: ModelChanges) -> BoolArray:
        """Mark the directions that change anything of the part of a model, (n_model,)."""
        result: BoolArray = np.zeros(changes.dof_fields.shape[-1], dtype=bool)
        for table in changes_of(t, changes, self.elements):
            if table.any():  # most are not, which is seen sooner
                result |= np.any(table, axis=tuple(range(table.ndim - 1)))
        return result


def model_parts(t: Tables, readings: Readings) -> tuple[ModelPart, ...]:
    """The parts of a model, one at least, and no more where one is seen from another.

    Args:
      t: The model.
      readings: What is read of it.
    """
    owners = _owners(t)
    of_readings = _reading_owners(readings, owners)
    parts = []
    count = int(owners.dofs.max(initial=0)) + 1
    if count == 1 or np.any(readings.frames.reference >= 0):
        return (whole_model(t, readings),)
    for k in range(count):
        elements = Elements(
            _carried(t, owners.bodies, k), *(np.flatnonzero(own == k) for own in owners[1:])
        )
        rows = np.flatnonzero(of_readings == k)
        parts.append(
            ModelPart(elements, rows, _tables(t, elements), _readings(readings, rows, elements))
        )
    return tuple(parts)


def renewed_parts(
    parts: tuple[ModelPart, ...], before: Tables, t: Tables
) -> tuple[ModelPart, ...] | None:
    """The parts of a model whose tables have other values; ``None`` where more may differ.

    Args:
      parts: Those of the model before.
      before: Its tables.
      t: Its tables now.
    """
    changed = [
        name
        for name, old, new in zip(t._fields, before, t, strict=True)
        if not (old == new if np.isscalar(old) else _alike(old, new))
    ]
    if any(
        name in _REFERS or name in _LISTS or name in ("lines", "feet", "ellipsoids")
        for name in changed
    ):
        return None
    return tuple(
        part._replace(
            tables=part.tables._replace(
                **{name: _own(name, getattr(t, name), part.elements) for name in changed}
            )
        )
        for part in parts
    )


def _alike(old: Any, new: Any) -> bool:
    """Return whether two tables, or all of two groups of tables, are the same."""
    if isinstance(old, tuple):
        return all(map(_alike, old, new))
    return bool(old.shape == new.shape and old.tobytes() == new.tobytes())


def whole_model(t: Tables, readings: Readings) -> ModelPart:
    """A model as one part."""
    every = Elements(*(np.arange(own.size) for own in _owners(t)))
    return ModelPart(every, np.arange(readings.row.size + readings.frames.row.size), t, readings)


def renewed(parts: Sequence[ModelPart], t: Tables) -> tuple[ModelPart, ...]:
    """The same parts of a model whose numbers have changed, but not what connects its elements."""
    if len(parts) == 1:
        return (parts[0]._replace(tables=t),)
    return tuple(part._replace(tables=_tables(t, part.elements)) for part in parts)


def changes_of(t: Tables, changes: ModelChanges, own: Elements) -> ModelChanges:
    """The changes of the tables of one part of a model."""
    if own.dofs.size == changes.dof_fields.shape[1]:  # it is all of it
        return changes
    held = np.repeat(_chosen_connections(t, own), 2)
    return ModelChanges(
        changes.dof_fields[:, own.dofs],
        changes.actuator_fields[:, own.actuators],
        changes.line_fields[:, own.lines],
        changes.inertia[own.bodies],
        changes.friction_fields[:, own.dofs],
        changes.compensation[own.bodies],
        changes.gravity,
        changes.body_weight[own.bodies],
        changes.fluid[own.bodies],
        changes.body_places[own.bodies],
        changes.joint_places[own.joints],
        changes.site_places,
        changes.end_places[held],
    )


def _owners(t: Tables) -> Elements:
    """The number of the part that each element belongs to; -1 for bodies that are fixed."""
    roots = np.arange(t.dof_parentid.size)
    for i, parent in enumerate(t.dof_parentid.tolist()):
        roots[i] = i if parent < 0 else roots[parent]
    for first, end in zip(t.lines.first[:-1], t.lines.first[1:], strict=True):
        coupled = roots[t.lines.dof[first:end]]
        roots[np.isin(roots, coupled)] = coupled.min(initial=roots.size)
    for bodies in t.connections.body:
        ends = t.body_lastdof[bodies]
        coupled = roots[ends[ends >= 0]]
        roots[np.isin(roots, coupled)] = coupled.min(initial=roots.size)
    dofs = np.unique(roots, return_inverse=True)[1].reshape(-1)
    # What belongs nowhere, such as a thruster at a fixed body, belongs to the first.
    of_dof, last = np.append(dofs, -1), np.append(t.lines.dof, -1)
    bodies, joints = of_dof[t.body_lastdof], of_dof[t.jnt_dofadr]
    lines = np.maximum(of_dof[last[t.lines.first[:-1]]], 0)
    actuators = np.where(t.actuator_line >= 0, np.append(lines, 0)[t.actuator_line], -1)
    actuators = np.where(t.actuator_dof >= 0, of_dof[t.actuator_dof], actuators)
    at_site = np.isin(np.arange(actuators.size), t.site_actuators)
    actuators = np.where(at_site, bodies[t.actuator_bodyid], actuators)
    actuators = np.maximum(actuators, 0)
    return Elements(
        bodies,
        joints,
        np.repeat(joints, np.diff(np.append(t.jnt_qposadr, t.qpos0.size))),
        dofs,
        actuators,
        actuators[np.argsort(t.actuator_act)][np.count_nonzero(t.actuator_act < 0) :],
        lines,
    )


def _carried(t: Tables, owners: IndexArray, part: int) -> IndexArray:
    """The bodies of a part with those that carry it, or that it is connected with.

    The first also has all that are fixed.
    """
    chosen = (owners == part) | ((owners < 0) & (part == 0))
    chosen[0] = True
    ends = t.connections.body
    chosen[ends[np.any(owners[ends] == part, axis=1)]] = True
    for body in range(owners.size - 1, 0, -1):
        if chosen[body]:
            chosen[t.body_parentid[body]] = True
    return np.flatnonzero(chosen)


def _reading_owners(r: Readings, owners: Elements) -> IndexArray:
    """The part that each reading is of, (n_reading,)."""
    result = np.zeros(r.row.size + r.frames.row.size, dtype=np.int64)
    for element, kind in _OF_SENSOR.items():
        own = r.element == element
        result[r.row[own]] = getattr(owners, kind)[r.item[own]]
    ball = _of_ball(r.frames)
    result[r.frames.row[ball]] = owners.dofs[r.frames.item[ball]]
    result[r.frames.row[~ball]] = np.maximum(owners.bodies[r.frames.item[~ball]], 0)
    return result


def _of_ball(frames: FrameReadings) -> BoolArray:
    marked: BoolArray = np.isin(frames.quantity, (BALL_ORIENTATION, BALL_SPIN))
    return marked


def _tables(t: Tables, own: Elements) -> Tables:
    """The tables of a part."""
    result: dict[str, Any] = {}
    for name, table in t._asdict().items():
        if name == "lines":
            result[name] = _lines(t.lines, own)
        elif name == "feet":
            result[name] = _feet(t.feet, own)
        elif name == "ellipsoids":
            result[name] = _ellipsoids(t.ellipsoids, own)
        elif name == "connections":
            result[name] = _connections(t, own)
        elif name in _LISTS:
            chosen = getattr(own, _LISTS[name])
            result[name] = _renumbered(table[np.isin(table, chosen)], chosen)
        else:
            part, refers = _own(name, table, own), _REFERS.get(name)
            result[name] = part if refers is None else _renumbered(part, getattr(own, refers))
    return Tables(**result)


def _own(name: str, table: Any, own: Elements) -> Any:
    """The rows of a table that are about a part."""
    kind = _COUNTS.get(name) or _COUNTS.get(name.partition("_")[0])
    if not isinstance(table, np.ndarray) or kind is None:
        return table
    axis = table.ndim - 1 if name in _COUNTED_LAST else 0
    return np.ascontiguousarray(table.take(getattr(own, kind), axis=axis))


def _lines(lines: Lines, own: Elements) -> Lines:
    """The lines of a part."""
    counts = np.diff(lines.first)
    entries = np.isin(np.repeat(np.arange(counts.size), counts), own.lines)
    changed: dict[str, Any] = {
        "first": np.append(0, np.cumsum(counts[own.lines])).astype(np.int64),
        "dof": _renumbered(lines.dof[entries], own.dofs),
        "address": _renumbered(lines.address[entries], own.positions),
        "coefficient": lines.coefficient[entries],
        "related": np.ascontiguousarray(lines.related[np.ix_(own.dofs, own.dofs)]),
        "fields": np.ascontiguousarray(lines.fields[:, own.lines]),
        "path": _paths(lines.path, own),
        "course": lines.course._replace(
            extent=lines.course.extent[own.lines], bend=lines.course.bend[entries]
        ),
    }
    rest = {
        name: table[own.lines] for name, table in lines._asdict().items() if name not in changed
    }
    return Lines(**changed, **rest)


def _paths(paths: Paths, own: Elements) -> Paths:
    """The paths of the lines of a part."""
    counts = np.diff(paths.first)
    chosen = np.isin(np.repeat(np.arange(counts.size), counts), own.lines)
    changed: dict[str, Any] = {
        "first": np.append(0, np.cumsum(counts[own.lines])).astype(np.int64),
        "body": _renumbered(paths.body[chosen], own.bodies),
    }
    rest = {
        name: np.ascontiguousarray(table[chosen])
        for name, table in paths._asdict().items()
        if name not in changed
    }
    return Paths(**changed, **rest)


def _feet(feet: Feet, own: Elements) -> Feet:
    """The feet of a part."""
    chosen = np.isin(feet.pairs.body[:, 1], own.bodies)
    tables: list[Any] = [_chosen(table, chosen) for table in feet]
    pairs = tables.pop()
    return Feet(*[*tables, pairs._replace(body=_renumbered(pairs.body, own.bodies))])


def _chosen(table: Any, chosen: BoolArray) -> Any:
    """Rows of a table, or of each of a group of tables."""
    if isinstance(table, tuple):
        return type(table)(*(_chosen(each, chosen) for each in table))
    return np.ascontiguousarray(table[chosen])


def _ellipsoids(ellipsoids: Ellipsoids, own: Elements) -> Ellipsoids:
    """The ellipsoids of a part."""
    chosen = np.isin(ellipsoids.body, own.bodies)
    part = {
        name: np.ascontiguousarray(table[chosen]) for name, table in ellipsoids._asdict().items()
    }
    return Ellipsoids(**{**part, "body": _renumbered(part["body"], own.bodies)})


def _connections(t: Tables, own: Elements) -> Connections:
    """The connections of a part."""
    chosen = _chosen_connections(t, own)
    part: dict[str, Any] = {
        name: np.ascontiguousarray(table[chosen]) for name, table in t.connections._asdict().items()
    }
    return Connections(**{**part, "body": _renumbered(part["body"], own.bodies)})


def _chosen_connections(t: Tables, own: Elements) -> BoolArray:
    """Mark the connections of a part."""
    return np.isin(t.body_lastdof[t.connections.body].max(axis=1), own.dofs)


def _readings(r: Readings, rows: IndexArray, own: Elements) -> Readings:
    """The readings of a part."""
    scalar, framed = np.isin(r.row, rows), np.isin(r.frames.row, rows)
    items = r.item.copy()
    for element, kind in _OF_SENSOR.items():
        ours = scalar & (r.element == element)
        items[ours] = _renumbered(r.item[ours], getattr(own, kind))
    ball, places = _of_ball(r.frames), r.frames.item.copy()
    for ours, among in ((framed & ball, own.dofs), (framed & ~ball, own.bodies)):
        places[ours] = _renumbered(places[ours], among)
    frames: dict[str, Any] = {
        name: table[framed]
        for name, table in r.frames._asdict().items()
        if name not in ("row", "item", "field", "accelerated", "loaded")
    }
    frames["accelerated"] = bool(np.isin(frames["quantity"], ACCELERATED).any())
    return Readings(
        _renumbered(r.row[scalar], rows),
        r.quantity[scalar],
        r.element[scalar],
        items[scalar],
        r.frames._replace(
            row=_renumbered(r.frames.row[framed], rows), item=places[framed], **frames
        ),
    )


def _renumbered(indices: IntArray, chosen: IndexArray) -> IntArray:
    """The places of indices among the chosen ones; -1 stays."""
    found: IntArray = np.where(indices < 0, -1, np.searchsorted(chosen, indices)).astype(np.int64)
    return found
