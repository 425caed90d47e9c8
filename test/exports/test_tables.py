# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files for controllers, for training and for BAM say what was identified."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml
from outcomes import outcome as synthetic

from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.friction import FrictionParameters, apply_friction_to_spec
from sysid_ros.engine.friction.servo import VoltageServo, apply_servo_to_spec
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.exports import FORMATS
from sysid_ros.exports.bam import bam_documents
from sysid_ros.exports.formats import Identified
from sysid_ros.exports.randomization import randomization_yaml
from sysid_ros.exports.ros2_control import ros2_control_yaml
from sysid_ros.judgement.outcome import AppliedParameter, Outcome

MODEL = """<mujoco><worldbody><body name="link1"><joint name="shoulder" armature="0.1"
  damping="0.3" frictionloss="0.05"/><geom size=".1"/><body name="link2"><joint name="elbow"
  type="slide" damping="2"/><inertial pos="0 0.1 0" mass="2" fullinertia="1 1.5 .8 .1 .2 .05"/>
  </body></body></worldbody><actuator><position name="servo" joint="elbow" kp="30" kv="2" gear="2"/>
  <dcmotor name="drive" joint="shoulder" motorconst="0.5" resistance="2"/></actuator></mujoco>"""


@pytest.fixture
def model() -> mujoco.MjModel:
    if not hasattr(mujoco.mjtGain, "mjGAIN_DCMOTOR"):
        pytest.skip("this MuJoCo has no dcmotor")
    return mujoco.MjModel.from_xml_string(MODEL)


@pytest.fixture
def made() -> Outcome:
    def applied(name: str, element: str, target: str, attribute: str) -> AppliedParameter:
        return AppliedParameter(
            name, (0.0,), AttributeModifier(element, target, attribute).to_dict()
        )

    return replace(
        synthetic(),
        applied=(
            applied("shoulder_armature", "joint", "shoulder", "armature"),
            applied("link2_mass", "body", "link2", "mass"),
            applied("link1_pos_x", "body", "link1", "pos_x"),  # no inertia
        ),
    )


def test_controllers_get_joints_gains_and_links(made: Outcome, model: mujoco.MjModel) -> None:
    parameters = yaml.safe_load(ros2_control_yaml(made, model))["/**"]["ros__parameters"]
    assert parameters["joints"] == ["shoulder", "elbow"]
    assert parameters["dynamics"]["shoulder"] == {
        "armature": 0.1, "damping": 0.3, "frictionloss": 0.05, "stiffness": 0.0,
    }  # fmt: skip
    # A gear of 2 makes joint gains of 4 times the actuator's.
    assert parameters["gains"] == {"elbow": {"p": 120.0, "i": 0.0, "d": 8.0}}
    assert list(parameters["links"]) == ["link2"]
    assert parameters["links"]["link2"]["mass"] == 2.0
    np.testing.assert_allclose(
        parameters["links"]["link2"]["inertia"], [1, 1.5, 0.8, 0.1, 0.2, 0.05], atol=1e-12
    )


def test_controllers_get_a_torque_offset_and_not_the_spring_that_stands_for_it(
    made: Outcome, model: mujoco.MjModel
) -> None:
    spec = mujoco.MjSpec.from_string(MODEL)
    lookup("joint", "torque_offset").write(spec, "shoulder", np.array([0.7]))
    text = ros2_control_yaml(made, spec.compile())
    dynamics = yaml.safe_load(text)["/**"]["ros__parameters"]["dynamics"]["shoulder"]
    assert dynamics["stiffness"] == 0.0
    assert dynamics["torque_offset"] == pytest.approx(0.7)


def test_gains_move_the_joint_as_the_servo_does(model: mujoco.MjModel, made: Outcome) -> None:
    data = mujoco.MjData(model)
    data.qpos[1], data.qvel[1], data.ctrl[0] = 0.3, -0.7, 0.0
    mujoco.mj_forward(model, data)
    gains = yaml.safe_load(ros2_control_yaml(made, model))["/**"]["ros__parameters"]["gains"]
    force = -gains["elbow"]["p"] * 0.3 - gains["elbow"]["d"] * -0.7
    assert data.qfrc_actuator[1] == pytest.approx(force)


