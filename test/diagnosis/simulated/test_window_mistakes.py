# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A link whose mass is not the model's is named, where motion shows it and no fit finds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import yaml
from arm_recording import arm_model, simulate, write_experiment
from robot_matrix import own_robots
from robot_to_try import ENCODER, PLAN, hidden
from unseen_kinds import delta

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import Finding, FindingKind, check_experiment, masses_off
from sysid_ros.diagnosis.evidence import Recorded
from sysid_ros.diagnosis.fits import OneMass, fitted_windows
from sysid_ros.diagnosis.simulated import WindowTest
from sysid_ros.engine.least_squares import Solution
from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.experiment import Experiment, load_experiment, parse_experiment, with_overrides
from sysid_ros.pipeline import run_experiment
from sysid_ros.rehearsal import (
    Motion,
    Reading,
    RecordingPlan,
    TrueParameter,
    generate,
    with_true_values,
)

OFF = 1.5  # factor of the true mass
ALONE = ["fit.landscapes=0", "fit.model_error=false"]  # without what adds to reports
FINE = Reading(noise=5e-7, quantum=1e-6)  # m


def with_a_light_link(xml: str, name: str) -> str:
    """The model with everything right but the mass of one link, which is too small."""
    spec = mujoco.MjSpec.from_string(xml)
    body = spec.body(name)
    body.mass, body.inertia = body.mass / OFF, body.inertia / OFF
    text: str = spec.to_xml()
    return text


@pytest.mark.parametrize("servos", [False, True])
def test_the_link_and_how_much_heavier_it_is(tmp_path: Path, servos: bool) -> None:
    truth = arm_model(1, 2, servos=servos)
    model = with_a_light_link(truth, "link1")
    file = write_experiment(tmp_path, model, simulate(truth, 1))
    experiment = load_experiment(file)
    (finding,) = check_experiment(experiment, None)
    assert finding.kind is FindingKind.GRAVITY
    assert finding.body == "link1"
    assert finding.evidence["mass"] == pytest.approx(OFF, rel=0.05)
    assert finding.repair == "- {body: link1, mass: null}"
    free = with_overrides(experiment, ["parameters+=[{body: link1, mass: null}]"])
    assert check_experiment(free, None) == ()


@pytest.mark.parametrize("gains", [False, True])
def test_all_masses_of_twice_the_truth_or_gains_that_are_half(tmp_path: Path, gains: bool) -> None:
    """As of geoms that are drawn and count too; a single mass was told, or zeros and gains."""
    truth = arm_model(1, 3, servos=True)
    spec = mujoco.MjSpec.from_string(truth)
    for body in () if gains else spec.bodies[1:]:
        body.mass, body.inertia = 2.0 * body.mass, 2.0 * body.inertia
    for servo in spec.actuators if gains else ():
        servo.gainprm, servo.biasprm = 0.5 * servo.gainprm, 0.5 * servo.biasprm
    file = write_experiment(tmp_path, spec.to_xml(), simulate(truth, 1))
    (finding,) = check_experiment(load_experiment(file), None)
    assert finding.kind is FindingKind.MASSES
    assert finding.evidence["mass"] == pytest.approx(0.5, rel=0.05)
    assert "is 2" in finding.sentence and not finding.repair


