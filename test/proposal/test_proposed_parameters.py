# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Proposed parameters suit the robot, and their bounds exclude nothing that it may have."""

from __future__ import annotations

import math
from dataclasses import replace

import mujoco
import pytest

from sysid_ros.engine.elements.joint_scales import joint_scales
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.mapped_inputs import Inputs
from sysid_ros.proposal.proposed_parameters import candidates, inputs_of_forces
from sysid_ros.recording.mapping import SignalKind
from sysid_ros.robots import with_servos

BODY = '<body name="b{0}" pos="0 0 .1"><joint name="j{0}" axis="0 {1} {2}" {3}/>'
LINK = '<geom type="capsule" fromto="0 0 0 0 0 .1" size=".03" mass="{}"/>'


def arm(joints: int, *, mass: float = 1.0, actuator: str = "motor", joint: str = "") -> str:
    bodies = "".join(
        BODY.format(k, k % 2, 1 - k % 2, joint) + LINK.format(mass * 0.6**k) for k in range(joints)
    )
    actuators = "".join(f'<{actuator} name="m{k}" joint="j{k}"/>' for k in range(joints))
    return (
        f"<mujoco><worldbody>{bodies}{'</body>' * joints}</worldbody>"
        f"<actuator>{actuators}</actuator></mujoco>"
    )


def inputs(joints: int, *, topic: str = "/commands", alone: bool = True) -> Inputs:
    names = [f"m{k}" for k in range(joints)]
    return Inputs(
        dict.fromkeys(names, True), dict.fromkeys(names, topic), frozenset([topic] if alone else [])
    )


def offered(xml: str, given: Inputs) -> list[Candidate]:
    spec = mujoco.MjSpec.from_string(xml)
    joints = [joint.name for joint in spec.joints]
    sensors = {name: f"{name}_pos" for name in given.held}
    return candidates(spec, joints, given, sensors)


def test_friction_and_armature_of_every_driven_joint_and_one_delay() -> None:
    found = offered(arm(6, actuator='position kp="100"'), inputs(6))
    for attribute in ("frictionloss", "damping", "armature"):
        assert [one.name for one in found if one.attribute == attribute] == [
            f"j{k}" for k in range(6)
        ]
    delays = [one for one in found if one.attribute == "delay"]
    assert [(one.name, one.shared) for one in delays] == [("/commands", True)]
    # What somebody chose and what is not in the model is offered, but only on demand.
    gains = [one for one in found if one.attribute == "kp"]
    assert [(one.name, one.shared, one.on_demand) for one in gains] == [("*", True, True)]
    assert all(one.on_demand for one in found if one.attribute in ("bias", "mass"))
    assert {one.attribute for one in found}.isdisjoint({"force_limit", "kv"})


@pytest.mark.parametrize(
    ("interval", "low", "high"),
    [(0.005, -0.0025, 0.1), (0.1, -0.01, 0.2), (5.0, -0.01, 0.3), (0.0, 0.0, 0.1)],
)
def test_held_commands_may_act_half_an_interval_early_and_two_late(
    interval: float, low: float, high: float
) -> None:
    """As of samples of what acts; a bound of zero was where searches ended."""
    given = replace(inputs(2), intervals={"/commands": interval})
    (delay,) = (one for one in offered(arm(2), given) if one.attribute == "delay")
    assert repr(delay.low) == repr(low)  # no "-0.0" is written
    assert delay.high == pytest.approx(high)


@pytest.mark.parametrize(("actuator", "low"), [("motor", -0.006), ("position", -0.001)])
def test_torques_that_their_receipt_dates_act_before_it(actuator: str, low: float) -> None:
    """Damping took up a delay that the bound cut off; a servo lags by more than messages take."""
    xml = arm(2, actuator=actuator)
    given = replace(inputs(2), intervals={"/commands": 0.002}, received=frozenset(["/commands"]))
    (delay,) = (one for one in offered(xml, given) if one.attribute == "delay")
    assert delay.low == pytest.approx(low)


