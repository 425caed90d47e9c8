# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Residuals against the velocity and the torque of their joint: what the model lacks shows there.

Friction that the model does not have leaves a residual that follows the sign of the velocity; one
that grows with the load follows the torque (Armstrong-Hélouvry, Dupont and Canudas de Wit 1994).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import (
    actuators_on,
    affine_force,
    control_range,
    has_affine_law,
)
from sysid_ros.engine.signals import control_names, force_unit, rate_unit, sensor_unit
from sysid_ros.engine.windows import START_SAMPLE, MeasuredJoint, SequenceData, measured_joints
from sysid_ros.judgement.outcome import ResidualTrend
from sysid_ros.judgement.scoring import WindowErrors

_BINS = 24  # even, so that zero lies between two of them
_MIN_SAMPLES = 10  # in a bin, below which its mean says nothing
_STEP = 1e-4  # s, over which a command is averaged to read it at an instant
_JOINT_SENSORS = (int(mujoco.mjtSensor.mjSENS_JOINTPOS), int(mujoco.mjtSensor.mjSENS_JOINTVEL))


def residual_trends(
    errors: Sequence[WindowErrors], *, velocity_filter: float
) -> tuple[ResidualTrend, ...]:
    """Bin the residuals of every signal that measures a joint.

    Args:
      errors: Windows that do not overlap.
      velocity_filter: Cut-off in front of the derivative where no velocity is measured, Hz.

    Returns:
      Against velocity and, where the actuators' torque at the joint is known, against torque.
    """
    by_sequence: dict[int, list[WindowErrors]] = {}
    for error in errors:
        by_sequence.setdefault(id(error.window.sequence), []).append(error)
    return binned_trends(
        samples
        for members in by_sequence.values()
        for samples in _sequence_samples(members, velocity_filter)
    )


def binned_trends(samples: Iterable[JointSamples]) -> tuple[ResidualTrend, ...]:
    """Residuals of every signal, all its sequences together, in bins of velocity and torque."""
    pooled: dict[str, list[JointSamples]] = {}
    for one in samples:
        pooled.setdefault(one.signal, []).append(one)
    found = []
    for parts in pooled.values():
        residual = np.concatenate([part.residual for part in parts])
        for against in ("velocity", "torque"):
            values = np.concatenate([getattr(part, against) for part in parts])
            trend = _binned(parts[0], against, values, residual)
            if trend is not None:
                found.append(trend)
    return tuple(found)


@dataclass(frozen=True)
class JointSamples:
    """One signal of one sequence: residuals and what its joint did then, (m,) each."""

    signal: str
    unit: str
    force: str  # unit of the torque
    residual: FloatArray
    velocity: FloatArray
    torque: FloatArray


def _sequence_samples(errors: Sequence[WindowErrors], velocity_filter: float) -> list[JointSamples]:
    window = errors[0].window
    sequence, model = window.sequence, window.model
    joints = measured_joints(model, sequence.sensordata, velocity_filter)
    rows = np.concatenate([error.window.window.samples.rows for error in errors])
    signals = np.concatenate([error.window.window.samples.signals for error in errors])
    # What a start was read off agrees with it by construction.
    later = np.concatenate([error.window.window.samples.times > START_SAMPLE for error in errors])
    residuals = -np.concatenate([error.fitted for error in errors])
    found = []
    for i, signal in enumerate(sequence.signals):
        sensor = model.sensor(signal.sensor).id
        joint = int(model.sensor_objid[sensor])
        if int(model.sensor_type[sensor]) not in _JOINT_SENSORS or joint not in joints:
            continue
        chosen = later & (signals == i)
        times = sequence.sensordata.times[rows[chosen]]
        found.append(
            JointSamples(
                signal=signal.name,
                unit=sensor_unit(model, sensor),
                force=force_unit(model, int(model.jnt_dofadr[joint])),
                residual=residuals[chosen],
                velocity=joints[joint].velocity(times),
                torque=joint_torque(model, sequence, joint, joints[joint], times),
            )
        )
    return found


def joint_torque(
    model: mujoco.MjModel,
    sequence: SequenceData,
    joint: int,
    motion: MeasuredJoint,
    times: FloatArray,
) -> FloatArray:
    """Compute actuators' torque on a hinge or slide from commands and its measured motion.

    Returns:
      N m, or N for a slide, (m,); NaN where an actuator at the joint has a law or a state of its
      own, and where there is none.
    """
    total = np.zeros(times.size)
    names = control_names(model)
    acting = actuators_on(model, joint)
    for k in acting:
        control = sequence.controls[names.index(model.actuator(k).name)]
        command = np.zeros(times.size) if control is None else control.mean(times, _STEP)
        total += _actuator_torque(model, k, command, motion.position(times), motion.velocity(times))
    return total if acting else np.full(times.size, np.nan)


def _actuator_torque(
    model: mujoco.MjModel,
    actuator: int,
    command: FloatArray,
    position: FloatArray,
    velocity: FloatArray,
) -> FloatArray:
    """Torque on its joint, within its limits; NaN for what has a law or a state of its own."""
    if not has_affine_law(model, actuator):
        return np.full(command.shape, np.nan)
    command = np.clip(command, *control_range(model, actuator))
    force = affine_force(model, actuator, command, position, velocity)
    if model.actuator_forcelimited[actuator]:
        force = np.clip(force, *model.actuator_forcerange[actuator])
    return np.asarray(model.actuator_gear[actuator, 0] * force, dtype=np.float64)


def _binned(
    samples: JointSamples, against: str, values: FloatArray, residual: FloatArray
) -> ResidualTrend | None:
    known = np.isfinite(values) & np.isfinite(residual)
    values, residual = values[known], residual[known]
    limit = float(np.quantile(np.abs(values), 0.99)) if values.size else 0.0
    if limit <= 0.0:
        return None
    edges = np.linspace(-limit, limit, _BINS + 1)
    place = np.digitize(values, edges) - 1
    curves = np.full((3, _BINS), np.nan)
    for k in range(_BINS):
        inside = residual[place == k]
        if inside.size >= _MIN_SAMPLES:
            curves[:, k] = inside.mean(), *np.quantile(inside, (0.05, 0.95))
    unit = samples.force if against == "torque" else rate_unit(samples.force)
    return ResidualTrend(samples.signal, samples.unit, against, unit, edges, *curves)