def test_what_a_link_carries_and_where_it_sits(tmp_path: Path) -> None:
    """Another mass alone explains most of it, and freed alone it would end elsewhere."""
    model = arm_model(1, 2, servos=True)
    spec = mujoco.MjSpec.from_string(model)
    body = spec.body("link1")
    before, centre = body.mass, body.ipos.copy()
    body.mass, body.inertia = OFF * before, OFF * body.inertia
    body.ipos = centre + np.array([0.03, 0.0, -0.02])
    file = write_experiment(tmp_path, model, simulate(spec.to_xml(), 1))
    experiment = load_experiment(file)
    (finding,) = check_experiment(experiment, None)
    assert finding.body == "link1"
    assert finding.evidence["mass"] == pytest.approx(OFF, rel=0.01)
    assert finding.evidence["com_x"] == pytest.approx(0.03, abs=2e-3)
    assert finding.evidence["com_z"] == pytest.approx(-0.02, abs=2e-3)
    assert f"carried {(OFF - 1.0) * before:.1g}" in finding.sentence
    free = with_overrides(
        experiment, [f"parameters+=[{finding.repair.removeprefix('- ')}]", *ALONE]
    )
    assert check_experiment(free, None) == ()
    fit = run_experiment(free, output_dir=tmp_path / "results").outcome.fit
    found = {one.name: float(one.value) for one in fit.parameters}
    assert found["link1_mass"] == pytest.approx(OFF * before, rel=0.01)
    assert found["link1_com_x"] == pytest.approx(centre[0] + 0.03, abs=1e-3)
    assert found["link1_com_z"] == pytest.approx(centre[2] - 0.02, abs=1e-3)


def test_more_mass_is_borne_by_no_more_buoyancy(tmp_path: Path) -> None:
    """As of a link under water that is flooded; the other one seemed to have 4 times its mass."""
    spec = mujoco.MjSpec.from_string(arm_model(1, 2, servos=True))
    spec.option.gravity = [0.0, 0.0, -30.0]  # where weights are most of what shows
    body = spec.body("link1")
    spec.body("link0").gravcomp = body.gravcomp = 0.8
    model = spec.to_xml()
    body.mass, body.inertia, body.gravcomp = OFF * body.mass, OFF * body.inertia, 0.8 / OFF
    file = write_experiment(tmp_path, model, simulate(spec.to_xml(), 1))
    (finding,) = check_experiment(load_experiment(file), None)
    assert (finding.kind, finding.body) == (FindingKind.GRAVITY, "link1")
    assert finding.evidence["mass"] == pytest.approx(OFF, rel=0.02)


def test_the_centre_of_a_link_whose_mass_is_free(tmp_path: Path) -> None:
    """Else the mass of another link would be told, which is the model's."""
    model = arm_model(1, 3, servos=True)
    spec = mujoco.MjSpec.from_string(model)
    spec.body("link2").ipos += np.array([0.05, 0.0, -0.04])
    file = write_experiment(tmp_path, model, simulate(spec.to_xml(), 1))
    free = ["parameters+=[{body: link2, mass: null}]"]
    (finding,) = check_experiment(with_overrides(load_experiment(file), free), None)
    assert finding.body == "link2" and "mass" not in finding.evidence
    assert finding.evidence["com_x"] == pytest.approx(0.05, abs=2e-3)
    assert finding.evidence["com_z"] == pytest.approx(-0.04, abs=2e-3)
    assert finding.repair.startswith("- {body: link2, com_x: null")


def test_a_fit_of_which_few_steps_are_made_accuses_no_mass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servos' gains and dampings that begin far off still look like a mass after two steps."""
    monkeypatch.setattr("sysid_ros.diagnosis.fits.fitted_windows._ROUNDS", 2)
    spec = mujoco.MjSpec.from_string(arm_model(1, 2, servos=True))
    for joint in spec.joints:
        joint.damping = [3.5, 0.0, 0.0]
    truth = spec.to_xml()
    for joint in spec.joints:
        joint.damping = [0.01, 0.0, 0.0]
    for actuator in spec.actuators:
        actuator.gainprm[0] /= 0.7
        actuator.biasprm[1] /= 0.7
    experiment = with_overrides(
        load_experiment(write_experiment(tmp_path, spec.to_xml(), simulate(truth, 1))),
        [
            "parameters=[{actuator: '*', kp: {max: 1000000.0}}, {joint: '*', "
            "damping: {max: 100000.0}, armature: {max: 10.0}, frictionloss: {max: 10.0}}]"
        ],
    )
    assert check_experiment(experiment, None) == ()