@pytest.mark.parametrize(("actuator", "forces"), [("motor", ["m0", "m1"]), ("position", [])])
def test_forces_are_what_no_servo_is_to_reach(actuator: str, forces: list[str]) -> None:
    model = mujoco.MjModel.from_xml_string(arm(2, actuator=actuator))
    assert inputs_of_forces(model, inputs(2)) == forces


def test_measured_torque_may_be_early_or_late() -> None:
    given = replace(inputs(2, topic="/states", alone=False), held={"m0": False, "m1": False})
    (delay,) = (one for one in offered(arm(2), given) if one.attribute == "delay")
    assert (delay.name, delay.shared, delay.initial) == ("*[01]", True, 0.0)
    assert delay.low == -delay.high < 0.0
    assert delay.on_demand  # an offset of torque was not found beside one that nothing asked for


def test_a_search_starts_where_a_joint_of_usual_friction_slides() -> None:
    """A servo of much force on a light link: friction that holds it would hide the armature."""
    servo = 'position kp="7" forcerange="-2 2"'
    armature = next(
        one for one in offered(arm(1, mass=0.1, actuator=servo), inputs(1))
        if one.attribute == "armature"
    )  # fmt: skip
    usual = 0.03 * 2.0  # N m of dry friction, in the gear
    assert armature.initial == pytest.approx(usual / 100.0, rel=1e-2)
    assert armature.typical < armature.initial < armature.high


def test_one_joint_stands_for_all_that_move_with_it() -> None:
    ties = "".join(f'<joint joint1="j{a}" joint2="j{b}"/>' for a, b in ((0, 1), (3, 2)))
    xml = arm(4).replace('<motor name="m0" joint="j0"/>', "")
    tied = xml.replace("<actuator>", f"<equality>{ties}</equality><actuator>")
    found = {one.name: one.doubt for one in offered(tied, inputs(1)) if one.attribute == "damping"}
    assert set(found) == {"j1", "j2"}  # the one that is driven, else the first
    assert "j1 moves with j0, so that only what they have together shows" in found["j1"]


def test_what_nothing_drives_has_no_rotor_and_friction_only_where_recordings_say_so() -> None:
    xml = arm(2).replace('<motor name="m1" joint="j1"/>', "")
    found = {(one.name, one.attribute): one for one in offered(xml, inputs(1))}
    assert not any(found["j0", a].on_demand for a in ("frictionloss", "damping", "armature"))
    assert not found["j1", "damping"].on_demand
    assert found["j1", "armature"].on_demand
    assert found["j1", "frictionloss"].on_demand
    assert found["j1", "frictionloss"].initial is None
    own = {
        (one.name, one.attribute): one
        for one in offered(xml.replace('name="j1"', 'name="j1" frictionloss=".1"'), inputs(1))
    }
    assert not own["j1", "frictionloss"].on_demand


def test_a_ball_joint_has_friction_and_armature_about_all_its_axes() -> None:
    gears = ("1 0 0", "0 1 0", "0 0 1")
    motors = "".join(
        f'<motor name="m{k}" joint="j" gear="{g} 0 0 0"/>' for k, g in enumerate(gears)
    )
    ball = '<body><joint name="j" type="ball"/><geom type="box" size=".1 .2 .3" mass="2"/></body>'
    found = offered(
        f"<mujoco><worldbody>{ball}</worldbody><actuator>{motors}</actuator></mujoco>", inputs(3)
    )
    own = {one.attribute: one for one in found if one.element == "joint"}
    assert [*own] == ["frictionloss", "damping", "armature"]
    largest = 2.0 / 3.0 * (0.2**2 + 0.3**2)  # of the box, kg m^2
    assert own["armature"].typical == pytest.approx(0.3 * largest)


def test_springs_that_the_model_has_are_found_where_recordings_contradict_them() -> None:
    xml = arm(2, actuator='position kp="100"').replace('name="j1"', 'name="j1" stiffness="12"')
    (spring,) = [one for one in offered(xml, inputs(2)) if one.attribute == "stiffness"]
    assert (spring.element, spring.name, spring.on_demand) == ("joint", "j1", True)
    assert spring.low < 12.0 < spring.high
    assert spring.revealing


