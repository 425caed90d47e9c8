# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured torque beside what the initial and the identified parameters predict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.inverse_dynamics import Filters, gather, total_torques
from sysid_ros.engine.measured_torque.rows import (
    TorqueProblem,
    about,
    gains_at,
    regression_settings,
    torque_problem,
    with_creep,
    with_own_law,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.regressor import SmoothStretch, smooth, stretches_of
from sysid_ros.engine.signals import ModelSequences, force_unit
from sysid_ros.errors import DataError


@dataclass(frozen=True)
class TorqueTrace:
    """Filtered torque of one degree of freedom in one sequence."""

    sequence: str  # its name
    signal: str  # what tells the torque
    joint: str  # whose it is
    unit: str  # N m or N
    times: FloatArray  # (n,) s
    measured: FloatArray  # (n,)
    initial: FloatArray  # with the initial parameters, (n,)
    fitted: FloatArray  # with the identified ones, (n,)
    velocity: FloatArray  # of the joint, (n,) rad/s or m/s


def torque_traces(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    values: FloatArray,
    settings: TorqueSettings,
    cutoffs: tuple[Mapping[str, float], float] | None,
    *,
    creep: Mapping[str, float] | None,
) -> tuple[TorqueTrace, ...]:
    """Predict the torque of sequences.

    Args:
      models_sequences: With positions and torque.
      params: Parameters at their initial values.
      values: Of the free ones, (p,).
      settings: Of the fit.
      cutoffs: Hz of the motion by joint, and of the rows, with which the parameters were fitted,
        so that scores compare; by default chosen from these sequences.
      creep: Of the sharp law of dry friction that they were fitted with, the speeds by joint from
        which on it is whole; ``None`` for the model's own law.

    Raises:
      DataError: No stretch without a gap is longer than the filters.
    """
    problem = torque_problem(models_sequences, params)
    declared = problem.declared
    if creep is None:
        problem = with_own_law(problem, declared.compiled(values, declared.robots[0]))
    elif creep:
        model = declared.model
        names = {model.joint(joint).name for joint in range(model.njnt)}
        own = {joint: speed for joint, speed in creep.items() if joint in names}
        problem = with_creep(problem, own)
    filters = _filters(problem, settings, cutoffs)
    found = [
        trace
        for number in range(len(problem.recordings))
        for trace in _traces(problem, number, filters, (params.as_vector(), values))
    ]
    if not found:
        raise DataError("no stretch without a gap is longer than the filters")
    return tuple(found)


def _traces(
    problem: TorqueProblem, number: int, filters: Filters, values: tuple[FloatArray, FloatArray]
) -> Iterator[TorqueTrace]:
    """The traces of one recording, by the initial and by the final values of the parameters."""
    declared, model = problem.declared, problem.declared.model
    recording = problem.recordings[number]
    robot = recording.condition
    places = problem.regressor.delay_columns
    late = np.where(places >= 0, declared.theta(values[1], robot)[places], 0.0)[:, None]
    cut = stretches_of(model, recording, number)
    kept = [one for part in cut if (one := smooth(model, part, filters, late)) is not None]
    if not kept:
        return
    velocity, predicted = _predicted(problem, values, robot, kept, filters)
    gains = [gains_at(declared, at) for at in values]
    times = np.concatenate([part.times for part in kept])
    measured = np.concatenate([part.torque for part in kept])
    for dof, signal in problem.sources.known.items():
        known = np.isfinite(measured[:, dof])
        if known.any():
            joint = int(model.dof_jntid[dof])
            first, last = (
                gain[dof] * one[known, dof] for gain, one in zip(gains, predicted, strict=True)
            )
            yield TorqueTrace(
                recording.name, signal, model.joint(joint).name, force_unit(model, dof),
                times[known], measured[known, dof], first, last, velocity[known, dof],
            )  # fmt: skip


def _predicted(
    problem: TorqueProblem,
    values: tuple[FloatArray, FloatArray],
    robot: str,
    kept: Sequence[SmoothStretch],
    filters: Filters,
) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """Velocities (n, nv), and by values of the parameters the torque that they predict, (n, nv)."""
    if problem.declared.has_laws:  # which are linearised about the values
        parts = [_torques(about(problem, at), (at,), robot, kept, filters) for at in values]
        return parts[0][0], tuple(found[0] for _, found in parts)
    velocity, found = _torques(problem, values, robot, kept, filters)
    return velocity, tuple(found)


def _torques(
    problem: TorqueProblem,
    values: tuple[FloatArray, ...],
    robot: str,
    kept: Sequence[SmoothStretch],
    filters: Filters,
) -> tuple[FloatArray, FloatArray]:
    """Velocities (n, nv), and torque by values of the parameters, (values, n, nv)."""
    sets = np.stack([problem.declared.theta(at, robot) for at in values])
    parts = [total_torques(problem.regressor, one, filters, sets) for one in kept]
    return (
        np.concatenate([velocity for velocity, _ in parts]),
        np.concatenate([torque for _, torque in parts], axis=1),
    )


def _filters(
    problem: TorqueProblem,
    settings: TorqueSettings,
    cutoffs: tuple[Mapping[str, float], float] | None,
) -> Filters:
    if cutoffs is None:
        own = regression_settings(problem.declared, settings)
        return gather(problem.regressor, problem.recordings, own).filters
    model, (by_joint, rows) = problem.declared.model, cutoffs
    motion: FloatArray = np.full(model.nq, max(by_joint.values(), default=rows))
    for joint in range(model.njnt):
        name, at = model.joint(joint).name, int(model.jnt_qposadr[joint])
        if name in by_joint:
            motion[at] = by_joint[name]
    return Filters(motion, rows, {})
