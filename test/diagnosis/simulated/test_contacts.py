# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lasting overlaps, touches and simulations that run away are named before any fit."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from sysid_ros.dataset import Dataset, load_dataset
from sysid_ros.diagnosis.checks import check_dataset
from sysid_ros.diagnosis.evidence.finding import FindingKind
from sysid_ros.diagnosis.simulated.contacts import Contacts, apart, contacts
from sysid_ros.experiment import Experiment, parse_experiment
from sysid_ros.rehearsal import Motion, RecordingPlan, generate

# A trunk that hangs: its free joint is gone, so that it stands still, and the hip is no child of
# a moving body any more.
HANGING = """<mujoco><option timestep="0.002"/><worldbody><body name="trunk" pos="0 0 1">
  <geom name="shell" type="box" size=".2 .1 .05" mass="5"/>
  <body name="hip" pos="0 .1 0"><joint name="leg" axis="0 1 0" damping="0.2"/>
  <geom type="sphere" size=".03" mass=".3"/>
  <geom type="capsule" fromto="0 .06 0 0 .06 -.3" size=".02" mass=".5"/></body></body></worldbody>
  <actuator><position name="servo" joint="leg" kp="20" kv="1"/></actuator>{}</mujoco>"""
HOPPING = """<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="0 0 .1"/>
  <body name="arm" pos="0 0 .25"><joint name="leg" axis="0 1 0" damping="0.2"/>
  <geom name="tip" type="capsule" fromto="0 0 0 .3 0 -.19" size=".02" mass=".5"/></body></worldbody>
  <actuator><position name="servo" joint="leg" kp="30" kv="1"/></actuator></mujoco>"""


def dataset(folder: Path, model: str, recorded: str) -> tuple[Experiment, Dataset]:
    """A recording of one robot, and an experiment on a model that may differ from it."""
    (folder / "robot.xml").write_text(model)
    plan = RecordingPlan(duration=4.0, motion=Motion(reach=0.5), settle=0.0)
    generate(mujoco.MjSpec.from_string(recorded), plan, folder / "bag")
    experiment = parse_experiment(
        "model: robot.xml\nsequences: [bag]\nsignals:\n"
        '  - {qpos: leg, topic: /joint_states, field: "position[leg]"}\n'
        '  - {actuator: servo, topic: /position_controller/commands, field: "data[0]"}\n'
        "parameters: []\n",
        path=folder / "experiment.yaml",
    )
    return experiment, load_dataset(experiment, None)


def test_bodies_that_overlap_in_every_posture_are_named_with_the_remedy(tmp_path: Path) -> None:
    excluded = '<contact><exclude body1="trunk" body2="hip"/></contact>'
    good, bad = HANGING.format(excluded), HANGING.format("")
    experiment, data = dataset(tmp_path, bad, good)
    seen = contacts(data.training)
    assert [(one.bodies, one.geoms[0]) for one in seen.overlaps] == [(("trunk", "hip"), "'shell'")]
    assert seen.overlaps[0].depth == pytest.approx(0.03, rel=0.1)
    assert seen.drawn == {("trunk", "hip"): pytest.approx(0.03, rel=0.1)}  # so init lets it pass
    assert not seen.touching
    assert apart(data.training, seen).gt_model.nexclude == 1
    assert data.training[0].gt_model.nexclude == 0
    finding = next(
        one for one in check_dataset(experiment, data) if one.kind is FindingKind.OVERLAP
    )
    assert excluded in finding.sentence
    assert "'trunk' ('shell') and 'hip' (sphere number 1 of its body) by 30 mm" in finding.sentence


@pytest.mark.parametrize(
    "remedy",
    [
        '<contact><exclude body1="trunk" body2="hip"/></contact>',
        '<option><flag contact="disable"/></option>',
    ],
)
def test_with_the_remedy_nothing_is_found(tmp_path: Path, remedy: str) -> None:
    good = HANGING.format(remedy)
    experiment, data = dataset(tmp_path, good, good)
    assert check_dataset(experiment, data) == ()


