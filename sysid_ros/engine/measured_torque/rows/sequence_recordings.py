# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of motion and torque from a model's sequences.

Positions of all joints are put on the instants of the joint that was sampled most often; samples
where one of them is unknown are left out, which makes a gap. Torque is unknown (NaN) in gaps of its
own signals and wherever the sequences say that nothing counts.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.polynomial import Polynomial

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.elements import first_inputs, joint_couplings, n_actuators
from sysid_ros.engine.inverse_dynamics import Recording, condition_of
from sysid_ros.engine.measured_torque.rows.torque_signals import (
    TorqueSignal,
    known_dofs,
    torque_signals,
    within_ranges,
    wrench_inputs_of,
)
from sysid_ros.engine.residuals import UNCHANGED, SignalSettings
from sysid_ros.engine.signals import (
    JointSignal,
    ModelSequences,
    TimeSeries,
    base_is_known,
    control_column,
    joint_signal,
    value_at,
    without_sign_jumps,
)
from sysid_ros.errors import DataError
from sysid_ros.time_intervals import inside, shortest_gap


@dataclass(frozen=True)
class TorqueSources:
    """The measurements of one model that inverse dynamics reads."""

    signals: tuple[TorqueSignal, ...]  # that tell torque
    # degrees of freedom whose torque is known, with the name of what tells it
    known: Mapping[int, str]
    positions: Mapping[str, JointSignal]  # measured signals that tell joint positions, by name
    unmeasured: tuple[str, ...]  # joints whose position is not measured
    base_is_known: bool  # whether the pose of every free body is measured
    wrenches: tuple[str, ...]  # inputs that are known external forces


def torque_sources(model: mujoco.MjModel, group: ModelSequences) -> TorqueSources:
    """Find what of a model's sequences inverse dynamics can use.

    Raises:
      DataError: No position, or no torque, is measured.
    """
    positions: dict[str, JointSignal] = {}
    covered: set[int] = set()
    for name in dict.fromkeys(n for one in group.sensordata for n in one.signal_mapping or {}):
        told = joint_signal(model, name)
        if told is not None and not covered & set(told.coordinates):
            positions[name] = told
            covered.update(told.coordinates)
    measured = [j for j in range(model.njnt) if int(model.jnt_qposadr[j]) in covered]
    coupled = {dependent for dependent, *_ in _couplings(model)}
    missing = [j for j in range(model.njnt) if j not in measured and j not in coupled]
    signals = tuple(torque_signals(model, group))
    known = known_dofs(model, signals, measured)
    if not positions:
        raise DataError(
            "inverse dynamics needs measured joint positions; map them as qpos, or as jointpos "
            "sensors of the model"
        )
    if not known:
        raise DataError(
            "inverse dynamics needs measured joint torque; map it as the effort of a joint "
            "({effort: JOINT, topic: ..., field: ...}), as the input of a motor, or as a sensor "
            "with type: jointactuatorfrc"
        )
    names = tuple(model.joint(j).name for j in missing)
    wrenches = tuple(wrench_inputs_of(model, group))
    base = base_is_known(model, positions.values())
    return TorqueSources(signals, known, positions, names, base, wrenches)


def sequence_recording(
    model: mujoco.MjModel,
    group: ModelSequences,
    number: int,
    sources: TorqueSources,
    settings: Mapping[str, SignalSettings],
) -> Recording:
    """One sequence as motion and torque.

    Args:
      model: The robot's, in which no bodies are fused.
      group: The sequences.
      number: Which of them.
      sources: From :func:`torque_sources`.
      settings: Known delays, gains and biases by signal.

    Raises:
      DataError: No instant has all positions.
    """
    times, qpos = _postures(model, group, number, sources, settings)
    torque = _torques(model, group, number, sources, settings, times)
    if sources.wrenches:
        wrench = np.column_stack(
            [_control(group.control[number], n, times, settings.get(n, UNCHANGED))
             for n in sources.wrenches]
        )  # fmt: skip
        torque += _external(model, qpos, sources.wrenches, wrench)
    _hand_over(model, qpos, torque, sources.known)
    torque[inside(times, group.gaps[number])] = np.nan
    condition = condition_of(group.spec, group.robot)
    return Recording(times, qpos, torque, name=group.sequence_name[number], condition=condition)


