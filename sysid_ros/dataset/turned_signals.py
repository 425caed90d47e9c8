# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Angles that are told modulo one turn, as far as only the model says what is an angle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import listed
from sysid_ros.experiment import SignalConfig
from sysid_ros.recording.mapping import (
    DEGREES,
    MappedRecording,
    MappedSignal,
    SignalKind,
    measured_columns,
    within_one,
)

_ANGLES = (SignalKind.QPOS, SignalKind.SENSOR)
_SPARE = 0.02  # of a range, by which an encoder's zero may put its ends elsewhere


def straight_signals(spec: mujoco.MjSpec, signals: Sequence[SignalConfig]) -> frozenset[str]:
    """Return the names of what is measured along slides, which never jumps by a turn."""
    slides = {joint.name for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_SLIDE}
    along = slides | {
        sensor.name
        for sensor in spec.sensors
        if sensor.type == mujoco.mjtSensor.mjSENS_JOINTPOS and sensor.objname in slides
    }
    measured = {one.name for one in signals if one.kind is not SignalKind.ACTUATOR}
    return frozenset(along & measured)


def turned_columns(recordings: Iterable[MappedRecording]) -> dict[str, float]:
    """Return what columns of measured signals jump by where a turn is over: 360 are no radians."""
    return {
        name: one.turn
        for mapped in recordings
        for name, one in zip(measured_columns(mapped), mapped.measured, strict=True)
        if one.turns
    }


def with_turned_positions(mapped: MappedRecording, spec: mujoco.MjSpec) -> MappedRecording:
    """Tell angles that are told modulo one turn in the turn of their joint's range.

    Where one angle of a recording jumped by whole turns, the others are told modulo a turn as well,
    and begin in that turn; of several recordings each begins in another one. What no whole turns
    put into the range stays.

    Args:
      mapped: The recording.
      spec: With a sensor for each of its signals.
    """
    if not any(one.turns and one.turn != DEGREES for one in mapped.measured):
        return mapped
    model = spec.copy().compile()
    moved: dict[int, MappedSignal] = {}  # by the signal's identity: of two, names may be the same
    for joint, one in _angles(mapped, spec):
        row = model.joint(joint)
        hinge = int(row.type[0]) == int(mujoco.mjtJoint.mjJNT_HINGE)
        if hinge and model.jnt_limited[row.id] and one.turn != DEGREES:
            back = _turns_back(one, float(row.range[0]), float(row.range[1]))
            told = replace(one, values=one.values + back, turns=max(one.turns, 1))
            moved |= {id(one): told} if back else {}
    if not moved:
        return mapped
    measured = tuple(moved.get(id(one), one) for one in mapped.measured)
    names = [one.name for one in moved.values()]
    warning = (
        f"{mapped.name}: {listed(names, 4)}: angles are told modulo a whole turn, and were moved "
        "to the turn of their joint's range."
    )
    return replace(mapped, measured=measured, warnings=(*mapped.warnings, warning))


def _turns_back(one: MappedSignal, low: float, high: float) -> float:
    """The whole turns [rad] that put an angle into a range; zero where none do."""
    lowest, highest = float(one.values.min()), float(one.values.max())
    back = one.turn * round(0.5 * (low + high - lowest - highest) / one.turn)
    low, high = low - _SPARE * (high - low), high + _SPARE * (high - low)
    inside = low < lowest and highest < high  # of one of several turns, as an arm's may have
    return back if not inside and low < lowest + back and highest + back < high else 0.0


def with_turned_commands(mapped: MappedRecording, spec: mujoco.MjSpec) -> MappedRecording:
    """Tell position commands in the turns of their joints' positions, which are joined.

    A drive that is told angles modulo one turn goes the shorter way. So such a command lies within
    half a turn of the position, and any other begins there.

    Args:
      mapped: The recording.
      spec: With a servo and a sensor for each of its signals.
    """
    places = _positions(mapped, spec)
    controls, said = [], []
    for control in mapped.controls:
        hinge = _hinge_of(control.name, spec)
        position = None if hinge is None else places.get(hinge)
        turned = control if position is None else _near(control, position)
        said += [] if turned is control else [control.name]
        controls.append(turned)
    if not said:
        return mapped
    warning = (
        f"{mapped.name}: commands of {listed(said, 4)} are told modulo a whole turn, and were "
        "moved to the turn that their joint is in."
    )
    return replace(mapped, controls=tuple(controls), warnings=(*mapped.warnings, warning))


def _positions(mapped: MappedRecording, spec: mujoco.MjSpec) -> dict[str, MappedSignal]:
    """Measured angles that leave one turn, by the joint's name."""
    return {
        joint: one
        for joint, one in _angles(mapped, spec)
        if one.turns or not within_one(one.values)
    }


def _angles(mapped: MappedRecording, spec: mujoco.MjSpec) -> list[tuple[str, MappedSignal]]:
    """Measured positions of single joints, each with the joint's name; one may have several."""
    sensed = {
        sensor.name: sensor.objname
        for sensor in spec.sensors
        if sensor.type == mujoco.mjtSensor.mjSENS_JOINTPOS
    }
    found = []
    for one in mapped.measured:
        if one.kind in _ANGLES and one.values.ndim == 1:
            joint = one.name if one.kind is SignalKind.QPOS else sensed.get(one.name)
            if joint is not None:
                found.append((joint, one))
    return found


def _hinge_of(name: str, spec: mujoco.MjSpec) -> str | None:
    """The hinge whose angle a servo is told; ``None`` for any other actuator."""
    servo = spec.actuator(name)
    if servo is None or servo.trntype != mujoco.mjtTrn.mjTRN_JOINT or servo.gear[0] != 1.0:
        return None
    joint = spec.joint(servo.target)
    turns = joint is not None and joint.type == mujoco.mjtJoint.mjJNT_HINGE
    return str(joint.name) if turns and servo.biasprm[1] < 0.0 else None


def _near(control: MappedSignal, position: MappedSignal) -> MappedSignal:
    """A command in the turns of a position; itself where it is there already."""
    values, turn = control.values, position.turn
    away = (np.interp(control.times, position.times, position.values) - values) / turn
    near = np.round(away)
    # A step of most of a turn jumps as well, but in the turns of a joint on its way it jumps more.
    joined = _jumps(values, turn) and not _jumps(values + turn * near, turn)
    told = position.turns > 0 and turn != DEGREES  # nobody knows the unit of the command then
    if within_one(values, turn) and (told or joined):
        turns = near
    elif told:  # told with its turns, which began elsewhere
        turns = np.full(len(away), np.round(np.median(away)))
    else:
        return control
    return replace(control, values=values + turn * turns) if turns.any() else control


def _jumps(values: FloatArray, turn: float) -> bool:
    """Return whether angles go by more than half a turn from one sample to the next."""
    return values.size > 1 and bool(np.abs(np.diff(values)).max() > 0.5 * turn)
