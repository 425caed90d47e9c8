# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every row of the table of attributes changes its own attribute of the simulation, and only it."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.attributes import AXIS_BIASES, INERTIAS
from sysid_ros.engine.attributes.attribute_table import lookup, table
from sysid_ros.engine.elements.named_elements import matching, names
from sysid_ros.engine.friction.models import PARAMETERS
from sysid_ros.engine.friction.servo import SERVO_PARAMETERS
from sysid_ros.errors import ModelError, SysidError
from sysid_ros.sysid import AttributeModifier, Parameter

XML = """
<mujoco>
  <compiler angle="degree"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="arm" pos="0 0 1">
      <joint name="hinge" armature="0.01" damping="0.1 0.02 0.003" stiffness="2" springref="30"
             frictionloss="0.3"/>
      <geom name="rod" type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
      <geom name="knob" size=".05" mass="0.2"/>
      <site name="a"/>
      <body name="slider" pos="0 0 .3">
        <inertial pos="0.1 0 0" mass="2" fullinertia="0.3 0.4 0.5 0.01 0.02 0.03"/>
        <joint name="rail" type="slide" damping="0.4" springref="0.2" stiffness="1"/>
        <geom name="tip" size=".03"/>
        <site name="b"/>
      </body>
    </body>
  </worldbody>
  <contact><pair name="touch" geom1="tip" geom2="floor"/></contact>
  <tendon>
    <spatial name="cable" damping="0.5" stiffness="7" frictionloss="0.1" armature="0.02">
      <site site="a"/><site site="b"/>
    </spatial>
  </tendon>
  <actuator>
    <motor name="motor" joint="hinge" gear="3"/>
    <position name="servo" joint="hinge" kp="10" kv="1" timeconst="0.05" forcerange="-4 4"/>
    <position name="ratio" joint="hinge" kp="10" dampratio="1"/>
    <velocity name="speed" joint="rail" kv="2"/>
    <general name="scaled" joint="rail" gaintype="fixed" gainprm="20" biastype="affine"
             biasprm="1 -10 -2"/>
    <dcmotor name="dc" joint="hinge" motorconst="0.05" resistance="2" inductance="0.1 0"
             lugre="1 2 3 4 5"/>
  </actuator>
  <sensor><jointpos name="angle" joint="hinge"/></sensor>
</mujoco>
"""