@pytest.mark.parametrize(
    ("parameters", "geoms"), [([], False), (["{geom: floor, friction: null}"], True)]
)
def test_what_touches_nothing_is_simulated_without_geoms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameters: list[str], geoms: bool
) -> None:
    """A mesh of a hundred thousand corners would be compiled for every derivative."""
    simulated: list[ModelSequences] = []
    monkeypatch.setattr(
        WindowTest, "late_inputs", lambda test: simulated.append(test.sequences) or []
    )
    monkeypatch.setattr(WindowTest, "masses_off", lambda test: [])
    floor = '<worldbody><geom name="floor" type="plane" size="1 1 0.1" pos="0 0 -9"/>'
    model = arm_model(1, 2, servos=True).replace("<worldbody>", floor)
    model = model.replace('contact="disable"', 'contact="enable"')
    experiment = load_experiment(write_experiment(tmp_path, model, simulate(model, 1)))
    experiment = with_overrides(experiment, [f"parameters+=[{one}]" for one in parameters])
    check_experiment(experiment, None)
    assert [bool(one.gt_model.ngeom) for one in simulated] == [geoms]


@pytest.mark.parametrize(
    ("angle", "lag"), [(-0.4, 0.0), (-0.4, 0.02), (np.pi, 0.0)], ids=["leans", "late", "hangs"]
)
def test_a_base_that_leans_is_no_mass_and_gravity_is_found(
    tmp_path: Path, angle: float, lag: float
) -> None:
    """Of a planar arm, along whose axes gravity does nothing, also if it hangs upside down."""
    model = arm_model(1, 2, servos=True)
    spec = mujoco.MjSpec.from_string(model)
    gravity = 9.81 * np.array([-np.sin(angle), 0.0, -np.cos(angle)])
    spec.option.gravity = gravity
    recording = simulate(spec.to_xml(), 1, lag=lag)
    experiment = load_experiment(write_experiment(tmp_path, model, recording))
    (finding,) = check_experiment(experiment, None)
    assert finding.kind is FindingKind.MOUNTING
    found = [finding.evidence[axis] for axis in "xyz"]
    assert found == pytest.approx(gravity, abs=0.1)
    assert "A zero of 'j0' and of its commands that is off by" in finding.sentence
    told = with_overrides(experiment, list(finding.overrides))
    assert {one.kind for one in check_experiment(told, None)} <= {FindingKind.LAG}


# A vertical slide across a level one: no motion shows from where gravity comes but along both.
SLIDES = """<mujoco><option timestep="0.001" integrator="implicitfast"/>
  <default><geom type="box" size=".1 .1 .1" contype="0" conaffinity="0"/></default><worldbody>
  <body name="carriage"><joint name="z" type="slide" axis="1 0 0" damping="900" armature="120"/>
    <geom mass="80"/><body name="turret"><joint name="x" type="slide" axis="0 .7071 .7071"
      damping="600" armature="70"/><geom mass="60"/></body></body></worldbody>
  <actuator><position name="uz" joint="z" kp="900000" kv="20000"/>
    <position name="ux" joint="x" kp="600000" kv="12000"/></actuator></mujoco>"""


