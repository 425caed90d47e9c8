# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of motion and torque from a model's sequences.

Positions of all joints are put on the instants of the joint that was sampled most often; samples
where one of them is unknown are left out, which makes a gap. Torque is unknown (NaN) in gaps of its
own signals and wherever the sequences say that nothing counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.inverse_dynamics import Recording
from sysid_ros.engine.measured_torque.torque_signals import (
    TorqueSignal,
    known_dofs,
    torque_signals,
    wrench_inputs_of,
)
from sysid_ros.engine.residuals import UNCHANGED, SignalSettings
from sysid_ros.engine.signals import SUFFIXES, ModelSequences, SignalType, TimeSeries
from sysid_ros.errors import DataError

_S, _J = mujoco.mjtSensor, mujoco.mjtJoint
_GAP = 5.5  # usual intervals; longer ones are not bridged
_WIDTH = {_S.mjSENS_JOINTPOS: 1, _S.mjSENS_BALLQUAT: 4, _S.mjSENS_FRAMEPOS: 3,
          _S.mjSENS_FRAMEQUAT: 4}  # fmt: skip


@dataclass(frozen=True)
class TorqueSources:
    """The measurements of one model that inverse dynamics reads.

    Attributes:
      signals: That tell torque.
      known: Degrees of freedom whose torque is known, with the name of what tells it.
      positions: By name of a measured signal, the first coordinate of qpos and how many follow.
      unmeasured: Joints whose position is not measured.
      wrenches: Inputs that are known external forces.
    """

    signals: tuple[TorqueSignal, ...]
    known: Mapping[int, str]
    positions: Mapping[str, tuple[int, int]]
    unmeasured: tuple[str, ...]
    wrenches: tuple[str, ...]


def torque_sources(model: mujoco.MjModel, group: ModelSequences) -> TorqueSources:
    """Find what of a model's sequences inverse dynamics can use.

    Raises:
      DataError: No position, or no torque, is measured.
    """
    positions = {}
    for name in dict.fromkeys(n for one in group.sensordata for n in one.signal_mapping or {}):
        place = _coordinates(model, name)
        if place is not None:
            positions[name] = place
    covered = {i for first, width in positions.values() for i in range(first, first + width)}
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
    return TorqueSources(signals, known, positions, names, wrenches)


def sequence_recording(
    model: mujoco.MjModel,
    group: ModelSequences,
    number: int,
    sources: TorqueSources,
    settings: Mapping[str, SignalSettings],
    excluded: Sequence[tuple[float, float]],
) -> Recording:
    """One sequence as motion and torque.

    Args:
      model: The robot's, in which no bodies are fused.
      group: The sequences.
      number: Which of them.
      sources: From :func:`torque_sources`.
      settings: Known delays, gains and biases by signal.
      excluded: Stretches [s] in which nothing counts.

    Raises:
      DataError: No instant has all positions.
    """
    measured, control = group.sensordata[number], group.control[number]
    series = {n: _samples(measured, n, settings.get(n, UNCHANGED)) for n in sources.positions}
    series = {name: one for name, one in series.items() if len(one[0]) > 1}
    if len(series) < len(sources.positions):
        absent = next(n for n in sources.positions if n not in series)
        raise DataError(f"{group.sequence_name[number]}: nothing was measured of {absent!r}")
    times = max((one[0] for one in series.values()), key=len)
    qpos: FloatArray = np.tile(np.asarray(model.qpos0, dtype=np.float64), (len(times), 1))
    usable: BoolArray = np.ones(len(times), dtype=np.bool_)
    for name, (first, width) in sources.positions.items():
        values, known = _at(*series[name], times, smooth=True)
        qpos[:, first : first + width] = values
        usable &= known
    if not usable.any():
        raise DataError(f"{group.sequence_name[number]}: no instant has all joint positions")
    times, qpos = times[usable], qpos[usable]
    _move_coupled(model, qpos)
    torque: FloatArray = np.full((len(times), model.nv), np.nan)
    torque[:, list(sources.known)] = 0.0
    for signal in sources.signals:
        given = settings.get(signal.name, UNCHANGED)
        if signal.control:
            values = _control(control, signal.name, times, given)
        else:
            found, known = _at(*_samples(measured, signal.name, given), times, smooth=False)
            values = np.where(known, found[:, 0], np.nan)
        torque += values[:, None] * np.where(signal.moment != 0.0, signal.moment, 0.0) + np.where(
            (signal.moment != 0.0) & np.isnan(values)[:, None], np.nan, 0.0
        )
    if sources.wrenches:
        wrench = np.column_stack(
            [_control(control, n, times, settings.get(n, UNCHANGED)) for n in sources.wrenches]
        )
        torque += _external(model, qpos, sources.wrenches, wrench)
    for begin, end in excluded:
        torque[(times >= begin) & (times <= end)] = np.nan
    return Recording(
        times, qpos, torque, name=group.sequence_name[number], condition=group.robot or ""
    )