# (element, attribute, name, value, field of the compiled model that must show it)
ROWS = [
    ("joint", "armature", "hinge", 0.07, lambda m: m.dof_armature[0]),
    ("joint", "frictionloss", "hinge", 0.07, lambda m: m.dof_frictionloss[0]),
    ("joint", "damping", "hinge", 0.07, lambda m: m.dof_damping[0]),
    ("joint", "damping_poly", "hinge", (0.07, 0.08), lambda m: m.dof_dampingpoly[0]),
    ("joint", "stiffness", "hinge", 3.0, lambda m: m.jnt_stiffness[0]),
    ("joint", "stiffness_poly", "hinge", (0.07, 0.08), lambda m: m.jnt_stiffnesspoly[0]),
    ("joint", "springref", "hinge", 0.25, lambda m: m.qpos_spring[0]),
    ("joint", "springref", "rail", 0.25, lambda m: m.qpos_spring[1]),
    ("tendon", "armature", "cable", 0.07, lambda m: m.tendon_armature[0]),
    ("tendon", "frictionloss", "cable", 0.07, lambda m: m.tendon_frictionloss[0]),
    ("tendon", "damping", "cable", 0.07, lambda m: m.tendon_damping[0]),
    ("tendon", "stiffness", "cable", 0.07, lambda m: m.tendon_stiffness[0]),
    ("body", "mass", "arm", 1.7, lambda m: m.body("arm").mass[0]),
    ("body", "mass", "slider", 1.7, lambda m: m.body("slider").mass[0]),
    (
        "body",
        "mass_ipos",
        "slider",
        (1.7, 0.1, 0.2, 0.3),
        lambda m: np.r_[m.body("slider").mass, m.body("slider").ipos],
    ),
    (
        "body",
        "gyration",
        "arm",
        0.2,
        lambda m: np.sqrt(0.5 * m.body("arm").inertia.sum() / m.body("arm").mass[0]),
    ),
    ("body", "com_x", "slider", 0.2, lambda m: m.body("slider").ipos[0]),
    ("body", "com_y", "slider", 0.2, lambda m: m.body("slider").ipos[1]),
    ("body", "com_z", "arm", 0.2, lambda m: m.body("arm").ipos[2]),
    ("body", "gravcomp", "arm", 0.5, lambda m: m.body_gravcomp[1]),
    ("actuator", "gain", "motor", 0.5, lambda m: m.actuator("motor").gainprm[0]),
    ("actuator", "bias", "motor", 0.5, lambda m: m.actuator("motor").biasprm[0]),
    ("actuator", "bias", "scaled", 0.5, lambda m: m.actuator("scaled").biasprm[0]),
    ("actuator", "kp", "servo", 25.0, lambda m: -m.actuator("servo").biasprm[1]),
    ("actuator", "kp", "servo", 25.0, lambda m: m.actuator("servo").gainprm[0]),
    ("actuator", "kp", "scaled", 25.0, lambda m: 0.5 * m.actuator("scaled").gainprm[0]),
    ("actuator", "kv", "servo", 0.5, lambda m: -m.actuator("servo").biasprm[2]),
    ("actuator", "kv", "ratio", 0.5, lambda m: -m.actuator("ratio").biasprm[2]),
    ("actuator", "kv", "speed", 0.5, lambda m: -m.actuator("speed").biasprm[2]),
    ("actuator", "kv", "speed", 0.5, lambda m: m.actuator("speed").gainprm[0]),
    ("actuator", "gear", "motor", -2.0, lambda m: m.actuator("motor").gear[0]),
    ("actuator", "force_limit", "servo", 2.5, lambda m: m.actuator("servo").forcerange[1]),
    ("actuator", "force_limit", "servo", 2.5, lambda m: -m.actuator("servo").forcerange[0]),
    ("actuator", "time_constant", "servo", 0.2, lambda m: m.actuator("servo").dynprm[0]),
    ("actuator", "armature", "motor", 0.02, lambda m: m.actuator_armature[0]),
    ("actuator", "damping", "motor", 0.02, lambda m: m.actuator_damping[0]),
    ("actuator", "resistance", "dc", 3.0, lambda m: m.actuator("dc").gainprm[0]),
    ("actuator", "motor_constant", "dc", 0.1, lambda m: m.actuator("dc").gainprm[1]),
    ("actuator", "inductance", "dc", 0.3, lambda m: 2.0 * m.actuator("dc").dynprm[0]),
    ("actuator", "lugre_coulomb", "dc", 0.3, lambda m: m.actuator("dc").biasprm[3]),
    *(
        (
            element,
            f"pos_{axis}",
            name,
            0.03,
            lambda m, e=element, n=name, i=i: getattr(m, f"{e}_pos" if e != "joint" else "jnt_pos")[
                getattr(m, e)(n).id, i
            ],
        )
        for element, name in (("body", "slider"), ("joint", "hinge"), ("site", "b"))
        for i, axis in enumerate("xyz")
    ),
    *(
        (
            element,
            f"turn_{axis}",
            name,
            0.03,
            lambda m, e=element, n=name, i=i: 2.0 * np.arcsin(getattr(m, e)(n).quat[1 + i]),
        )
        for element, name in (("body", "slider"), ("site", "b"))
        for i, axis in enumerate("xyz")
    ),
    ("geom", "mass", "rod", 0.9, lambda m: m.body("arm").mass[0] - 0.2),
    ("geom", "mass", "knob", 0.9, lambda m: m.body("arm").mass[0] - 0.4105014401),
    ("geom", "friction", "tip", 0.4, lambda m: m.geom("tip").friction[0]),
    ("geom", "friction_torsional", "tip", 0.4, lambda m: m.geom("tip").friction[1]),
    ("geom", "friction_rolling", "tip", 0.4, lambda m: m.geom("tip").friction[2]),
    ("pair", "friction", "touch", 0.4, lambda m: m.pair_friction[0, :2]),
    ("pair", "friction_torsional", "touch", 0.4, lambda m: m.pair_friction[0, 2]),
    ("pair", "friction_rolling", "touch", 0.4, lambda m: m.pair_friction[0, 3:]),
    ("option", "gravity", "option", (0.1, 0.2, -9.0), lambda m: m.opt.gravity),
    ("option", "wind", "option", (0.1, 0.2, 0.3), lambda m: m.opt.wind),
    ("option", "density", "option", 1.2, lambda m: m.opt.density),
    ("option", "viscosity", "option", 0.3, lambda m: m.opt.viscosity),
]