def test_more_weight_on_a_slide_that_leans_is_a_mass_and_no_mount(tmp_path: Path) -> None:
    plan = replace(
        PLAN, duration=8.0, motion=Motion(reach=0.1), sensors=(replace(ENCODER, position=FINE),),
        truth=(TrueParameter("body", "turret", "mass", 72.0),),
    )  # fmt: skip
    generate(mujoco.MjSpec.from_string(SLIDES), plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(SLIDES)
    text = """model: robot.xml
sequences: [bag]
signals:
  - {qpos: z, topic: /joint_states, field: "position[z]"}
  - {qpos: x, topic: /joint_states, field: "position[x]"}
  - {actuator: uz, topic: /position_controller/commands, field: "data[0]"}
  - {actuator: ux, topic: /position_controller/commands, field: "data[1]"}
parameters: [{joint: "*", damping: , frictionloss: , armature: }, {signal: "u*", delay: }]
"""
    (finding,) = check_experiment(parse_experiment(text, path=tmp_path / "experiment.yaml"), None)
    assert finding.kind is FindingKind.GRAVITY
    assert finding.body == "turret"
    assert finding.evidence["mass"] == pytest.approx(1.2, rel=0.02)


def test_a_lighter_arm_of_three_is_a_mass_and_no_mount(tmp_path: Path) -> None:
    """Gravity that leans explained as much as may be left, and was told in its place."""
    model, motors = delta(), tuple(f"motor_{k}" for k in range(3))
    lighter = float(model.compile().body("upper_0").mass[0]) / OFF
    plan = replace(
        PLAN, duration=6.0, motion=Motion(reach=0.35), sensors=(replace(ENCODER, joints=motors),),
        truth=(TrueParameter("body", "upper_0", "mass", lighter),),
    )  # fmt: skip
    experiment = with_overrides(experiment_of(model, plan, tmp_path), ["windows.length=1.0"])
    (finding,) = check_experiment(experiment, None)
    assert (finding.kind, finding.body) == (FindingKind.GRAVITY, "upper_0")
    assert finding.evidence["mass"] == pytest.approx(1.0 / OFF, rel=0.02)


def test_gravity_that_the_model_lacks_is_no_mass(tmp_path: Path) -> None:
    truth = arm_model(1, 2, servos=True)
    spec = mujoco.MjSpec.from_string(truth)
    spec.option.gravity = np.zeros(3)
    recording = simulate(truth, 1)
    experiment = load_experiment(write_experiment(tmp_path, spec.to_xml(), recording))
    (finding,) = check_experiment(experiment, None)
    assert finding.sentence.startswith("The model has no gravity: gravity is (")
    assert [finding.evidence[axis] for axis in "xyz"] == pytest.approx([0.0, 0.0, -9.81], abs=0.2)
    told = with_overrides(experiment, list(finding.overrides))
    assert check_experiment(told, None) == ()


@pytest.mark.parametrize("servos", [False, True])
def test_drives_that_bear_the_weight_leave_no_gravity(tmp_path: Path, servos: bool) -> None:
    """As of arms that are commanded torques beside a compensation of gravity of their own."""
    spec = mujoco.MjSpec.from_string(arm_model(1, 2, servos=servos))
    model = spec.to_xml()
    for body in spec.bodies[1:]:
        body.gravcomp = 1.0
    experiment = load_experiment(write_experiment(tmp_path, model, simulate(spec.to_xml(), 1)))
    (finding,) = check_experiment(experiment, None)
    assert finding.kind is FindingKind.MOUNTING
    assert finding.sentence.startswith("The robot feels no gravity: its drives bear its weight")
    assert [finding.evidence[axis] for axis in "xyz"] == [0.0, 0.0, 0.0]
    told = with_overrides(experiment, list(finding.overrides))
    assert check_experiment(told, None) == ()


def test_a_robot_that_no_gravity_pulls_is_right_without(tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_string(arm_model(1, 2, servos=True))
    spec.option.gravity = np.zeros(3)
    text = spec.to_xml()
    experiment = load_experiment(write_experiment(tmp_path, text, simulate(text, 1)))
    assert check_experiment(experiment, None) == ()


LEG = """<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="0 0 .1"/>
  <body name="arm" pos="0 0 .28"><joint name="leg" axis="0 1 0" damping="0.2"/>
  <geom name="tip" type="capsule" fromto="0 0 0 .3 0 -.19" size=".02" mass=".5"/></body></worldbody>
  <actuator><position name="servo" joint="leg" kp="30" kv="1"/></actuator></mujoco>"""


@pytest.mark.parametrize("right", [True, False])
def test_stretches_that_a_fit_leaves_out_hide_no_mass(tmp_path: Path, right: bool) -> None:
    """An arm taps on a floor that `contacts: left_out` takes from the model."""
    plan = RecordingPlan(duration=16.0, motion=Motion(reach=0.5), settle=0.0)
    generate(mujoco.MjSpec.from_string(LEG), plan, tmp_path / "bag")
    text = LEG if right else LEG.replace('mass=".5"', f'mass="{0.5 / OFF}"')
    (tmp_path / "robot.xml").write_text(text)
    experiment = parse_experiment(
        """model: robot.xml
sequences: [bag]
signals:
  - {qpos: leg, topic: /joint_states, field: "position[leg]"}
  - {actuator: servo, topic: /position_controller/commands, field: "data[0]"}
windows: {length: 1.0, contacts: left_out}
parameters: []
""",
        path=tmp_path / "experiment.yaml",
    )
    found = check_experiment(experiment, None)
    assert [(one.kind, one.body) for one in found] == [(FindingKind.GRAVITY, "arm")] * (not right)
    assert [one.evidence["mass"] for one in found] == pytest.approx([OFF] * (not right), rel=0.02)


def test_a_suction_cup_that_holds_nothing_hides_no_mass(tmp_path: Path) -> None:
    """Adhesion is of bodies, not of joints, and acts where bodies touch."""
    cup = '<adhesion name="cup" body="link1" ctrlrange="0 1" gain="1"/></actuator>'
    truth = arm_model(1, 2, servos=True)
    model = with_a_light_link(truth, "link1").replace("</actuator>", cup)
    file = write_experiment(tmp_path, model, simulate(truth, 1))
    (finding,) = check_experiment(load_experiment(file), None)
    assert (finding.kind, finding.body) == (FindingKind.GRAVITY, "link1")


def test_what_a_fit_finds_hides_no_mass_but_its_own(tmp_path: Path) -> None:
    truth = arm_model(1, 2, servos=True)
    model = with_a_light_link(truth, "link1")
    experiment = load_experiment(write_experiment(tmp_path, model, simulate(truth, 1)))

    def bodies_with(parameter: str) -> list[str]:
        free = with_overrides(experiment, [f"parameters+=[{parameter}]"])
        return [one.body for one in check_experiment(free, None)]

    assert bodies_with("{body: '*', mass: null}") == []
    assert bodies_with("{signal: '*', delay: null}") == ["link1"]


def test_a_stop_that_bears_a_joint_is_no_gravity(tmp_path: Path) -> None:
    xml = arm_model(2, 2, servos=True).replace('name="j0"', 'name="j0" range="-10 10"', 1)
    xml = xml.replace("<mujoco>", '<mujoco><compiler autolimits="true"/>')
    file = write_experiment(tmp_path, xml, simulate(xml, 2))
    assert check_experiment(load_experiment(file), None) == ()


def test_a_mass_that_is_little_of_the_gravity_on_a_joint_shows_in_all_it_does(
    tmp_path: Path,
) -> None:
    """Gravity on the first joint is within a tenth of the model's, and its interval includes it."""
    spec = mujoco.MjSpec.from_string(arm_model(1, 2, servos=True))
    first = spec.body("link0")
    first.mass, first.inertia = 0.3 * first.mass, 0.3 * first.inertia
    truth: str = spec.to_xml()
    file = write_experiment(tmp_path, with_a_light_link(truth, "link0"), simulate(truth, 1))
    (finding,) = check_experiment(load_experiment(file), None)
    assert (finding.kind, finding.body) == (FindingKind.GRAVITY, "link0")
    assert finding.evidence["mass_low"] < OFF < finding.evidence["mass_high"]


def test_a_link_behind_joints_that_nothing_measures_is_freed_by_its_own_name() -> None:
    """Tests of torques weld such joints, and what moves as one is a nameless body there."""
    tail = '<body name="tail"><joint name="bend"/><geom size=".1" mass="1"/></body></body>'
    xml = arm_model(1, 1).replace("</body>", tail)
    whole, welded = (
        mujoco.MjModel.from_xml_string(one) for one in (xml, xml.replace('name="tail"', ""))
    )
    seen = Recorded(welded, (), (), {}, {}, {}, {}, frozenset(), {}, {})
    mass = Parameter("mass of tail", 1.0, 0.05, 20.0)
    test = WindowTest(
        seen, whole, None, None, ParameterDict(), {}, {"tail": mass}, (), {}, {}, {}, None, True
    )
    finding = test._finding(OneMass(mass.name, 0.5, 0.1, 1.0, ("p0",), {}), "")
    assert (finding.body, finding.repair) == ("tail", "- {body: tail, mass: null}")


def recorded_robot(name: str, folder: Path) -> tuple[mujoco.MjSpec, Experiment]:
    """A robot with hidden frictions, and an experiment that frees nothing."""
    robot = next(one for one in own_robots() if one.name == name)
    spec = robot.model()
    truth = hidden(spec.copy().compile(), 3)
    plan = replace(robot.plan, truth=truth, duration=min(robot.plan.duration, 8.0))
    return spec, experiment_of(spec, plan, folder)


def experiment_of(spec: mujoco.MjSpec, plan: RecordingPlan, folder: Path) -> Experiment:
    """A recording, and an experiment that frees nothing."""
    made = generate(spec, plan, folder / "bag")
    kinds = {"joint": "qpos", "actuator": "actuator"}
    signals = [{kinds[s.kind]: s.name, "topic": s.topic, "field": s.field} for s in made.signals]
    tree = {"model": "robot.xml", "sequences": ["bag"], "signals": signals, "parameters": []}
    (folder / "robot.xml").write_text(spec.to_xml())
    return parse_experiment(yaml.safe_dump(tree), path=folder / "experiment.yaml")


def gravity_findings(spec: mujoco.MjSpec, experiment: Experiment, link: str) -> list[Finding]:
    """What is found of masses if a link of the model is too light."""
    mass = float(spec.copy().compile().body(link).mass[0]) / OFF
    lighter = (TrueParameter("body", link, "mass", mass),)
    light = with_true_values(spec, lighter, spec.option.timestep)
    assert experiment.path is not None
    (experiment.path.parent / "robot.xml").write_text(light.to_xml())
    found = check_experiment(experiment, None)
    return [one for one in found if one.kind is FindingKind.GRAVITY]


ELBOW = """
<mujoco><compiler angle="radian"/><option timestep=".001" integrator="implicitfast"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="motor" pos="0 .1 0">
      <joint name="motor" axis="0 1 0" damping=".1" frictionloss=".05" armature=".02"/>
      <geom type="sphere" size=".02" mass=".3"/></body>
    <body name="forearm">
      <joint name="elbow" axis="0 1 0" damping=".05" frictionloss=".02"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" mass=".7"/></body>
  </worldbody>
  <tendon><fixed name="strap" stiffness="12">
    <joint joint="motor" coef="1"/><joint joint="elbow" coef="-1"/></fixed></tendon>
  <actuator><position name="servo" joint="motor" kp="200" kv="8"/></actuator>
</mujoco>"""


@pytest.mark.parametrize(
    ("element", "name", "attribute", "value", "named"),
    [("tendon", "strap", "stiffness", 9.0, []), ("body", "forearm", "mass", 1.0, ["forearm"])],
)
def test_a_spring_that_gives_more_is_no_heavier_link(
    tmp_path: Path, element: str, name: str, attribute: str, value: float, named: list[str]
) -> None:
    """What it carries sags and swings as if that weighed more; its motor feels that it does not."""
    spec = mujoco.MjSpec.from_string(ELBOW)
    truth = (*hidden(spec.copy().compile(), 3), TrueParameter(element, name, attribute, value))
    experiment = experiment_of(spec, replace(PLAN, truth=truth, duration=8.0), tmp_path)
    found = check_experiment(experiment, None)
    assert [one.body for one in found if one.kind is FindingKind.GRAVITY] == named


@pytest.mark.parametrize(
    ("name", "link", "hidden_link"),
    [
        ("SCARA", "tool", "upper"),
        ("Excavator with lagging hydraulics", "stick", "cabin"),
        ("Leg with elastic joints", "thigh", "hip_rotor"),
    ],
)
def test_what_hangs_on_servos_with_friction_delay_and_low_passes(
    tmp_path: Path, name: str, link: str, hidden_link: str
) -> None:
    """No gravity acts on a SCARA's joints: its masses show in what its joints do to each other.

    Between a motor and an elastic leg are springs, whose forces nothing measures.
    """
    spec, experiment = recorded_robot(name, tmp_path)
    notes: list[str] = []
    right = check_experiment(experiment, None, on_note=notes.append)
    assert FindingKind.GRAVITY not in {one.kind for one in right}
    assert any(repr(hidden_link) in one for one in notes)
    assert not any(repr(link) in one for one in notes)
    (finding,) = gravity_findings(spec, experiment, link)
    assert finding.body == link
    assert finding.evidence["mass"] == pytest.approx(OFF, rel=0.05)


@pytest.mark.parametrize(
    ("name", "link", "rival"),
    [("Finger on a cable", "phalanx", ""), ("Gantry on ball screws at 1 kHz", "ram", "'z_screw'")],
)
def test_a_mass_on_a_cable_and_a_weight_that_a_zero_of_a_command_looks_like(
    tmp_path: Path, name: str, link: str, rival: str
) -> None:
    spec, experiment = recorded_robot(name, tmp_path)
    right = check_experiment(experiment, None)
    assert FindingKind.GRAVITY not in {one.kind for one in right}
    (finding,) = gravity_findings(spec, experiment, link)
    assert finding.body == link
    assert finding.evidence["mass"] == pytest.approx(OFF, rel=0.05)
    assert ("whose zero is off" in finding.sentence) == bool(rival)
    assert rival in finding.sentence


# An arm whose upper link comes down on a table.
TAPPING = """<mujoco><option timestep="0.002"/><worldbody>
  <geom name="table" type="plane" size="0 0 .1"/><body name="arm" pos="0 0 .28">
  <joint name="lift" axis="0 1 0" damping=".2" armature=".01" frictionloss=".1"/>
  <geom type="capsule" fromto="0 0 0 .3 0 -.19" size=".02" mass=".5"/><body name="fore"
  pos="0 0 .05"><joint name="turn" axis="0 0 1" damping=".1" armature=".01" frictionloss=".05"/>
  <geom type="capsule" fromto="0 0 0 .2 0 .1" size=".02" mass=".3"/></body></body></worldbody>
  <actuator><position name="u0" joint="lift" kp="30" kv="1"/>
  <position name="u1" joint="turn" kp="20" kv="1"/></actuator></mujoco>"""


@pytest.mark.parametrize("factor", [1.0, OFF])
def test_masses_of_a_robot_that_touches_something(tmp_path: Path, factor: float) -> None:
    """What the table bears is simulated like all else."""
    plan = replace(
        PLAN,
        motion=Motion(reach=0.5),
        duration=10.0,
        truth=(TrueParameter("body", "fore", "mass", 0.3 * factor),),
    )
    generate(mujoco.MjSpec.from_string(TAPPING), plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(TAPPING)
    text = """model: robot.xml
sequences: [bag]
signals:
  - {qpos: lift, topic: /joint_states, field: "position[lift]"}
  - {qpos: turn, topic: /joint_states, field: "position[turn]"}
  - {actuator: u0, topic: /position_controller/commands, field: "data[0]"}
  - {actuator: u1, topic: /position_controller/commands, field: "data[1]"}
windows: {length: 0.3}
parameters: [{joint: "*", damping: , frictionloss: , armature: }, {signal: "u*", delay: }]
"""
    notes: list[str] = []
    experiment = parse_experiment(text, path=tmp_path / "experiment.yaml")
    found = check_experiment(experiment, None, on_note=notes.append)
    assert not [one for one in notes if "masses" in one]
    assert [(one.kind, one.body) for one in found] == (
        [(FindingKind.GRAVITY, "fore")] if factor > 1.0 else []
    )
    for one in found:
        assert one.evidence["mass"] == pytest.approx(OFF, rel=0.03)


def guessed_servos(folder: Path, **gains: float) -> Experiment:
    """A light link under servos with guessed gains, which are free from a start if there is one."""
    spec = mujoco.MjSpec.from_string(arm_model(2, 3, servos=True))
    recording = simulate(spec.to_xml(), 1, noise=5e-5)
    body = spec.body("link1")
    body.mass, body.inertia = body.mass / OFF, body.inertia / OFF
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for joint in spec.joints:
        joint.damping, joint.armature, joint.frictionloss = np.zeros(3), 0.0, 0.0
    file = write_experiment(folder, spec.to_xml(), recording)
    signals = file.read_text().split("parameters:")[0].replace("actuator: m", "servo: j")
    guesses = {"damping": (30.0, 3000.0), "armature": (0.1, 10.0), "frictionloss": (1.0, 100.0)}
    of_joints = {name: {"initial": one, "max": most} for name, (one, most) in guesses.items()}
    free = [{"actuator": "*", "kp": {**gains, "min": 1.0, "max": 1e5}}] if gains else []
    parameters = yaml.safe_dump({"parameters": [*free, {"joint": "*", **of_joints}]})
    file.write_text(signals + parameters)
    return load_experiment(file)


def test_a_link_beside_servos_whose_gains_begin_as_guesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few steps from these leave so much that a mass is hardly any of it.

    Where another fit went, there is hardly anywhere to go.
    """
    experiment, steps = guessed_servos(tmp_path, initial=300.0), [0]
    begun: dict[str, float] = {}
    minimize = fitted_windows.minimize

    def counted(problem: WindowedProblem, *rest: Any) -> Solution:
        found = minimize(problem, *rest)
        steps[-1] += found.iterations
        if not begun:
            begun.update(zip(problem.params.scalar_names(), found.point.theta, strict=True))
        return found

    monkeypatch.setattr(fitted_windows, "minimize", counted)
    dataset = load_dataset(experiment, None)
    for one in ({}, begun):
        (finding,) = masses_off(experiment, dataset, one)
        assert finding.body == "link1"
        assert finding.evidence["mass"] == pytest.approx(OFF, rel=0.01)
        assert "gains" not in finding.sentence  # these are free
        steps.append(0)
    assert 2 * steps[1] < steps[0]


def test_no_fit_goes_to_its_end_for_masses_beside_gains_that_are_not_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None can be told, though what a few steps from a guess leave looks like one."""
    like_one = OneMass("mass of link1", 0.5, 0.1, 1.0, ("p0",), {})
    monkeypatch.setattr(WindowTest, "_mass_off", lambda *_: (like_one, []))
    monkeypatch.setattr(fitted_windows, "_ROUNDS", 2)
    monkeypatch.setattr(fitted_windows, "minimize", None)
    experiment = guessed_servos(tmp_path)
    assert FindingKind.GRAVITY not in {one.kind for one in check_experiment(experiment, None)}


def test_commands_of_a_drone_that_act_late(tmp_path: Path) -> None:
    """Most of what is left is noise, and a few steps of a fit end half-way to the delay."""
    name = "Micro drone of a thrust and three moments"
    robot = next(one for one in own_robots() if one.name == name)
    (controller,) = robot.plan.controllers
    late = replace(robot.plan, duration=6.0, controllers=(replace(controller, delay=0.05),))
    generate(robot.model(), late, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(robot.model().to_xml())
    text = """model: robot.xml
sequences: [bag]
signals:
  - {actuator: body_thrust, topic: /cf2/wrench, field: "data[0]"}
  - {actuator: x_moment, topic: /cf2/wrench, field: "data[1]"}
  - {actuator: y_moment, topic: /cf2/wrench, field: "data[2]"}
  - {actuator: z_moment, topic: /cf2/wrench, field: "data[3]"}
  - {qpos: cf2, topic: /cf2/odom, field: pose.pose}
  - {sensor: body_gyro, topic: /cf2/imu, field: angular_velocity}
parameters: []
"""
    found = check_experiment(parse_experiment(text, path=tmp_path / "experiment.yaml"), None)
    (lag,) = [one for one in found if one.kind is FindingKind.LAG]
    assert lag.evidence["size"] == pytest.approx(0.05, abs=0.005)
    assert lag.evidence["size_low"] < 0.05 < lag.evidence["size_high"]
