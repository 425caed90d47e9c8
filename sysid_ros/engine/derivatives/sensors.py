# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The sensors that can be differentiated, in one table, and the derivatives of their readings.

A sensor that reads a quantity of :func:`read` is one row of :data:`SENSORS`. One that reads another
quantity is one more branch of :func:`read` as well. Sensors that are fixed to bodies stand in
:mod:`.frame_readings`. Tests and the check of a model follow the tables.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import add_scaled, compiled_apart
from sysid_ros.engine.derivatives.actuator_changes import add_actuator_force
from sysid_ros.engine.derivatives.directions import ModelDirections, StateChanges
from sysid_ros.engine.derivatives.frame_readings import (
    FRAME_SENSORS,
    FrameReadings,
    frame_readings,
    unsupported_frame,
)
from sysid_ros.engine.mechanics import GEAR, Tables, Workspace, along

# The quantities that are read.
POSITION, VELOCITY, FORCE = 0, 1, 2
# Of one degree of freedom, of one actuator at its end of the transmission, or of one tendon.
JOINT, ACTUATOR, TENDON = 0, 1, 2


class DifferentiableSensor(NamedTuple):
    """One kind of scalar sensor by what it reads, and of what."""

    quantity: int  # POSITION, VELOCITY or FORCE, which is that of actuators
    element: int  # JOINT, ACTUATOR or TENDON


_S = mujoco.mjtSensor
SENSORS = {
    int(_S.mjSENS_JOINTPOS): DifferentiableSensor(POSITION, JOINT),
    int(_S.mjSENS_JOINTVEL): DifferentiableSensor(VELOCITY, JOINT),
    int(_S.mjSENS_JOINTACTFRC): DifferentiableSensor(FORCE, JOINT),
    int(_S.mjSENS_ACTUATORPOS): DifferentiableSensor(POSITION, ACTUATOR),
    int(_S.mjSENS_ACTUATORVEL): DifferentiableSensor(VELOCITY, ACTUATOR),
    int(_S.mjSENS_ACTUATORFRC): DifferentiableSensor(FORCE, ACTUATOR),
    int(_S.mjSENS_TENDONPOS): DifferentiableSensor(POSITION, TENDON),
    int(_S.mjSENS_TENDONVEL): DifferentiableSensor(VELOCITY, TENDON),
}


_FORCES = (int(_S.mjSENS_JOINTACTFRC), int(_S.mjSENS_ACTUATORFRC))


class Readings(NamedTuple):
    """The columns of the sensor data to differentiate: scalar sensors, and frames."""

    row: IntArray  # (k,): the reading that each scalar sensor is
    quantity: IntArray  # (k,): as in SENSORS
    element: IntArray  # (k,): the same
    item: IntArray  # (k,): the degree of freedom, the actuator or the tendon
    frames: FrameReadings


def unsupported_sensor(model: mujoco.MjModel, sensors: Collection[int]) -> str | None:
    """Return why one of these sensors cannot be differentiated, ``None`` if all can."""
    for sensor in sensors:
        kind = int(model.sensor_type[sensor])
        if kind in FRAME_SENSORS:
            reason = unsupported_frame(model, sensor)
            if reason is not None:
                return reason
        elif kind in SENSORS and kind not in _FORCES and _reads_site_actuator(model, sensor):
            return "a sensor reads the length or speed of an actuator at a site"
        elif kind == int(_S.mjSENS_JOINTACTFRC) and _acts_elsewhere(model):
            return "a joint's actuator force includes actuators at sites or along lines"
        elif kind not in SENSORS:
            name = mujoco.mjtSensor(kind).name.removeprefix("mjSENS_").lower()
            return f"the derivative of a {name} sensor is not known"
        if model.sensor_cutoff[sensor] > 0.0:
            return "a sensor has a cutoff"
    return None