@pytest.mark.parametrize(
    ("element", "attribute", "name", "value", "field"),
    ROWS,
    ids=[f"{element}-{attribute}-{name}" for element, attribute, name, *_ in ROWS],
)
def test_written_value_arrives_in_the_model_and_reads_back(element, attribute, name, value, field):
    spec = mujoco.MjSpec.from_string(XML)
    row = lookup(element, attribute)
    row.write(spec, name, np.atleast_1d(np.array(value, dtype=np.float64)))
    np.testing.assert_allclose(field(spec.compile()), value, rtol=1e-6)
    np.testing.assert_allclose(row.read(spec, name), np.atleast_1d(value), rtol=1e-9)


# Writing one of them gives a joint a friction model, which it may not have had.
FRICTION = {("joint", name) for name in PARAMETERS}
# Likewise of a servo on a supply voltage; test/engine/friction/test_servo.py.
FRICTION |= {("actuator", f"servo_{name}") for name in SERVO_PARAMETERS}


# A body that is not symmetric becomes so.
SYMMETRIC = {("body", f"inertia_symmetric_{axis}") for axis in "xyz"}


def test_every_row_is_tried_above_or_elsewhere():
    elsewhere = {("body", name) for name in INERTIAS}
    elsewhere |= {("signal", name) for name in ("delay", "gain", "bias", *AXIS_BIASES)}
    elsewhere |= {("actuator", f"lugre_{each}") for each in
                  ("stiffness", "damping", "static", "stribeck")}  # fmt: skip
    elsewhere.add(("joint", "torque_offset"))  # test/engine/measured_torque: without a spring
    elsewhere |= FRICTION  # test/robots/test_declared_friction.py
    assert set(table()) - elsewhere == {(element, name) for element, name, *_ in ROWS}


# Principal axes may come in any order (test_body_inertia compares the full inertia), frames may
# coincide or not, and a bias of zero is none.
UNPHYSICAL = ("body_iquat", "body_sameframe", "actuator_biastype")


def everything(model: mujoco.MjModel) -> dict[str, np.ndarray]:
    """All numbers of a model that describe the physics."""
    prefixes = ("body_", "jnt_", "dof_", "geom_", "pair_", "site_", "tendon_", "actuator_", "qpos")
    return {
        name: np.array(getattr(model, name))
        for name in dir(model)
        if name.startswith(prefixes) and isinstance(getattr(model, name), np.ndarray)
    }


@pytest.mark.parametrize(
    ("element", "attribute"),
    sorted(set(table()) - FRICTION - SYMMETRIC),
    ids=["-".join(key) for key in sorted(set(table()) - FRICTION - SYMMETRIC)],
)
def test_reading_changes_nothing_and_writing_what_was_read_changes_nothing(element, attribute):
    spec = mujoco.MjSpec.from_string(XML)
    if attribute == "torque_offset":  # of joints without a spring
        for joint in spec.joints:
            joint.stiffness, joint.springref = np.zeros_like(joint.stiffness), 0.0
    text, before = spec.to_xml(), everything(spec.copy().compile())
    row = lookup(element, attribute)
    tried = 0
    for name in names(spec, element):
        if name == "world":
            continue
        try:
            value = row.read(spec, name)
        except ModelError:
            continue  # not of the kind that has this attribute
        tried += 1
        assert spec.to_xml() == text
        assert value.shape == (row.size,)
        low, high = row.bounds(value)
        assert np.all((low <= value) & (value <= high) & (low < high))
        changed = spec.copy()
        try:
            row.write(changed, name, value)
        except ModelError:
            continue
        if name == "ratio" and attribute == "kv":
            continue  # a damping ratio has become a gain, of which it is computed elsewhere
        for field, numbers in everything(changed.compile()).items():
            if field in UNPHYSICAL:
                continue
            order = np.sort if field == "body_inertia" else np.asarray
            # No friction loss becomes next to none: without a row it would have no derivative.
            atol = 1e-9 if attribute == "frictionloss" else 1e-12
            np.testing.assert_allclose(
                order(numbers), order(before[field]), rtol=1e-9, atol=atol, err_msg=field
            )
    assert tried


