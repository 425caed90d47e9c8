# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint positions over time of one recording of a result, measured and simulated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import DataError, ModelError, unknown_name
from sysid_ros.judgement import Outcome, SequenceFit, SignalFit
from sysid_ros.playback.joint_positions import configurations, joint_name, resampled, shown_joints
from sysid_ros.results import ResultFolder, read_results

_VELOCITY = ("rad/s", "m/s", "mm/s")
_TORQUE = ("N m", "N", "uN m", "mN")
SIMULATED = ("fitted", "initial")


@dataclass(frozen=True)
class RobotMotion:
    """The motion of a robot and of its model.

    Where nothing was predicted, the simulated robot is between the neighbouring predictions.
    """

    sequence: str  # the recording's name
    times: FloatArray  # s from the recording's start, (n,)
    measured_qpos: FloatArray  # position vectors of the model, (n, nq)
    simulated_qpos: FloatArray  # likewise
    joints: tuple[str, ...]  # names of the hinges and slides whose position was measured
    measured: FloatArray  # their positions, (n, joints) rad or m
    simulated: FloatArray  # likewise
    measured_velocity: FloatArray  # velocities, rad/s or m/s; NaN where they were not measured
    simulated_velocity: FloatArray  # likewise

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, s."""
        return float(self.times[-1] - self.times[0])

    def row_at(self, elapsed: float) -> int:
        """The last sample that is not later than ``elapsed`` s after the first."""
        row = int(np.searchsorted(self.times, self.times[0] + elapsed, side="right")) - 1
        return min(max(row, 0), len(self.times) - 1)


def load_motion(
    folder: Path, sequence: str = "", simulated: str = "fitted"
) -> tuple[RobotMotion, mujoco.MjModel]:
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


def motion_of(
    sequence: SequenceFit, model: mujoco.MjModel, simulated: str = "fitted"
) -> RobotMotion:
    """The motion that a recording's signals show, simulated with ``fitted`` or ``initial`` values.

    Raises:
      DataError: None of the signals is the position of a joint of the model.
    """
    shown = shown_joints(model, sequence)
    if not shown:
        all_torques = all(signal.unit in _TORQUE for signal in sequence.signals)
        raise DataError(
            f"no signal of {sequence.name!r} is the position of a joint; there are: "
            + ", ".join(signal.name for signal in sequence.signals)
            + (" (a fit to measured torque simulates no motion)" if all_torques else "")
        )
    times = max((signal.times for joint in shown for signal in joint.signals), key=len)
    positions = {
        model.joint(joint.joint).name: joint.signals[0]
        for joint in shown
        if len(joint.signals) == 1
    }
    velocities = {joint_name(model, s): s for s in sequence.signals if s.unit in _VELOCITY}

    def columns(source: dict[str, SignalFit], what: str) -> FloatArray:
        missing = np.full(len(times), np.nan)
        rows = [resampled(source[j], what, times) if j in source else missing for j in positions]
        return np.stack(rows, axis=1) if rows else np.zeros((len(times), 0))

    return RobotMotion(
        sequence.name,
        times,
        configurations(model, shown, "measured", times),
        configurations(model, shown, simulated, times),
        tuple(positions),
        columns(positions, "measured"),
        columns(positions, simulated),
        columns(velocities, "measured"),
        columns(velocities, simulated),
    )


def _chosen(outcome: Outcome, name: str) -> SequenceFit:
    sequences = {sequence.name: sequence for sequence in outcome.sequences}
    if not sequences:
        raise DataError("the result holds no signals (the fit did not end)")
    if name and name not in sequences:
        raise DataError(unknown_name("recording", name, sequences))
    held_out = [s.name for s in outcome.sequences if s.role == "validation"]
    return sequences[name or (held_out or list(sequences))[0]]