def _postures(
    model: mujoco.MjModel,
    group: ModelSequences,
    number: int,
    sources: TorqueSources,
    settings: Mapping[str, SignalSettings],
) -> tuple[FloatArray, FloatArray]:
    """Instants (n,) at which all positions are known, and the postures there, (n, nq)."""
    measured = group.sensordata[number]
    series = {n: _samples(measured, n, settings.get(n, UNCHANGED)) for n in sources.positions}
    series = {name: one for name, one in series.items() if len(one[0]) > 1}
    if len(series) < len(sources.positions):
        absent = next(n for n in sources.positions if n not in series)
        raise DataError(f"{group.sequence_name[number]}: nothing was measured of {absent!r}")
    times = max((one[0] for one in series.values()), key=len)
    qpos: FloatArray = np.tile(np.asarray(model.qpos0, dtype=np.float64), (len(times), 1))
    usable: BoolArray = np.ones(len(times), dtype=np.bool_)
    for name, told in sources.positions.items():
        if told.width >= 4:  # ends with a quaternion, which no interpolation is to turn about
            series[name][1][:, -4:] = without_sign_jumps(series[name][1][:, -4:])
        qpos[:, told.coordinates], known = _at(*series[name], times, smooth=True)
        usable &= known
    if not usable.any():
        raise DataError(f"{group.sequence_name[number]}: no instant has all joint positions")
    times, qpos = times[usable], qpos[usable]
    _move_to_bodies(sources.positions.values(), qpos)
    _move_coupled(model, qpos)
    return times, qpos


def _torques(
    model: mujoco.MjModel,
    group: ModelSequences,
    number: int,
    sources: TorqueSources,
    settings: Mapping[str, SignalSettings],
    times: FloatArray,
) -> FloatArray:
    """Torques (n, nv) that signals tell, not a number where nothing does."""
    measured, control = group.sensordata[number], group.control[number]
    torque: FloatArray = np.full((len(times), model.nv), np.nan)
    torque[:, list(sources.known)] = 0.0
    for signal in sources.signals:
        given = settings.get(signal.name, UNCHANGED)
        if signal.control:
            values = _control(control, signal.name, times, given)
            if _is_command(control, signal.name):
                values = within_ranges(model, signal, values)
        else:
            found, known = _at(*_samples(measured, signal.name, given), times, smooth=False)
            values = np.where(known, found[:, 0], np.nan)
        torque += values[:, None] * np.where(signal.moment != 0.0, signal.moment, 0.0) + np.where(
            (signal.moment != 0.0) & np.isnan(values)[:, None], np.nan, 0.0
        )
    return torque


def _move_to_bodies(signals: Iterable[JointSignal], qpos: FloatArray) -> None:
    """Move poses that were measured of sites on free bodies to these bodies."""
    mounted = [one for one in signals if one.mounted is not None]
    for one in sorted(mounted, key=lambda one: -one.width):  # orientations first
        own = qpos[:, one.coordinates]
        if one.width == 4:
            qpos[:, one.coordinates] = one.body_orientation(own)
        else:
            turned = qpos[:, range(one.first + 3, one.first + 7)]
            turned = turned / np.linalg.norm(turned, axis=1, keepdims=True)
            qpos[:, one.coordinates] = one.body_position(own, turned)


def _samples(series: TimeSeries, name: str, given: SignalSettings) -> tuple[FloatArray, FloatArray]:
    """Instants and values (n, width) of a measured signal, as the model has it."""
    (times, values), undone = series.known(name), given.inverse
    return times + undone.delay, undone.gain * values + undone.bias


def _at(
    times: FloatArray, values: FloatArray, wanted: FloatArray, *, smooth: bool
) -> tuple[FloatArray, BoolArray]:
    """Values at other instants, and whether they are known there."""
    if len(times) == len(wanted) and np.array_equal(times, wanted):
        return values, np.ones(len(wanted), dtype=np.bool_)
    if len(times) < 2:
        return np.full((len(wanted), values.shape[1]), np.nan), np.zeros(len(wanted), np.bool_)
    after = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
    known = times[after] - times[after - 1] <= shortest_gap(times)
    known &= (wanted >= times[0]) & (wanted <= times[-1])
    if smooth:
        import scipy  # its splines take longer to import than most recordings to read

        found = scipy.interpolate.CubicSpline(times, values, axis=0)(wanted)
        return np.where(known[:, None], found, np.nan), known
    found = np.column_stack([np.interp(wanted, times, column) for column in values.T])
    return found, known


