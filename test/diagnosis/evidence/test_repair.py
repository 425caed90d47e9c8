# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Repairs are lines that a person would have written."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.repair import ExperimentLines, finding_of, freed_mass
from sysid_ros.engine.elements import body_label
from sysid_ros.experiment import parse_experiment, with_overrides
from sysid_ros.recording.messages import Clock

EXPERIMENT = """
model: arm.xml
sequences: [bags/a]
signals:
  - {sensor: angle, topic: /joint_states, field: "position[elbow]", unit: deg}
parameters:
  - {joint: "*", armature: {min: 0.0, max: 0.05}}
"""


def test_a_unit_that_converts_once_too_often_is_left_out() -> None:
    experiment = parse_experiment(EXPERIMENT, path=Path("experiment.yaml"))
    change = Change(FindingKind.DEGREES, scale={"angle": 57.29577951308232})
    repair = ExperimentLines(experiment).with_change(change)
    assert "unit" not in repair.text
    assert "scale" not in repair.text
    (signal,) = with_overrides(experiment, repair.overrides).signals
    assert signal.unit is None
    assert signal.scale == 1.0


MOTORS = """
model: arm.xml
sequences: [bags/a]
signals:
  - {actuator: m0, topic: /a, field: "data[0]", scale: 2.0, clock: receive}
  - {actuator: m1, topic: /b, field: "data[0]"}
parameters:
  - {joint: "*", armature: {min: 0.0, max: 0.05}}
"""


def test_lines_of_two_mistakes_of_one_signal_repair_both() -> None:
    experiment = parse_experiment(MOTORS, path=Path("experiment.yaml"))
    lines = ExperimentLines(experiment)
    sign = lines.with_change(Change(FindingKind.SIGN, scale={"m1": -1.0}))
    factor = lines.with_change(Change(FindingKind.SCALE, scale={"m1": 0.5}))
    assert "scale: -0.5" in factor.text
    repaired = with_overrides(experiment, (*sign.overrides, *factor.overrides))
    assert [one.scale for one in repaired.signals] == [2.0, -0.5]


@pytest.mark.parametrize(("own", "other", "ambiguous"), [
    (("m0",), ("m1",), True),
    (("m0", "p0"), ("m1", "p1"), False),  # joints reversed whole: mirror images move alike
    (("m0", "m1"), ("p0", "p1"), True),  # of two joints, each of which has one of both reversed
    (("m0", "p0"), ("p1",), True),
])  # fmt: skip
def test_mirror_images_leave_nothing_open_but_which_joint_to_turn(
    own: tuple[str, ...], other: tuple[str, ...], ambiguous: bool
) -> None:
    measured = '  - {{qpos: p{0}, topic: /s, field: "position[p{0}]"}}\n'
    text = MOTORS.replace("parameters:", measured.format(0) + measured.format(1) + "parameters:")
    lines = ExperimentLines(parse_experiment(text, path=Path("experiment.yaml")))
    labels = {"p0": "p0_qpos", "p1": "p1_qpos"}
    change, alternative = (
        Change(FindingKind.SIGN, scale={labels.get(one, one): -1.0 for one in names})
        for names in (own, other)
    )
    found = finding_of(change, lines, {}, "Why.", alternatives=(alternative,))
    assert found.ambiguous == ambiguous
    assert all(f"'{labels.get(one, one)}'" in found.sentence for one in (*own, *other))


def test_exchanged_signals_take_their_conversion_and_their_clock_along() -> None:
    experiment = parse_experiment(MOTORS, path=Path("experiment.yaml"))
    lines = ExperimentLines(experiment)
    swap = lines.with_change(Change(FindingKind.SWAP, exchange=(("m0", "m1"),)))
    sign = lines.with_change(Change(FindingKind.SIGN, scale={"m1": -1.0}))
    first, second = with_overrides(experiment, (*swap.overrides, *sign.overrides)).signals
    assert (first.topic, first.scale, first.clock) == ("/b", 1.0, None)
    assert (second.topic, second.scale, second.clock) == ("/a", -2.0, Clock.RECEIVE)
    assert "clock" not in swap.text.splitlines()[0]


def test_a_body_without_a_name_gets_one_before_its_mass_is_freed() -> None:
    body = '<body {}><joint name="elbow"/><geom size=".1"/></body>'
    nameless, named = (
        mujoco.MjModel.from_xml_string(
            f"<mujoco><worldbody>{body.format(name)}</worldbody></mujoco>"
        )
        for name in ("", 'name="body_1"')
    )
    assert freed_mass(named, "body_1") == "- {body: body_1, mass: null}"
    first, line = freed_mass(nameless, body_label(nameless, 1)).splitlines()
    assert line == "- {body: body_1, mass: null}"
    assert first.startswith("# ")
    assert "'elbow'" in first and '<body name="body_1">' in first
    other = f'<worldbody>{body.format("")}<body name="body_1"/></worldbody>'
    taken = mujoco.MjModel.from_xml_string(f"<mujoco>{other}</mujoco>")
    first, line = freed_mass(taken, body_label(taken, 1)).splitlines()
    assert line == "- {body: body_1_2, mass: null}" and '<body name="body_1_2">' in first