def _acts_elsewhere(model: mujoco.MjModel) -> bool:
    transmissions = mujoco.mjtTrn
    kinds = [
        int(kind)
        for kind in (
            transmissions.mjTRN_SITE, transmissions.mjTRN_TENDON, transmissions.mjTRN_SLIDERCRANK,
        )
    ]  # fmt: skip
    return bool(np.any(np.isin(np.asarray(model.actuator_trntype), kinds)))


def _reads_site_actuator(model: mujoco.MjModel, sensor: int) -> bool:
    if SENSORS[int(model.sensor_type[sensor])].element != ACTUATOR:
        return False
    kind = int(model.actuator_trntype[int(model.sensor_objid[sensor])])
    return kind == int(mujoco.mjtTrn.mjTRN_SITE)


def sensors_of(model: mujoco.MjModel, addresses: IntArray) -> IntArray:
    """The sensor that each column of the sensor data belongs to."""
    found = np.searchsorted(np.asarray(model.sensor_adr), addresses, side="right")
    return found.astype(np.int64) - 1


def readings(model: mujoco.MjModel, addresses: IntArray) -> Readings:
    """Readings of columns of the sensor data.

    Args:
      model: The compiled model; :func:`unsupported_sensor` accepts the columns' sensors.
      addresses: The columns, (k,).
    """
    sensors = sensors_of(model, addresses)
    framed = np.isin(np.asarray(model.sensor_type)[sensors], list(FRAME_SENSORS))
    scalar = sensors[~framed]
    rows = [SENSORS[int(kind)] for kind in np.asarray(model.sensor_type)[scalar]]
    quantity, element = np.array(rows, dtype=np.int64).reshape(-1, 2).T.copy()
    item = np.asarray(model.sensor_objid)[scalar].astype(np.int64)
    joint = element == JOINT
    item[joint] = np.asarray(model.jnt_dofadr)[item[joint]]
    components = (addresses - np.asarray(model.sensor_adr)[sensors])[framed]
    frames = frame_readings(model, sensors[framed], components, np.flatnonzero(framed))
    return Readings(np.flatnonzero(~framed).astype(np.int64), quantity, element, item, frames)


@compiled_apart
def read(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    r: Readings,
    q: FloatArray,
    v: FloatArray,
    dx: StateChanges,
    out: FloatArray,
) -> None:
    """Write the derivatives of scalar sensors at one instant, (n_reading, n); others are zero."""
    out[:] = 0.0
    lines, actuator, n = w.moved_lines, w.forces.actuator, dx.q.shape[1]
    for i in range(r.item.size):
        k, quantity, element, item = r.row[i], r.quantity[i], r.element[i], r.item[i]
        source = dx.q if quantity == POSITION else dx.v
        along_line = lines.extent if quantity == POSITION else lines.speed
        if quantity == FORCE and element == ACTUATOR:
            add_actuator_force(t, w, m, item, 1.0, 0.0, dx, out, k)
        elif quantity == FORCE:
            for u in range(t.actuator_dof.size):
                if t.actuator_dof[u] == item:
                    by_gear = actuator.transmitted_by_gear[u]
                    add_actuator_force(t, w, m, u, actuator.transmitted[u], by_gear, dx, out, k)
        elif element == ACTUATOR:
            dof, line, gear = (
                t.actuator_dof[item],
                t.actuator_line[item],
                t.actuator_fields[GEAR, item],
            )
            if line >= 0:
                extent = t.lines.course.extent[line]
                value = extent if quantity == POSITION else along(t.lines, line, v)
                add_scaled(out, k, gear, along_line, line, n)
            else:
                value = q[t.jnt_qposadr[t.dof_jntid[dof]]] if quantity == POSITION else v[dof]
                add_scaled(out, k, gear, source, dof, n)
            add_scaled(out, k, value, m.actuator_fields[GEAR], item, m.dof_fields.shape[2])
        elif element == TENDON:
            add_scaled(out, k, 1.0, along_line, item, n)
        else:
            add_scaled(out, k, 1.0, source, item, n)