def test_ranges_are_those_of_the_fit(made: Outcome) -> None:
    content = yaml.safe_load(randomization_yaml(made))
    for parameter in made.fit.parameters:
        entry = content["parameters"][parameter.name]
        assert (entry["mean"], entry["std"]) == (parameter.value, parameter.standard_error)
        interval = parameter.interval()
        assert entry["interval"] == ([None, None] if interval is None else list(interval))
    names, matrix = content["covariance"]["names"], np.array(content["covariance"]["matrix"])
    assert names == ["shoulder_armature", "elbow_damping", "link2_mass"]  # the other is at a bound
    np.testing.assert_array_equal(matrix, made.fit.covariance[np.ix_([0, 2, 3], [0, 2, 3])])
    std = [content["parameters"][name]["std"] for name in names]
    np.testing.assert_allclose(np.sqrt(np.diag(matrix)), std)
    np.random.default_rng(0).multivariate_normal(np.zeros(3), matrix, check_valid="raise")
    assert content["parameters"]["link2_mass"]["applies_to"]["name"] == "link2"


def test_no_range_leaves_the_bounds(made: Outcome) -> None:
    first = made.fit.parameters[0]
    assert first.interval()[0] < first.value - 1e-9
    bounded = replace(first, lower=first.value - 1e-9)
    fit = replace(made.fit, parameters=(bounded, *made.fit.parameters[1:]))
    content = yaml.safe_load(randomization_yaml(replace(made, fit=fit)))
    assert content["parameters"][first.name]["interval"] == [bounded.lower, first.interval()[1]]


def test_bam_gets_the_friction_of_identified_joints(made: Outcome, model: mujoco.MjModel) -> None:
    documents = bam_documents(made, model)
    assert documents == {
        "shoulder": {
            "model": "m1", "actuator": "shoulder", "kt": 0.5, "R": 2.0, "armature": 0.1,
            "friction_base": 0.05, "friction_viscous": 0.3,
        }
    }  # fmt: skip


def test_bam_gets_extended_friction(made: Outcome) -> None:
    spec = mujoco.MjSpec.from_string(MODEL)
    friction = FrictionParameters(friction_base=0.2, friction_stribeck=0.1, friction_viscous=0.3)
    apply_friction_to_spec(spec, "shoulder", friction)
    document = bam_documents(made, spec.compile())["shoulder"]
    assert document["model"] == "m2"
    keys = ("friction_base", "friction_stribeck", "friction_viscous", "dtheta_stribeck", "alpha")
    assert FrictionParameters(**{key: document[key] for key in keys}) == friction


def test_bam_gets_the_motor_of_a_servo(made: Outcome) -> None:
    spec = mujoco.MjSpec.from_string(MODEL)
    name = next(item.name for item in spec.actuators if item.target == "shoulder")
    apply_servo_to_spec(spec, name, VoltageServo(kt=1.2, R=3.0))
    document = bam_documents(made, spec.compile())["shoulder"]
    assert (document["kt"], document["R"]) == (1.2, 3.0)


def test_joints_that_differ_by_a_slash_have_files_of_their_own(made: Outcome) -> None:
    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody>"
        '<body><joint name="a/b"/><geom size=".1"/></body>'
        '<body><joint name="a_b"/><geom size=".1"/></body></worldbody></mujoco>'
    )
    applied = tuple(
        AppliedParameter(name, (0.0,), AttributeModifier("joint", name, "armature").to_dict())
        for name in ("a/b", "a_b")
    )
    (bam,) = (row for row in FORMATS if row.name == "bam")
    texts = bam.texts(Identified(replace(made, applied=applied), spec))
    actuators = {name: json.loads(text)["actuator"] for name, text in texts.items()}
    assert actuators == {"bam/a_b_2.json": "a/b", "bam/a_b.json": "a_b"}


def test_the_documentation_lists_every_format() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "outputs.md").read_text("utf-8")
    for kind in FORMATS:
        assert re.search(rf"^\| `{re.escape(kind.name)}[^`]*` \| {kind.user} \|", page, re.M)