def test_touching_the_floor_at_times_is_no_mistake(tmp_path: Path) -> None:
    experiment, data = dataset(tmp_path, HOPPING, HOPPING)
    seen = contacts(data.training)
    assert seen.come_and_go
    assert 0.05 < seen.touching["world", "arm"] < 0.95
    assert [seen.window(length) for length in (None, 1.0, 0.3)] == [0.4, 0.4, 0.3]
    assert Contacts().window(None) is None and Contacts().window(1.0) == 1.0
    assert seen.overlaps == ()
    assert apart(data.training, seen) is data.training[0]
    assert not {one.kind for one in check_dataset(experiment, data)} & {
        FindingKind.OVERLAP,
        FindingKind.RUNAWAY,
    }


def test_bodies_without_a_name_are_told_apart(tmp_path: Path) -> None:
    tips = '<body pos=".3 {} -.19"><geom type="sphere" size=".02"/></body>'
    model = HOPPING.replace('fromto="0 0 0 .3 0 -.19"', 'fromto="0 0 0 .2 0 0"').replace(
        "</body></worldbody>", f"{tips.format('.05')}{tips.format('-.05')}</body></worldbody>"
    )
    _, data = dataset(tmp_path, model, model)
    assert set(contacts(data.training).touching) == {
        ("world", "body_2"),
        ("world", "body_3"),
    }


def test_a_simulation_that_flies_apart_is_named(tmp_path: Path) -> None:
    good = HANGING.format('<option><flag contact="disable"/></option>')
    stiff = good.replace('kp="20" kv="1"', 'kp="2e7"').replace("0.002", "0.01")
    experiment, data = dataset(tmp_path, stiff, good)
    found = {one.kind: one for one in check_dataset(experiment, data)}
    assert "flies apart in 6 of 6 stretches" in found[FindingKind.RUNAWAY].sentence


def test_a_base_of_unknown_height_touches_nothing_outside(tmp_path: Path) -> None:
    floating = HOPPING.replace('<body name="arm"', '<body name="base" pos="0 0 0.1"><freejoint/>'
        '<geom type="sphere" size=".2" mass="1" contype="2"/><body name="arm"').replace(
        "</body></worldbody>", "</body></body></worldbody>"
    )  # fmt: skip
    still = HOPPING.replace('name="tip"', 'name="tip" contype="0" conaffinity="0"')
    _, data = dataset(tmp_path, floating, still)
    assert contacts(data.training).touching == {}


def test_a_range_that_was_left_is_named_and_so_are_radians_read_in_degrees(tmp_path: Path) -> None:
    limits = 'range="0 1.2" limited="true"', 'ctrlrange="0 1.2" ctrllimited="true"'
    text = HANGING.replace("damping=", f"{limits[0]} damping=").replace("kp=", f"{limits[1]} kp=")
    read = text.format('<contact><exclude body1="trunk" body2="hip"/></contact>')
    meant = read.replace("<mujoco>", '<mujoco><compiler angle="radian"/>')
    for model, seen in ((read, 1), (meant, 0)):
        folder = tmp_path / str(seen)
        folder.mkdir()
        found = [
            one for one in check_dataset(*dataset(folder, model, meant)) if "range" in one.kind
        ]
        assert len(found) == seen
    assert found == []
    told = check_dataset(*dataset(tmp_path, read, meant))
    finding = next(one for one in told if one.kind is FindingKind.RANGE)
    assert "range of 0 to 0.0209 rad" in finding.sentence
    assert '<compiler angle="radian"/>' in finding.sentence


def test_a_step_that_makes_a_servo_swing_is_named_with_the_remedy(tmp_path: Path) -> None:
    good = HANGING.format('<contact><exclude body1="trunk" body2="hip"/></contact>')
    experiment, data = dataset(tmp_path, good.replace('kv="1"', 'kv="60"'), good)
    (found,) = (one for one in check_dataset(experiment, data) if one.kind is FindingKind.TIME_STEP)
    assert found.signals == ("leg",)
    assert 'integrator="implicitfast"' in found.sentence
