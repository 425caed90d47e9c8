# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of sensor readings."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import compiled, compiled_apart
from sysid_ros.engine.derivatives.directions import ModelDirections
from sysid_ros.engine.derivatives.forces import Forces
from sysid_ros.engine.derivatives.linear_algebra import add_scaled
from sysid_ros.engine.derivatives.model_tables import GEAR, Tables

_S = mujoco.mjtSensor
JOINTPOS, JOINTVEL = int(_S.mjSENS_JOINTPOS), int(_S.mjSENS_JOINTVEL)
ACTUATORPOS, ACTUATORVEL = int(_S.mjSENS_ACTUATORPOS), int(_S.mjSENS_ACTUATORVEL)
ACTUATORFRC, JOINTACTFRC = int(_S.mjSENS_ACTUATORFRC), int(_S.mjSENS_JOINTACTFRC)


class Readings(NamedTuple):
    """The scalar sensors to differentiate."""

    kind: IntArray  # (n_sensor,): mjtSensor
    item: IntArray  # (n_sensor,): the degree of freedom or the actuator


def readings(model: mujoco.MjModel, sensors: IntArray) -> Readings:
    """Readings of the sensors with these ids, all of a supported kind."""
    kind = np.asarray(model.sensor_type)[sensors].astype(np.int64)
    item = np.asarray(model.sensor_objid)[sensors].astype(np.int64)
    joint = np.isin(kind, (JOINTPOS, JOINTVEL, JOINTACTFRC))
    item[joint] = np.asarray(model.jnt_dofadr)[item[joint]]
    return Readings(kind, item)


@compiled_apart
def read(
    t: Tables,
    f: Forces,
    m: ModelDirections,
    r: Readings,
    q: FloatArray,
    v: FloatArray,
    dq: FloatArray,
    dv: FloatArray,
    control_direction: IntArray,
    control_change: FloatArray,
    out: FloatArray,
) -> None:
    """Write the derivatives of all readings at one instant, (n_sensor, n)."""
    out[:] = 0.0
    n = dq.shape[1]
    for k in range(r.kind.size):
        kind, item = r.kind[k], r.item[k]
        if kind == JOINTPOS:
            add_scaled(out, k, 1.0, dq, item, n)
        elif kind == JOINTVEL:
            add_scaled(out, k, 1.0, dv, item, n)
        elif kind in (ACTUATORPOS, ACTUATORVEL):
            dof = t.actuator_dof[item]
            source = dq if kind == ACTUATORPOS else dv
            value = q[t.jnt_qposadr[t.dof_jntid[dof]]] if kind == ACTUATORPOS else v[dof]
            add_scaled(out, k, t.actuator_fields[GEAR, item], source, dof, n)
            add_scaled(out, k, value, m.actuator_fields[GEAR], item, m.dof_fields.shape[2])
        elif kind == ACTUATORFRC:
            _add_actuator(
                t, f, m, item, 1.0, 0.0, dq, dv, control_direction, control_change, out, k
            )
        else:
            for u in range(t.actuator_dof.size):
                if t.actuator_dof[u] == item:
                    _add_actuator(
                        t, f, m, u, f.actuator.transmitted[u], f.actuator.transmitted_by_gear[u],
                        dq, dv, control_direction, control_change, out, k,
                    )  # fmt: skip


@compiled
def _add_actuator(
    t: Tables,
    f: Forces,
    m: ModelDirections,
    u: int,
    scale: float,
    by_gear: float,
    dq: FloatArray,
    dv: FloatArray,
    control_direction: IntArray,
    control_change: FloatArray,
    out: FloatArray,
    row: int,
) -> None:
    """Add ``scale`` times an actuator force's derivative, and ``by_gear`` that of its gear."""
    actuator, dof, n = f.actuator, t.actuator_dof[u], dq.shape[1]
    n_model = m.dof_fields.shape[2]
    add_scaled(out, row, scale * actuator.by_position[u], dq, dof, n)
    add_scaled(out, row, scale * actuator.by_velocity[u], dv, dof, n)
    for k in range(m.actuator_touched.shape[0]):
        field, other = m.actuator_touched[k]
        if other == u:
            change = scale * actuator.by_field[field, u]
            if field == GEAR:
                change += by_gear
            add_scaled(out, row, change, m.actuator_fields[field], u, n_model)
    for k in range(control_direction.size):
        change = scale * actuator.by_control[u] * control_change[k, u]
        out[row, control_direction[k]] += change