def test_a_spring_may_rest_elsewhere_which_looks_like_the_zero_of_an_encoder() -> None:
    xml = arm(2, actuator='position kp="100"').replace(
        'name="j1"', 'name="j1" stiffness="12" springref="20"'
    )
    found = offered(xml, inputs(2))
    (rest,) = [one for one in found if one.attribute == "springref"]
    assert (rest.element, rest.name, rest.on_demand) == ("joint", "j1", True)
    assert rest.low < math.radians(20.0) < rest.high
    assert rest.revealing
    displaced = [(one.name, one.attribute) for one in found if one.displaces == "j1"]
    assert displaced == [("j1", "springref"), ("m1_pos", "bias")]


@pytest.mark.parametrize("actuator", ["motor", 'position kp="100"'])
def test_weights_that_the_model_compensates_are_compensated_by_masses_of_the_controller(
    actuator: str,
) -> None:
    xml = arm(3, actuator=actuator).replace('name="b1"', 'name="b1" gravcomp="0.9"')
    (share,) = [one for one in offered(xml, inputs(3)) if one.attribute == "gravcomp"]
    assert (share.element, share.name, share.on_demand) == ("body", "b1", True)
    assert share.low < 0.9 < share.high
    assert share.revealing


def test_a_servo_of_velocities_has_a_gain_and_no_scale_of_torque() -> None:
    found = offered(arm(2, actuator='velocity kv="5"'), inputs(2))
    gains = [one for one in found if one.name in ("m0", "m1")]
    assert [(one.element, one.name, one.attribute, one.on_demand) for one in gains] == [
        ("actuator", "m0", "kv", True),
        ("actuator", "m1", "kv", True),
    ]
    assert not any("torque" in one.doubt for one in found)
    assert [one.name for one in found if one.attribute == "mass"] == ["b1", "b0"]


def test_the_torque_of_a_motor_may_have_an_offset_that_no_spring_stands_for() -> None:
    def offsets(xml: str) -> list[tuple[str, bool]]:
        found = offered(xml, inputs(2))
        return [(one.name, one.on_demand) for one in found if one.attribute == "torque_offset"]

    assert offsets(arm(2)) == [("j0", True), ("j1", True)]
    assert offsets(arm(2, joint='stiffness="2"')) == []
    assert offsets(arm(2, actuator='position kp="100"')) == []


def test_nobody_knows_the_gain_of_a_servo_that_the_model_lacks() -> None:
    spec = with_servos(mujoco.MjSpec.from_string(arm(2).partition("<actuator>")[0] + "</mujoco>"))
    given = Inputs({"j0_servo": True}, {"j0_servo": "/c"}, frozenset(["/c"]), {"j0_servo": "j0"})
    found = candidates(spec, ["j0", "j1"], given, {})
    gain = next(one for one in found if one.attribute == "kp")
    assert gain.guessed
    stiffness = float(spec.actuators[0].gainprm[0])
    most = {one.attribute: one.high for one in found if one.name == "j0"}
    assert most["damping"] >= stiffness  # a servo that takes a second to get where it is told
    assert gain.low == pytest.approx(1e-3 * stiffness, rel=0.02)  # of a wrist's drawn force
    assert gain.high == pytest.approx(100.0 * stiffness, rel=0.02)
    own = {one.attribute: one.guessed for one in found if one.name == "j0"}
    assert own == {"frictionloss": True, "damping": True, "armature": True}
    assert {one.attribute for one in found}.isdisjoint({"bias", "mass"})
    name = "j0_velocity_servo"
    spec = with_servos(spec, ["j0"], SignalKind.VELOCITY_SERVO)
    found = candidates(spec, ["j0", "j1"], replace(given, guessed={name: "j0"}), {})
    assert [one.attribute for one in found if one.name == name] == ["kv"]
    assert {one.attribute for one in found}.isdisjoint({"bias", "mass"})