def _coordinates(model: mujoco.MjModel, name: str) -> tuple[int, int] | None:
    """The coordinates of qpos that a measured signal is, by its first and their number."""
    if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name) < 0:
        joint = name.removesuffix(SUFFIXES[SignalType.MjStateQPos])
        if joint == name or mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint) < 0:
            return None
        number = model.joint(joint).id
        widths = {int(_J.mjJNT_FREE): 7, int(_J.mjJNT_BALL): 4}
        return int(model.jnt_qposadr[number]), widths.get(int(model.jnt_type[number]), 1)
    sensor = model.sensor(name)
    kind, owner = mujoco.mjtSensor(int(sensor.type[0])), int(sensor.objid[0])
    if kind in (_S.mjSENS_JOINTPOS, _S.mjSENS_BALLQUAT):
        return int(model.jnt_qposadr[owner]), _WIDTH[kind]
    if kind not in (_S.mjSENS_FRAMEPOS, _S.mjSENS_FRAMEQUAT):
        return None
    frame = int(sensor.objtype[0]) == int(mujoco.mjtObj.mjOBJ_XBODY)
    if not frame or int(sensor.refid[0]) >= 0 or int(model.body_jntnum[owner]) != 1:
        return None
    joint_id = int(model.body_jntadr[owner])
    if int(model.jnt_type[joint_id]) != int(_J.mjJNT_FREE):
        return None
    shift = 0 if kind == _S.mjSENS_FRAMEPOS else 3
    return int(model.jnt_qposadr[joint_id]) + shift, _WIDTH[kind]


def _samples(series: TimeSeries, name: str, given: SignalSettings) -> tuple[FloatArray, FloatArray]:
    """Instants and values (n, width) of a measured signal, as the model has it."""
    mapping = series.signal_mapping or {}
    if name not in mapping:
        return np.zeros(0), np.zeros((0, 1))
    values = series.data[:, mapping[name][1]]
    known = np.all(np.isfinite(values), axis=1)
    undone = given.inverse
    return series.times[known] + undone.delay, undone.gain * values[known] + undone.bias


def _at(
    times: FloatArray, values: FloatArray, wanted: FloatArray, *, smooth: bool
) -> tuple[FloatArray, BoolArray]:
    """Values at other instants, and whether they are known there."""
    if len(times) == len(wanted) and np.array_equal(times, wanted):
        return values, np.ones(len(wanted), dtype=np.bool_)
    if len(times) < 2:
        return np.full((len(wanted), values.shape[1]), np.nan), np.zeros(len(wanted), np.bool_)
    after = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
    apart = times[after] - times[after - 1]
    known = (apart <= _GAP * float(np.median(np.diff(times)))) & (wanted >= times[0])
    known &= wanted <= times[-1]
    if smooth:
        import scipy  # its splines take longer to import than most recordings to read

        found = scipy.interpolate.CubicSpline(times, values, axis=0)(wanted)
        return np.where(known[:, None], found, np.nan), known
    found = np.column_stack([np.interp(wanted, times, column) for column in values.T])
    return found, known


def _control(
    series: TimeSeries, name: str, wanted: FloatArray, given: SignalSettings
) -> FloatArray:
    """An input at some instants, NaN before its first sample and after its last."""
    mapping = series.signal_mapping or {}
    key = next((n for n in (name, name + SUFFIXES[SignalType.MjCtrl]) if n in mapping), None)
    if key is None:
        return np.full(len(wanted), np.nan)
    column = int(mapping[key][1][0])
    times, values = series.times + given.delay, series.data[:, column]
    if series.holds(column):
        places = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, None)
        found: FloatArray = values[places]
    else:
        found = np.interp(wanted, times, values)
    edge = 0.5 * float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    outside = (wanted < times[0] - edge) | (wanted > times[-1] + edge)
    return np.where(outside, np.nan, given.gain * found + given.bias)


def _couplings(model: mujoco.MjModel) -> list[tuple[int, int, FloatArray]]:
    """Joints that an equality constraint moves with another: both, and the polynomial."""
    joint, found = int(mujoco.mjtEq.mjEQ_JOINT), []
    for e in range(model.neq):
        if int(model.eq_type[e]) == joint and model.eq_active0[e] and int(model.eq_obj2id[e]) >= 0:
            pair = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
            found.append((*pair, np.asarray(model.eq_data[e, :5])))
    return found


def _move_coupled(model: mujoco.MjModel, qpos: FloatArray) -> None:
    """Move coupled joints with those that drive them."""
    for dependent, driving, polynomial in _couplings(model):
        to, of = int(model.jnt_qposadr[dependent]), int(model.jnt_qposadr[driving])
        moved = qpos[:, of] - float(model.qpos0[of])
        qpos[:, to] = float(model.qpos0[to]) + np.polynomial.polynomial.polyval(moved, polynomial)


def _external(
    model: mujoco.MjModel, qpos: FloatArray, inputs: Sequence[str], values: FloatArray
) -> FloatArray:
    """Generalised force (n, nv) of known inputs (n, k) at sites."""
    data = mujoco.MjData(model)
    numbers = [model.actuator(name).id for name in inputs]
    found: FloatArray = np.zeros((len(qpos), model.nv))
    for row, pose, value in zip(found, qpos, values, strict=True):
        data.qpos[:] = pose
        data.ctrl[:] = 0.0
        data.ctrl[numbers] = value
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdActuation(model, data)
        row[:] = data.qfrc_actuator
        if not np.all(np.isfinite(value)):
            row[:] = np.nan
    return found