def _control(
    series: TimeSeries, name: str, wanted: FloatArray, given: SignalSettings
) -> FloatArray:
    """An input at some instants, NaN half a step before its first sample and after its last.

    So it is beside samples that are missing.
    """
    column = control_column(series, name)
    if column is None:
        return np.full(len(wanted), np.nan)
    times, values = series.times + given.delay, series.data[:, column]
    told, plain = np.isfinite(values), "zoh" if series.holds(column) else "linear"
    if not told.any():
        return np.full(len(wanted), np.nan)
    found = value_at(times[told], values[told], wanted, series.method_of(column))
    unknown = np.isnan(value_at(times, values, wanted, plain))  # no bridge where some are missing
    half = 0.5 * float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    unknown |= (wanted < times[0] - half) | (wanted > times[-1] + half)
    return np.where(unknown, np.nan, given.gain * found + given.bias)


def _is_command(series: TimeSeries, name: str) -> bool:
    """Return whether an input is what a motor was told rather than what was measured of it."""
    column = control_column(series, name)
    return column is not None and series.method_of(column) != "linear"


def _couplings(model: mujoco.MjModel) -> list[tuple[int, int, Polynomial]]:
    """Joints that equalities move with another: both, and the polynomial; the last move first."""
    found = joint_couplings(model)
    return [(to, of, Polynomial(polynomial)) for to, of, polynomial in found if of >= 0]


def _move_coupled(model: mujoco.MjModel, qpos: FloatArray) -> None:
    """Move coupled joints with those that drive them."""
    for dependent, driving, moved in reversed(_couplings(model)):
        to, of = int(model.jnt_qposadr[dependent]), int(model.jnt_qposadr[driving])
        qpos[:, to] = float(model.qpos0[to]) + moved(qpos[:, of] - float(model.qpos0[of]))


def _hand_over(
    model: mujoco.MjModel, qpos: FloatArray, torque: FloatArray, known: Collection[int]
) -> None:
    """Hand the torque of motors on coupled joints to those that drive them, by virtual work."""
    for dependent, driving, moved in _couplings(model):
        to, of = int(model.jnt_dofadr[dependent]), int(model.jnt_dofadr[driving])
        if to in known:
            at = int(model.jnt_qposadr[driving])
            slope = moved.deriv()(qpos[:, at] - float(model.qpos0[at]))
            torque[:, of] += slope * torque[:, to]
            torque[:, to] = 0.0


def _external(
    model: mujoco.MjModel, qpos: FloatArray, inputs: Sequence[str], values: FloatArray
) -> FloatArray:
    """Generalised force (n, nv) of known inputs (n, k) at sites, and of nothing else."""
    numbers = [model.actuator(name).id for name in inputs]
    model = _without_servos(model, numbers)
    data, columns = mujoco.MjData(model), first_inputs(model)[numbers]
    found: FloatArray = np.zeros((len(qpos), model.nv))
    for row, pose, value in zip(found, qpos, values, strict=True):
        data.qpos[:] = pose
        data.ctrl[:] = 0.0
        data.ctrl[columns] = value
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdActuation(model, data)
        row[:] = data.qfrc_actuator
        if not np.all(np.isfinite(value)):
            row[:] = np.nan
    return found


def _without_servos(model: mujoco.MjModel, kept: Sequence[int]) -> mujoco.MjModel:
    """A copy in which only some actuators act, also where a servo would without a command."""
    only = copy.copy(model)
    others = np.setdiff1d(np.arange(n_actuators(model)), kept)
    only.actuator_gaintype[others] = int(mujoco.mjtGain.mjGAIN_FIXED)
    only.actuator_gainprm[others] = 0.0
    only.actuator_biastype[others] = int(mujoco.mjtBias.mjBIAS_NONE)
    # of what drives the joint, not of what pushes
    only.jnt_actfrclimited[:] = only.jnt_actgravcomp[:] = 0
    return only