def test_the_damping_that_a_drawing_gives_a_joint_is_not_that_of_its_servo() -> None:
    drawn = 'damping="1" frictionloss=".1" armature=".01"'
    xml = arm(2, joint=drawn).partition("<actuator>")[0] + "</mujoco>"
    spec = with_servos(mujoco.MjSpec.from_string(xml), ["j0"])
    given = Inputs({"j0_servo": True}, {"j0_servo": "/c"}, frozenset(["/c"]), {"j0_servo": "j0"})
    found = candidates(spec, ["j0", "j1"], given, {})
    assert [(one.name, one.attribute) for one in found if one.guessed] == [
        ("j0_servo", "kp"), ("j0", "damping")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sensors", "delays"),
    [
        ({"j0": "j0_qpos", "j1": "j1_qpos"}, [("m*", True)]),
        ({"j0": "m0_qpos", "j1": "m1_qpos"}, [("*[01]", True)]),
        ({"j0": "m_0", "j1": "m_1"}, [("m0", False), ("m1", False)]),
    ],
)
def test_a_topic_with_other_signals_has_one_delay_where_a_pattern_names_its_inputs(
    sensors: dict[str, str], delays: list[tuple[str, bool]]
) -> None:
    """As a controller's state, which tells positions beside commands."""
    spec, given = mujoco.MjSpec.from_string(arm(2)), inputs(2, alone=False)
    found = candidates(spec, ["j0", "j1"], given, sensors)
    assert [(one.name, one.shared) for one in found if one.attribute == "delay"] == delays


@pytest.mark.parametrize(
    ("xml", "armature", "friction"),
    [
        # An industrial arm without limits in its model: 20 kg, and what the TX40's axes have.
        (arm(6, mass=12.0), (0.36, 0.35, 0.1, 0.03, 0.05, 0.01), (8.3, 7.2, 6.0, 2.5, 3.0, 2.0)),
        # A servo arm with limits of force, as a UR5e: harmonic drives on small wrists.
        (arm(3, joint='actuatorfrcrange="-150 150"'), (1.16, 0.9, 0.23), (20.0, 20.0, 8.0)),
        # A small hobby arm: tiny, and with gears of 1:300.
        (arm(5, mass=0.1), (0.03,) * 5, (0.3,) * 5),
    ],
)
def test_bounds_exclude_nothing_that_such_joints_have(
    xml: str, armature: tuple[float, ...], friction: tuple[float, ...]
) -> None:
    found = offered(xml, inputs(len(armature)))
    highs = {(one.attribute, one.name): one.high for one in found if one.element == "joint"}
    for k, (inertia, force) in enumerate(zip(armature, friction, strict=True)):
        assert highs["armature", f"j{k}"] > inertia
        assert highs["frictionloss", f"j{k}"] > force