@pytest.mark.parametrize(
    ("element", "attribute", "name", "message"),
    [
        ("joint", "armature", "hinje", "nearest: 'hinge'"),
        ("actuator", "kp", "motor", "Actuator motor is not a position actuator"),
        ("actuator", "kv", "motor", "'motor' has no kv"),
        ("actuator", "time_constant", "motor", "'motor' has no time constant"),
        ("actuator", "resistance", "motor", "'motor' is not a dcmotor"),
        ("actuator", "force_limit", "motor", "'motor' has no force limit"),
        ("actuator", "gain", "dc", "'dc' has no gain"),
        ("body", "pos_x", "loose", "the place of body 'loose' is its free joint's"),
        ("body", "turn_x", "hand", "the place of body 'hand' is given by motion capture"),
        ("joint", "pos_x", "float", "joint 'float' is free"),
        ("site", "turn_z", "rod_site", "site 'rod_site' is placed by its two ends"),
        ("joint", "turn_x", "hinge", "unknown attribute of joint 'turn_x'"),
        ("geom", "mass", "tip", "has no effect: its body 'slider' has an inertial of its own"),
    ],
)
def test_what_an_element_does_not_have_is_said(element, attribute, name, message):
    spec = mujoco.MjSpec.from_string(XML)
    loose = spec.worldbody.add_body(name="loose")
    loose.add_freejoint(name="float")
    loose.add_site(name="rod_site", fromto=[0, 0, 0, 0, 0, 1])
    spec.worldbody.add_body(name="hand", mocap=True)
    with pytest.raises(SysidError, match=message):
        lookup(element, attribute).read(spec, name)


def test_unknown_elements_attributes_and_forms_list_the_valid_ones():
    with pytest.raises(SysidError, match="unknown element 'joints'; nearest: 'joint'"):
        lookup("joints", "armature")
    with pytest.raises(SysidError, match=r"unknown attribute of joint 'friction'.*frictionloss"):
        lookup("joint", "friction")
    with pytest.raises(SysidError, match=r"unknown form of inertia 'full'.*pseudo"):
        lookup("body", "inertia", "full")
    with pytest.raises(SysidError, match="has no forms"):
        lookup("joint", "damping", "pseudo")
    assert lookup("body", "inertia", "mass_ipos") is lookup("body", "mass_ipos")


def test_patterns_choose_elements_in_the_models_order():
    spec = mujoco.MjSpec.from_string(XML)
    assert matching(spec, "body", "*") == ["arm", "slider"]
    assert matching(spec, "actuator", "s*") == ["servo", "speed", "scaled"]
    assert matching(spec, "joint", "h?nge") == ["hinge"]
    assert matching(spec, "option", "*") == ["option"]
    assert "angle" in matching(spec, "signal", "*")
    with pytest.raises(SysidError, match=r"unknown joint 'elbow_.*valid: 'hinge', 'rail'"):
        matching(spec, "joint", "elbow_*")


def test_units_of_a_slide_are_those_of_a_line():
    spec = mujoco.MjSpec.from_string(XML)
    assert lookup("joint", "armature").unit_for(spec, "hinge") == "kg m^2"
    assert lookup("joint", "armature").unit_for(spec, "rail") == "kg"
    assert lookup("joint", "damping").unit_for(spec, "rail") == "N s/m"


