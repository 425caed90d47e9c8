# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint positions over time of one recording of a result, measured and simulated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.errors import DataError, ModelError, unknown_name
from sysid_ros.outcome import Outcome, SequenceFit, SignalFit
from sysid_ros.results import ResultFolder, read_results
from sysid_ros.sysid.sensor_units import joint_shown

FloatArray = npt.NDArray[np.float64]

_POSITION, _VELOCITY = ("rad", "m"), ("rad/s", "m/s")
SIMULATED = ("fitted", "initial")


@dataclass(frozen=True)
class Motion:
    """How a robot moved and how its model moves; arrays are (n, joints).

    Attributes:
      sequence: The recording's name.
      times: s from the recording's start, (n,).
      joints: Names of the joints whose position was measured.
      measured: Positions, rad or m.
      simulated: Positions; where nothing was predicted, between the neighbouring predictions.
      measured_velocity: Velocities, rad/s or m/s; NaN where they were not measured.
      simulated_velocity: Likewise.
    """

    sequence: str
    times: FloatArray
    joints: tuple[str, ...]
    measured: FloatArray
    simulated: FloatArray
    measured_velocity: FloatArray
    simulated_velocity: FloatArray

    @property
    def duration(self) -> float:
        """S from the first sample to the last."""
        return float(self.times[-1] - self.times[0])

    def row_at(self, elapsed: float) -> int:
        """The last sample that is not later than ``elapsed`` s after the first."""
        row = int(np.searchsorted(self.times, self.times[0] + elapsed, side="right")) - 1
        return min(max(row, 0), len(self.times) - 1)


def load_motion(
    folder: Path, sequence: str = "", simulated: str = "fitted"
) -> tuple[Motion, mujoco.MjModel]:
    """Read a recording's motion and the identified model from a result.

    Args:
      folder: The result folder.
      sequence: The recording's name; the first held-out one, or else the first, if empty.
      simulated: ``fitted`` or ``initial`` parameters.

    Returns:
      The motion, and the model, which has its joints.

    Raises:
      ResultError: It is no result folder.
      ModelError: It has no model.
      DataError: There is no such recording, or none of its signals is a joint's position.
    """
    if simulated not in SIMULATED:
        raise DataError(unknown_name("simulation", simulated, SIMULATED))
    outcome = read_results(folder)
    path = ResultFolder.at(folder).model
    if path is None:
        raise ModelError(f"{folder} holds no model.xml to move")
    model = mujoco.MjModel.from_xml_path(str(path))
    return motion_of(_chosen(outcome, sequence), model, simulated), model


def motion_of(sequence: SequenceFit, model: mujoco.MjModel, simulated: str = "fitted") -> Motion:
    """The motion that a recording's signals show.

    Args:
      sequence: The recording.
      model: Has the joints.
      simulated: ``fitted`` or ``initial``.

    Raises:
      DataError: None of the signals is the position of a hinge or slide of the model.
    """
    positions, velocities = (
        {
            joint: signal
            for signal in sequence.signals
            if signal.unit in units and _has(model, joint := _joint_of(signal, model))
        }
        for units in (_POSITION, _VELOCITY)
    )
    if not positions:
        raise DataError(
            f"no signal of {sequence.name!r} is the position of a joint; there are: "
            + ", ".join(signal.name for signal in sequence.signals)
        )
    joints = tuple(positions)
    times = max((signal.times for signal in positions.values()), key=len)

    def columns(source: dict[str, SignalFit], what: str) -> FloatArray:
        missing = np.full(len(times), np.nan)
        return np.stack(
            [_resampled(source[j], what, times) if j in source else missing for j in joints], axis=1
        )

    return Motion(
        sequence.name,
        times,
        joints,
        columns(positions, "measured"),
        columns(positions, simulated),
        columns(velocities, "measured"),
        columns(velocities, simulated),
    )


def configuration(model: mujoco.MjModel, joints: tuple[str, ...], values: FloatArray) -> FloatArray:
    """The model's position vector with some joints set, (nq,).

    Others stay as in the model's first keyframe, or at its reference where there is none.
    """
    qpos = np.array(model.key_qpos[0] if model.nkey else model.qpos0)
    for joint, value in zip(joints, values, strict=True):
        if np.isfinite(value):
            qpos[int(model.joint(joint).qposadr[0])] = value
    return qpos


def _chosen(outcome: Outcome, name: str) -> SequenceFit:
    sequences = {sequence.name: sequence for sequence in outcome.sequences}
    if not sequences:
        raise DataError("the result holds no signals (the fit did not end)")
    if name and name not in sequences:
        raise DataError(unknown_name("recording", name, sequences))
    held_out = [s.name for s in outcome.sequences if s.role == "validation"]
    return sequences[name or (held_out or list(sequences))[0]]


def _joint_of(signal: SignalFit, model: mujoco.MjModel) -> str:
    """The joint that a signal shows, by what the result says or by the model's sensor."""
    sensor = mujoco.mj_name2id(model, int(mujoco.mjtObj.mjOBJ_SENSOR), signal.name)
    return signal.joint or (joint_shown(model, sensor) if sensor >= 0 else "")


def _has(model: mujoco.MjModel, joint: str) -> bool:
    """Whether a joint is there and has one number."""
    number = mujoco.mj_name2id(model, int(mujoco.mjtObj.mjOBJ_JOINT), joint) if joint else -1
    single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    return number >= 0 and int(model.jnt_type[number]) in single


def _resampled(signal: SignalFit, what: str, times: FloatArray) -> FloatArray:
    values = getattr(signal, what)
    known = np.isfinite(values)
    if not known.any():
        return np.full(len(times), np.nan)
    resampled: FloatArray = np.interp(times, signal.times[known], values[known])
    return resampled