@pytest.mark.parametrize("size", [0.001, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("kind", ["hinge", "slide"])
def test_what_turns_about_its_own_centre_starts_within_its_bounds(size: float, kind: str) -> None:
    ball = f'<geom size="{size}" contype="0" conaffinity="0"/>'
    found = offered(
        f'<mujoco><worldbody><body><joint name="j0" type="{kind}"/>{ball}</body></worldbody>'
        '<actuator><motor name="m0" joint="j0"/></actuator></mujoco>',
        inputs(1),
    )
    usual = [one for one in found if not one.on_demand]
    starts = {one.attribute: one for one in usual if one.element == "joint"}
    assert starts.keys() == {"frictionloss", "damping", "armature"}
    for one in starts.values():
        assert one.initial is not None
        assert one.low < one.initial <= one.typical < one.high


def test_what_a_joint_carries() -> None:
    scales = joint_scales(mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="j" axis="0 1 0" armature="3"/>'
        '<geom type="sphere" size=".01" pos="0.5 0 0" mass="2"/></body></worldbody>'
        '<actuator><motor joint="j" gear="10" ctrllimited="true" ctrlrange="-4 4"/></actuator>'
        "</mujoco>"
    ))  # fmt: skip
    assert scales["j"].inertia == pytest.approx(2 * 0.5**2, rel=1e-3)  # not the armature's
    assert scales["j"].load == pytest.approx(2 * 9.81 * 0.5, rel=1e-3)
    assert scales["j"].strength == pytest.approx(40.0)


def test_masses_have_priors_where_torques_are_known() -> None:
    found = offered(arm(3, mass=2.0), inputs(3))
    masses = [one for one in found if one.attribute == "mass"]
    assert [one.name for one in masses] == ["b2", "b1", "b0"]  # the tip first
    assert masses[2].settings() == {
        "min": pytest.approx(0.1), "max": pytest.approx(20.0), "prior": {"std": pytest.approx(0.6)}
    }  # fmt: skip
    assert not masses[2].on_demand


def test_of_bodies_that_are_fixed_to_each_other_the_heaviest_has_a_mass_to_find() -> None:
    """A hull of 1.5 kg with rotors of 5 g, one of which had a narrow interval far from its mass."""
    rotors = "".join(
        f'<body name="rotor_{k}" pos="{x} 0 0"><geom size=".01" mass=".005"/></body>'
        for k, x in enumerate((0.2, -0.2))
    )
    xml = (
        '<mujoco><worldbody><body name="hull"><freejoint/><geom size=".1" mass="1.5"/>'
        f'{rotors}<site name="s"/></body></worldbody>'
        '<actuator><general name="thrust" site="s" gear="0 0 1 0 0 0"/></actuator></mujoco>'
    )
    given = Inputs({"thrust": True}, {"thrust": "/c"}, frozenset(["/c"]))
    found = candidates(mujoco.MjSpec.from_string(xml), [], given, {}, free=True)
    assert [one.name for one in found if one.attribute == "mass"] == ["hull"]


def test_thrusts_by_squares_of_speeds_have_one_factor_before_the_mass() -> None:
    """Both say the same, so that what comes first is free: the model's mass is the better known."""
    names = ("thrust_1", "thrust_2")
    xml = (
        '<mujoco><worldbody><body name="hull"><freejoint/><geom size=".1" mass="1.5"/>'
        '<site name="s"/></body></worldbody><actuator>'
        + "".join(f'<motor name="{name}" site="s" gear="0 0 1 0 0 0"/>' for name in names)
        + "</actuator></mujoco>"
    )
    topics, alone = dict.fromkeys(names, "/speeds"), frozenset(["/speeds"])

    def offered(scaled: frozenset[str]) -> list[tuple[str, str, bool]]:
        given = Inputs(dict.fromkeys(names, True), topics, alone, scaled=scaled)
        found = candidates(mujoco.MjSpec.from_string(xml), [], given, {}, free=True)
        return [
            (one.name, one.attribute, one.on_demand)
            for one in found
            if one.attribute in ("gain", "mass")
        ]

    assert offered(frozenset(names)) == [("/speeds", "gain", False), ("hull", "mass", False)]
    assert offered(frozenset()) == [("hull", "mass", False), ("thrust_2", "gain", True)]


@pytest.mark.parametrize("posed", [True, False])
def test_what_floats_has_masses_to_find_where_its_pose_was_recorded(posed: bool) -> None:
    """A base of which an IMU and four encoders told had wheels of twice their mass."""
    xml = (
        '<mujoco><worldbody><body name="base"><freejoint/><geom size=".1" mass="20"/>'
        '<body name="wheel"><joint name="w" axis="0 1 0"/><geom size=".1" mass="1"/></body></body>'
        '</worldbody><actuator><velocity name="drive" joint="w" kv="3"/></actuator></mujoco>'
    )
    given = Inputs({"drive": True}, {"drive": "/c"}, frozenset(["/c"]))
    found = candidates(mujoco.MjSpec.from_string(xml), ["w"], given, {}, free=posed)
    masses = [one.name for one in found if one.attribute == "mass"]
    assert masses == (["wheel", "base"] if posed else [])
    assert {"frictionloss", "damping", "armature"} <= {one.attribute for one in found}


@pytest.mark.parametrize("posed", [True, False])
def test_what_a_legged_robot_under_servos_carries_is_on_demand(posed: bool) -> None:
    """Dampings and armatures of wheeled legs made up for a torso of 1.2 times its mass."""
    xml = (
        '<mujoco><worldbody><body name="torso"><freejoint/><geom size=".1" mass="6"/>'
        '<body name="leg"><joint name="hip" axis="0 1 0"/><geom size=".1" mass="1"/></body></body>'
        '</worldbody><actuator><position name="servo" joint="hip" kp="90"/></actuator></mujoco>'
    )
    given = Inputs({"servo": True}, {"servo": "/c"}, frozenset(["/c"]))
    found = candidates(mujoco.MjSpec.from_string(xml), ["hip"], given, {}, free=posed)
    masses = [one for one in found if one.attribute == "mass"]
    assert [(one.name, one.on_demand) for one in masses] == ([("torso", True)] if posed else [])
    assert all(one.low < 6.0 * 1.2 < one.high for one in masses)


def test_a_belt_that_a_motor_pulls_has_the_rotor_that_its_joint_lacks() -> None:
    """A motor on the base turns the sum of two joints; the first has one of its own besides."""
    xml = """<mujoco><worldbody><body><joint name="shoulder"/><geom size="0.1"/>
      <body pos="0 0 0.3"><joint name="elbow" frictionloss="1"/><geom size="0.1"/></body></body>
    </worldbody><tendon>
      <fixed name="belt" armature="0.2" frictionloss="1.5">
        <joint joint="shoulder" coef="1"/><joint joint="elbow" coef="1"/></fixed>
      <fixed name="cord" frictionloss="2"><joint joint="elbow" coef="1"/></fixed></tendon>
    <actuator><motor name="one" joint="shoulder"/><motor name="two" tendon="belt"/></actuator>
    </mujoco>"""
    model = mujoco.MjSpec.from_string(xml)
    told = Inputs({"one": True, "two": True}, {"one": "/a", "two": "/a"}, frozenset({"/a"}))
    found = candidates(model, ["shoulder", "elbow"], told, {})
    offered_by = {(one.element, one.name, one.attribute): one for one in found}
    belt = offered_by["tendon", "belt", "armature"]
    assert (belt.low, belt.initial) == (0.0, None)
    assert belt.high >= 1.0
    assert ("tendon", "belt", "frictionloss") in offered_by
    assert ("tendon", "belt", "damping") not in offered_by, "the model has none"
    assert ("tendon", "cord", "frictionloss") not in offered_by, "no actuator pulls it"
    assert ("joint", "elbow", "armature") not in offered_by
    assert ("joint", "elbow", "frictionloss") in offered_by
    assert ("joint", "shoulder", "armature") in offered_by
    assert [
        one.name for one in candidates(model, ["elbow"], told, {}) if one.element == "tendon"
    ] == []


def test_springs_that_are_tendons_are_offered_on_demand() -> None:
    spring = '<tendon><fixed name="spring" stiffness="90"><joint joint="j0" coef="1"/></fixed>' \
        '<fixed name="rod"><joint joint="j1" coef="1"/></fixed></tendon>'  # fmt: skip
    text = arm(3, actuator='position kp="100"').replace("<actuator>", f"{spring}<actuator>")
    (found,) = [one for one in offered(text, inputs(3)) if one.attribute == "stiffness"]
    assert (found.element, found.name, found.on_demand) == ("tendon", "spring", True)


def test_of_fixed_bodies_those_are_offered_that_weigh_otherwise() -> None:
    """A gondola of a blimp weighs, and its envelope does not, which moves with it."""
    gondola = '<body name="gondola"><geom size=".01" mass=".1"/></body>'
    text = arm(1).replace('pos="0 0 .1">', f'pos="0 0 .1">{gondola}', 1)
    for compensated, names in (('gravcomp="1"', {"b0", "gondola"}), ("", {"b0"})):
        found = offered(text.replace('name="b0"', f'name="b0" {compensated}'), inputs(1))
        assert {one.name for one in found if one.attribute == "mass"} == names


def test_what_an_imu_or_a_wrist_reads_at_rest_is_not_taken_for_nothing() -> None:
    kinds = {"rate": "gyro", "pull": "accelerometer", "grip": "force", "twist": "torque"}
    given = replace(inputs(2), unzeroed=kinds)
    found = [one for one in offered(arm(2), given) if one.attribute.startswith("bias_")]
    assert [(one.name, one.attribute) for one in found] == [
        (name, f"bias_{axis}") for name in kinds for axis in "xyz"
    ]
    assert not any(one.on_demand for one in found)
    assert all(one.std == one.typical for one in found)