STRAIGHT = """<mujoco><option gravity="0 0 -{gravity}"/><worldbody>
  <body><joint name="rotor"/><geom size="1"/></body>
  <body><joint name="link"/><geom size="1"/></body>
  <body><joint name="rail" type="slide"/><geom size="1"/></body></worldbody>
  <tendon>
    <fixed name="gear"><joint joint="link" coef="1"/><joint joint="rotor" coef="-.02"/></fixed>
    <fixed name="cord"><joint joint="link" coef=".1"/><joint joint="rotor" coef=".2"/></fixed>
  </tendon>
  <actuator><position name="turn" joint="link"/><position name="push" joint="rail"/>
  <position name="pull" tendon="cord"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("gravity", "element", "attribute", "units"),
    [
        ("9.81", "tendon", "stiffness", {"gear": "N m/rad", "cord": "N/m"}),
        ("9.81", "tendon", "armature", {"gear": "kg m^2", "cord": "kg"}),
        ("9.81", "actuator", "kp", {"turn": "N m/rad", "push": "N/m", "pull": "N/m"}),
        ("9.81", "actuator", "force_limit", {"turn": "N m", "push": "N"}),
        ("9.81", "joint", "pos_x", {"link": "m", "rail": "m"}),
        ("9810", "joint", "armature", {"link": "kg mm^2", "rail": "kg"}),
        ("9810", "joint", "damping", {"link": "uN m s/rad", "rail": "mN s/mm"}),
        ("9810", "joint", "frictionloss", {"link": "uN m", "rail": "mN"}),
        ("9810", "option", "gravity", {"option": "mm/s^2"}),
        ("9810", "option", "density", {"option": "kg/mm^3"}),
    ],
)
def test_units_are_those_of_what_moves_and_of_the_models_lengths(
    gravity: str, element: str, attribute: str, units: dict[str, str]
) -> None:
    spec = mujoco.MjSpec.from_string(STRAIGHT.format(gravity=gravity))
    row = lookup(element, attribute)
    assert {name: row.unit_for(spec, name) for name in units} == units


def test_one_parameter_can_serve_several_elements():
    spec = mujoco.MjSpec.from_string(XML)
    modifier = AttributeModifier("joint", ("hinge", "rail"), "damping")
    modifier(spec, Parameter("damping", 0.7, 0.0, 1.0))
    np.testing.assert_allclose(spec.compile().dof_damping, [0.7, 0.7])
    with pytest.raises(SysidError, match="'damping' has 2 components, joint damping needs 1"):
        modifier(spec, Parameter("damping", [0.7, 0.1], 0.0, 1.0))


@pytest.mark.parametrize(("element", "name"), [("body", "slider"), ("site", "b")])
def test_turns_are_one_rotation_vector_in_any_order(element: str, name: str) -> None:
    spec = mujoco.MjSpec.from_string(XML)
    own = getattr(spec.copy().compile(), element)(name).quat.copy()
    vector = np.array([0.3, -0.2, 0.1])
    mujoco.mju_quatIntegrate(own, vector, 1.0)
    for axis in "zxyzyx":
        value = vector[["xyz".index(axis)]]
        lookup(element, f"turn_{axis}").write(spec, name, value)
    np.testing.assert_allclose(getattr(spec.compile(), element)(name).quat, own, atol=1e-14)


def test_resistance_keeps_the_inductance():
    spec = mujoco.MjSpec.from_string(XML)
    lookup("actuator", "resistance").write(spec, "dc", np.array([4.0]))
    np.testing.assert_allclose(lookup("actuator", "inductance").read(spec, "dc"), 0.1)


def body_shape(model: mujoco.MjModel, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass and inertia about it, in the body's frame."""
    body, axes = model.body(name), np.zeros(9)
    mujoco.mju_quat2Mat(axes, body.iquat)
    turn = axes.reshape(3, 3)
    return body.ipos, turn @ np.diag(body.inertia) @ turn.T


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_bodies_are_mirror_images_of_themselves_or_of_each_other(axis: str) -> None:
    image = np.diag([-1.0 if one == axis else 1.0 for one in "xyz"])
    spec = mujoco.MjSpec.from_string(XML)
    spec.body("slider").ipos = [0.1, 0.05, 0.02]
    row = lookup("body", "inertia", f"mirrored_{axis}")
    shared = Parameter(
        "both", row.read(spec, "slider"), -np.inf, np.inf,
        modifier=AttributeModifier("body", ("slider", "arm"), row.name),
    )  # fmt: skip
    shared.modifier(spec, shared)
    model = spec.compile()
    (centre, tensor), (other, turned) = (body_shape(model, name) for name in ("slider", "arm"))
    np.testing.assert_allclose(other, image @ centre, atol=1e-9)
    np.testing.assert_allclose(turned, image @ tensor @ image, atol=1e-9)
    row = lookup("body", "inertia", f"symmetric_{axis}")
    row.write(spec, "slider", row.read(spec, "slider"))
    centre, tensor = body_shape(spec.compile(), "slider")
    np.testing.assert_allclose(centre, image @ centre, atol=1e-9)
    np.testing.assert_allclose(tensor, image @ tensor @ image, atol=1e-9)


def test_bounds_beyond_all_numbers_are_none() -> None:
    """Ten times a huge number is no number; that is no reason to warn."""
    with np.errstate(over="raise"):
        for attribute, low in (("damping", 0.0), ("stiffness", 0.0)):
            least, most = lookup("joint", attribute).bounds(np.array([1e308]))
            assert (least[0], most[0]) == (low, np.inf)
        least, most = lookup("actuator", "kp").bounds(np.array([1e308]))
        assert (least[0], most[0]) == (pytest.approx(1e307), np.inf)
