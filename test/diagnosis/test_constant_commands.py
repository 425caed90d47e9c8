# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A command that never changes beside a joint that moves: driven, or only shaken by others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.constant_commands import constant_command_findings
from sysid_ros.diagnosis.evidence import ExperimentLines, FindingKind, Recorded, Samples
from sysid_ros.experiment import parse_experiment

TIMES = np.arange(0.0, 12.0, 0.005)
ARM = """
<mujoco><option timestep="0.001" integrator="implicitfast" gravity="0 0 {gravity}"/>
  <compiler angle="radian"/><default><geom contype="0" conaffinity="0"/></default>
  <worldbody><body name="upper" pos="0 0 1">
    <joint name="shoulder" axis="0 1 0" damping=".3"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="2"/>
    <body name="fore" pos=".3 0 0"><joint name="elbow" axis="0 1 0" damping=".05"/>
      <geom type="capsule" fromto="0 0 0 .25 0 0" size=".02" mass="1"/></body></body></worldbody>
  <actuator><position name="first" joint="shoulder" kp="300" kv="10"/>
    <position name="second" joint="elbow" kp="{kp}" kv="{kv}"/></actuator>
</mujoco>
"""


def swinging(reach: float) -> FloatArray:
    """Commands of three frequencies."""
    phases = 2.0 * np.pi * np.outer([0.2, 0.6, 1.1], TIMES)
    return np.asarray(reach / 3.0 * np.sin(phases + np.arange(3.0)[:, None]).sum(axis=0))


def recording(
    second: FloatArray,
    told: FloatArray,
    *,
    kp: float,
    kv: float = 0.0,
    gravity: float = -9.81,
    weaker: float = 1.0,
) -> Recorded:
    """An arm under servos whose second one is told something, and what is recorded of that."""
    kv = kv or 0.05 * kp
    true = ARM.format(kp=kp / weaker, kv=kv, gravity=gravity)
    model = mujoco.MjModel.from_xml_string(true)
    first, places = swinging(0.9), np.empty((len(TIMES), 2))
    data = mujoco.MjData(model)
    for k in range(len(TIMES)):
        places[k] = data.qpos
        data.ctrl[:] = first[k], second[k]
        mujoco.mj_step(model, data, 5)
    places += np.random.default_rng(1).normal(0.0, 1e-4, places.shape)
    own = mujoco.MjModel.from_xml_string(ARM.format(kp=kp, kv=kv, gravity=-9.81))
    signals = {
        "first": Samples(TIMES, first, "zoh"),
        "second": Samples(TIMES, told, "zoh"),
        "shoulder_qpos": Samples(TIMES, places[:, 0]),
        "elbow_qpos": Samples(TIMES, places[:, 1]),
    }
    positions = {0: "shoulder_qpos", 1: "elbow_qpos"}
    return Recorded(own, (signals,), ({},), positions, {}, {}, {0: "first", 1: "second"})


@pytest.fixture
def lines(tmp_path: Path) -> ExperimentLines:
    """An experiment that maps the second servo's command."""
    text = """
model: arm.xml
sequences: [bag]
signals:
  - {actuator: first, topic: /commands, field: "data[0]"}
  - {actuator: second, topic: /commands, field: "data[1]"}
"""
    return ExperimentLines(parse_experiment(text, path=tmp_path / "experiment.yaml"))


@pytest.mark.parametrize("kp", [60.0, 300.0])
def test_a_joint_that_something_else_drives_is_told(kp: float, lines: ExperimentLines) -> None:
    seen = recording(swinging(0.8), np.full(len(TIMES), 0.1), kp=kp)
    (found,) = constant_command_findings(seen, lines)
    assert (found.kind, found.signals) == (FindingKind.NO_CONTROL, ("second",))
    assert "'second' is told 0.1 throughout (/commands)" in found.sentence
    assert found.repair.startswith("# - {actuator: second")


@pytest.mark.parametrize("kp", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("gravity", [-9.81, 9.81])  # as its user has it, and on a ceiling
@pytest.mark.parametrize("weaker", [1.0, 3.0])
def test_a_joint_that_others_shake_is_not(
    kp: float, gravity: float, weaker: float, lines: ExperimentLines
) -> None:
    held = np.full(len(TIMES), 0.1)
    seen = recording(held, held, kp=kp, gravity=gravity, weaker=weaker)
    assert np.ptp(seen.pooled("elbow_qpos")[0].values) > 0.05
    assert constant_command_findings(seen, lines) == []


@pytest.mark.parametrize("begin", [4.0, 7.0])
def test_commands_that_end_before_the_motion_are_told(begin: float, lines: ExperimentLines) -> None:
    """The last one is held, and nobody knows what came after."""
    sent = swinging(0.8)
    seen = recording(sent, sent, kp=60.0)
    shorter = dict(seen.recordings[0])
    for name in ("first", "second"):  # both are published together
        own, inside = shorter[name], begin >= TIMES
        shorter[name] = Samples(TIMES[inside], own.values[inside], "zoh")
    first, found = constant_command_findings(replace(seen, recordings=(shorter,)), lines)
    assert first.signals == ("first",)
    assert (found.kind, found.signals, found.repair) == (FindingKind.NO_CONTROL, ("second",), "")
    assert f"'second' is told {sent[int(200 * begin)]:.4g} from {begin + 0.5:.1f} s on" in (
        found.sentence
    )
    assert found.evidence["begin"] == pytest.approx(begin + 0.5)


def test_positions_that_begin_after_it_tell_nothing(lines: ExperimentLines) -> None:
    sent = np.where(TIMES < 6.0, 0.1, swinging(0.8))
    seen = recording(sent, sent, kp=60.0)
    signals = dict(seen.recordings[0])
    for label in ("shoulder_qpos", "elbow_qpos"):
        signals[label] = signals[label].between(6.5, 12.0)
    seen = replace(seen, recordings=(signals,))
    assert constant_command_findings(seen, lines) == []


@pytest.mark.parametrize("kv", [0.3, 3.0])  # a joint that rings for long, and one that does not
def test_steps_and_goals_are_not(kv: float, lines: ExperimentLines) -> None:
    steps = np.where(TIMES < 4.0, 0.0, np.where(TIMES < 8.0, 0.6, -0.2))
    ringing = recording(steps, steps, kp=60.0, kv=kv)
    assert constant_command_findings(ringing, lines) == []
    # a drive that takes seconds to a goal, by a course that it makes itself
    course = np.interp(TIMES, [0.0, 3.9, 4.0, 8.0, 12.0], [0.0, 0.0, 0.0, 0.6, -0.2])
    assert constant_command_findings(recording(course, steps, kp=60.0), lines) == []
    assert constant_command_findings(recording(swinging(0.8), swinging(0.8), kp=60.0), lines) == []
