# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint positions read off a recording's signals: hinges, slides, ball and free joints.

An orientation's three signals are the rotation vector of what was measured since the first
measurement, and for a simulation that plus the rotation vector from the measured to the simulated
orientation, in the measured frame (:mod:`sysid_ros.engine.windows.orientations`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import FREE, SCALAR
from sysid_ros.engine.signals import joint_named, joint_shown
from sysid_ros.judgement import SequenceFit, SignalFit

# What signals that name a joint instead of a sensor are called by; see robots/state_sensors.py.
_STATE = re.compile(r"(?P<joint>.+)_qpos(?:(?:_position|_orientation)?\[[012]\])?")


@dataclass(frozen=True)
class ShownJoint:
    """The signals of one joint's position."""

    joint: int  # its number
    # one of a hinge or slide, three of a ball joint's orientation; of a free joint three of its
    # place, three of its orientation, or both in this order
    signals: tuple[SignalFit, ...]

    def write(self, model: mujoco.MjModel, which: str, times: FloatArray, qpos: FloatArray) -> None:
        """Write the joint's columns of ``qpos``, (n, nq), where the signals are known at (n,) s."""
        first = int(model.jnt_qposadr[self.joint])
        turned = [signal for signal in self.signals if signal.origin]
        for k, signal in enumerate(s for s in self.signals if not s.origin):
            values = resampled(signal, which, times)
            known = np.isfinite(values)
            qpos[known, first + k] = values[known]
        if turned:
            at = first + (3 if int(model.jnt_type[self.joint]) == FREE else 0)
            qpos[:, at : at + 4] = _orientations(turned, which, times)


def shown_joints(model: mujoco.MjModel, sequence: SequenceFit) -> tuple[ShownJoint, ...]:
    """The joints whose position a recording shows.

    Args:
      model: Has the joints, and the sensors that signals are named by.
      sequence: The recording.
    """
    found: dict[int, list[SignalFit]] = {}
    for signal in sequence.signals:
        joint = _joint_of(model, signal) if signal.times.size else None
        if joint is not None:
            found.setdefault(joint, []).append(signal)
    shown = (
        ShownJoint(joint, tuple(_complete(signals, int(model.jnt_type[joint]))))
        for joint, signals in found.items()
    )
    return tuple(joint for joint in shown if joint.signals)


def configurations(
    model: mujoco.MjModel, shown: tuple[ShownJoint, ...], which: str, times: FloatArray
) -> FloatArray:
    """Position vectors of the model at (n,) s, (n, nq): ``measured``, ``initial`` or ``fitted``.

    Joints that nothing shows stay as in the model's first keyframe, or at its reference where
    there is none.
    """
    qpos = np.tile(model.key_qpos[0] if model.nkey else model.qpos0, (len(times), 1))
    for joint in shown:
        joint.write(model, which, times, qpos)
    return qpos


def joint_name(model: mujoco.MjModel, signal: SignalFit) -> str:
    """The joint that a signal shows, by what the result says or by the model's sensor."""
    sensor = mujoco.mj_name2id(model, int(mujoco.mjtObj.mjOBJ_SENSOR), signal.name)
    return signal.joint or (joint_shown(model, sensor) if sensor >= 0 else "")


def resampled(signal: SignalFit, which: str, times: FloatArray) -> FloatArray:
    """A signal at other instants, linear between what is known; NaN where nothing is, (n,)."""
    values = getattr(signal, which)
    known = np.isfinite(values)
    if not known.any():
        return np.full(len(times), np.nan)
    found: FloatArray = np.interp(times, signal.times[known], values[known])
    return found


def _joint_of(model: mujoco.MjModel, signal: SignalFit) -> int | None:
    """The joint whose position a signal is a part of."""
    if not signal.is_position:
        return None
    name = joint_name(model, signal)
    joint = mujoco.mj_name2id(model, int(mujoco.mjtObj.mjOBJ_JOINT), name) if name else -1
    if joint >= 0 and int(model.jnt_type[joint]) in SCALAR:
        return joint
    state = _STATE.fullmatch(signal.name)
    return joint_named(model, state["joint"]) if state is not None else None


def _complete(signals: list[SignalFit], kind: int) -> Iterator[SignalFit]:
    """The signals of one joint in the order of its numbers, without parts that lack one."""
    if kind in SCALAR:
        yield signals[0]
        return
    for oriented in (False, True) if kind == FREE else (True,):
        part = [signal for signal in signals if bool(signal.origin) == oriented]
        if len(part) == 3:
            yield from sorted(part, key=lambda signal: signal.name)


def _orientations(signals: list[SignalFit], which: str, times: FloatArray) -> FloatArray:
    """Quaternions of the nearest known samples, (n, 4)."""
    measured = np.stack([signal.measured for signal in signals], axis=1)
    shown = np.stack([getattr(signal, which) for signal in signals], axis=1)
    known = np.isfinite(shown).all(axis=1)
    origin = np.array(signals[0].origin)
    if not known.any():
        return np.tile(origin, (len(times), 1))
    instants = signals[0].times[known]
    nearest = np.searchsorted((instants[1:] + instants[:-1]) / 2.0, times)
    samples = np.flatnonzero(known)[nearest]
    rotation = scipy.spatial.transform.Rotation
    there = (
        rotation.from_quat(np.roll(origin, -1))  # SciPy puts w last
        * rotation.from_rotvec(measured[samples])
        * rotation.from_rotvec(shown[samples] - measured[samples])
    )
    found: FloatArray = np.roll(there.as_quat(), 1, axis=1)
    return found
