# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A result folder of a pendulum whose measured and simulated motions are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
from outcomes import outcome as synthetic

from sysid_ros.judgement.outcome import SequenceFit, SignalFit
from sysid_ros.pipeline.result_writing import write_results

MODEL = """<mujoco model="pendulum"><compiler angle="radian"/><worldbody><light pos="0 0 3"/>
  <body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0"/>
  <geom type="capsule" size=".05" fromto="0 0 0 0 0 -.5" rgba="1 1 1 1"/>
  <body name="lower" pos="0 0 -.5"><joint name="elbow" axis="0 1 0" ref="0.1"/>
  <geom type="capsule" size=".05" fromto="0 0 0 0 0 -.5" rgba="1 1 1 1"/></body></body></worldbody>
  <sensor><jointpos name="encoder" joint="shoulder"/></sensor></mujoco>"""
DURATION = 2.0  # s


def measured(times: np.ndarray) -> np.ndarray:
    """The shoulder's position."""
    return np.sin(times)


def sequence(name: str, role: str, offset: float = 0.8) -> SequenceFit:
    """A recording at 100 Hz; the fitted shoulder is off by ``offset`` rad, the initial by twice."""
    times = np.linspace(0.0, DURATION, 201)
    position = measured(times)
    fitted = position + offset
    fitted[50:60] = np.nan
    return SequenceFit(
        name,
        role,
        (
            SignalFit("encoder", "rad", times, position, position + 2 * offset, fitted),
            SignalFit(
                "shoulder_qvel", "rad/s", times, np.cos(times), np.cos(times), np.cos(times),
                "shoulder",
            ),
            SignalFit("force", "N", times, position, position, position),
        ),
        np.zeros(1),
    )  # fmt: skip


def write_pendulum_result(folder: Path, offset: float = 0.8) -> Path:
    """Write a result with one fitted and one held-out recording; returns its folder."""
    sequences = (
        sequence("trained", "training", offset),
        sequence("held_out", "validation", offset),
    )
    outcome = replace(synthetic(), sequences=sequences)
    return write_results(outcome, mujoco.MjSpec.from_string(MODEL), folder).folder
