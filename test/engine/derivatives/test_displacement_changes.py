# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives by where bodies, joints and sites are, against central differences of rollouts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import chains
import mujoco
import numpy as np
import pytest
from chains import Chain
from derivative_errors import assert_exact, jacobians
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.engine.attributes import PLACES, lookup
from sysid_ros.engine.friction import FrictionParameters, apply_friction_to_spec
from sysid_ros.engine.least_squares.gauss_newton import Point
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.simulation import CandidateBuilder

Place = tuple[str, str, str, int]  # kind of element, name, attribute, component
JOINT = (("pos", 0), ("pos", 2), ("axis", 0), ("axis", 1))
BODY = (("pos", 1), ("pos", 2), ("quat", 0), ("quat", 3))


def places(joints: Iterable[str] = (), bodies: Iterable[str] = ()) -> list[Place]:
    """Components that tell where joints and bodies are."""
    return [
        *(("joint", name, *own) for name, own in itertools.product(joints, JOINT)),
        *(("body", name, *own) for name, own in itertools.product(bodies, BODY)),
    ]


def parameters(root: mujoco.MjSpec, chosen: Iterable[Place]) -> ParameterDict:
    """Each of these as a parameter at its value."""
    params = ParameterDict()
    for kind, name, attribute, component in chosen:

        def write(
            spec: mujoco.MjSpec,
            parameter: Parameter,
            place: Place = (kind, name, attribute, component),
        ) -> None:
            element = getattr(spec, place[0])(place[1])
            values = np.array(getattr(element, place[2]), dtype=float)
            values[place[3]] = parameter.value[0]
            setattr(element, place[2], values)

        value = float(np.asarray(getattr(getattr(root, kind)(name), attribute))[component])
        full = f"{name}_{attribute}{component}"
        params.add(Parameter(full, value, value - 1.0, value + 1.0, modifier=write))
    return params


@settings(max_examples=12, deadline=None)
@given(
    st.builds(
        Chain,
        seed=st.integers(0, 10_000),
        joints=st.integers(1, 3),
        integrator=st.sampled_from(["EULER", "IMPLICITFAST", "RK4"]),
        friction=st.just(False),
        limits=st.booleans(),
        servos=st.booleans(),
        floating=st.booleans(),
    )
)
def test_places_of_all_bodies_and_joints(chain: Chain) -> None:
    """Joint sensors, and of floating mechanisms an IMU and motion capture."""
    root = chains.spec(chain)
    numbers = range(chain.joints)
    chosen = places([f"joint{k}" for k in numbers], [f"body{k}" for k in numbers])
    if chain.floating:
        chosen += [*places(bodies=["carrier"]), ("joint", "ball", "pos", 1)]
    assert_exact(chains.problem(root, parameters(root, chosen), seed=chain.seed))


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST"])
def test_at_a_second_point_the_tables_have_moved(integrator: str) -> None:
    """Joints stick and slide, so that inverse inertia counts, which follows from geometry."""
    chain = Chain(3, 3, integrator, True, False, True)
    root = chains.spec(chain)
    params = parameters(root, places(["joint0", "joint2"], ["body0", "body1"]))
    armature = AttributeModifier("joint", "joint1", "armature")
    params.add(Parameter("armature", root.joint("joint1").armature, 0.0, 1.0, modifier=armature))
    problem = chains.problem(root, params)
    start = problem.initial_point()
    jacobians(problem, start)
    moved = Point(start.theta + 0.03 * np.cos(np.arange(start.theta.size)), start.starts)
    plain = chains.problem(root, params, engine="reference")
    for own, other in zip(problem.residuals(moved), plain.residuals(moved), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-9)
    assert_exact(problem, moved)


@pytest.mark.parametrize("floating", [False, True])
def test_attributes_of_places_are_exact_and_written_alone(floating: bool) -> None:
    """Positions and turns as an experiment file declares them, at other values than the model's."""
    root = chains.spec(Chain(5, 2, "IMPLICITFAST", False, False, True, floating))
    params = ParameterDict()
    for element, name in (("body", "body0"), ("body", "body1"), ("joint", "joint1")):
        for attribute in PLACES if element == "body" else PLACES[:3]:
            row = lookup(element, attribute)
            value = row.read(root, name)
            low, high = row.bounds(value)
            own = AttributeModifier(element, name, attribute)
            params.add(Parameter(f"{name}_{attribute}", value, low, high, modifier=own))
    problem = chains.problem(root, params)
    start = problem.initial_point()
    moved = start.theta + 0.02 * np.cos(np.arange(start.theta.size))
    assert_exact(problem, Point(moved, start.starts))
    builder = CandidateBuilder(root, params)
    base = builder.build(moved)
    for component, value in enumerate(moved):
        builder.neighbour(base, component, float(value) + 1e-3)
        assert builder.independent(component)


def test_bodies_with_several_joints_and_mounts_without_any() -> None:
    """A tilted stand carries a wrist of two hinges, a slide and a ball on one body."""
    root = mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{chains.TIMESTEP}" integrator="implicitfast"/><worldbody>
        <body name="stand" pos="0.1 0 1" euler="20 -10 5"><body name="wrist" pos="0.05 0 0.1">
        <joint name="one" axis="1 0.2 0" pos="0.02 0 0.01" damping="0.5"/>
        <joint name="two" axis="0 1 0.3" pos="0 0.03 0" damping="0.5" stiffness="2"/>
        <joint name="three" type="slide" axis="0 0.4 1" damping="3" stiffness="50"/>
        <joint name="ball" type="ball" pos="0.01 0 -0.02" damping="0.3"/>
        <inertial mass="1" pos="0.05 0.02 0.1" diaginertia="0.02 0.03 0.04"/>
        <body name="tool" pos="0 0.1 0.2" euler="0 30 0"><body name="tip" pos="0 0 0.1">
        <joint name="last" axis="1 0 0" damping="0.2"/>
        <inertial mass="0.4" pos="0 0.05 0.1" diaginertia="0.01 0.01 0.01"/></body></body></body>
        </body></worldbody><actuator><motor name="actuator0" joint="one"/>
        <motor name="actuator1" joint="last"/></actuator>
        <sensor><jointpos name="a" joint="one"/><jointpos name="b" joint="three"/>
        <ballquat name="c" joint="ball"/><jointpos name="d" joint="last"/>
        <framepos name="e" objtype="xbody" objname="tip"/></sensor></mujoco>"""
    )
    chosen = places(["one", "two", "three", "last"], ["stand", "wrist", "tool", "tip"])
    assert_exact(chains.problem(root, parameters(root, [*chosen, ("joint", "ball", "pos", 0)])))


@pytest.mark.parametrize("integrator", ["EULER", "RK4"])
def test_beside_a_fluid_compensated_gravity_and_forces_between_bodies(integrator: str) -> None:
    chain = Chain(4, 3, integrator, False, False, True, floating=True)
    root = chains.spec(chain)
    root.body("carrier").gravcomp, root.body("body0").gravcomp = 0.6, 1.2
    if integrator == "RK4":
        root.option.density, root.option.viscosity = 30.0, 0.4
    else:
        site = root.body("body0").add_site(
            name="wrist", pos=[0.1, -0.05, 0.2], quat=[1, 2, -1, 0.5]
        )
        for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
            root.add_sensor(
                name=kind.name, type=kind, objname=site.name, objtype=mujoco.mjtObj.mjOBJ_SITE
            )
    chosen = places(["joint0", "joint1"], ["carrier", "body0", "body1", "body2"])
    chosen += [("joint", "ball", "pos", 0)]
    if integrator == "EULER":
        chosen += [("site", "wrist", "pos", 0), ("site", "wrist", "quat", 2)]
    assert_exact(chains.problem(root, parameters(root, chosen)))


def test_beside_friction_that_depends_on_the_load() -> None:
    chain = Chain(3, 2, "IMPLICITFAST", True, False, True)
    root = chains.spec(chain)
    law = FrictionParameters(friction_viscous=0.1, load_friction_external=0.1)
    apply_friction_to_spec(root, "joint0", law)
    assert_exact(chains.problem(root, parameters(root, places(["joint0"], ["body0", "body1"]))))


STANDING = """<mujoco><option timestep="{timestep}" integrator="Euler" cone="{cone}"
  impratio="2" tolerance="1e-15" iterations="200"/><worldbody>
  <geom name="floor" type="plane" size="1 1 1" euler="5 -8 0" solref="0.03 1.2" friction="0.5"/>
  <body name="base" pos="0 0 0.06"><freejoint/><inertial mass="1" pos="0.02 0 0.05"
  fullinertia="0.02 0.03 0.04 0.001 0.002 -0.003"/><geom type="box" size="0.15 0.1 0.05"/>
  <body name="thigh" pos="0.2 0 0"><joint name="hip" axis="0 1 0.2" damping="0.3"
  armature="0.01" stiffness="2"/><inertial mass="0.2" diaginertia="1e-3 1e-3 1e-3" pos="0 0 0"/>
  <body name="shin" pos="0.05 0 -0.03"><geom name="foot" {foot} pos="0.05 0 -0.07" mass="0.3"/>
  </body></body></body><body name="apart" pos="3 3 3"/></worldbody>
  <actuator><motor name="actuator0" joint="hip"/></actuator><sensor>
  <jointpos name="angle" joint="hip"/><framepos name="place" objtype="xbody" objname="base"/>
  <framequat name="orientation" objtype="xbody" objname="base"/></sensor></mujoco>"""


@pytest.mark.parametrize(
    ("cone", "foot"),
    [
        ("elliptic", 'type="sphere" size="0.03"'),
        ("pyramidal", 'type="capsule" size="0.03 0.04" euler="40 50 10" condim="6"'),
        ("elliptic", 'type="cylinder" size="0.04 0.02" euler="80 10 0"'),
    ],
)
def test_feet_that_press(cone: str, foot: str) -> None:
    text = STANDING.format(timestep=chains.TIMESTEP, cone=cone, foot=foot)
    root = mujoco.MjSpec.from_string(text)
    assert_exact(chains.problem(root, parameters(root, places(["hip"], ["thigh", "shin"]))))


TOUCHING = """<mujoco><option timestep="{timestep}" integrator="implicitfast" cone="{cone}"
  impratio="2" tolerance="1e-15" iterations="200"/><default><geom condim="3" friction="0.5"/>
  </default><worldbody><body name="table" euler="3 4 0"><body name="top" pos="0 0 0.115">
  <geom type="box" size="0.5 0.5 0.05"/></body></body>
  <body name="crank" pos="0 0 0.3"><joint name="turn" axis="0 0.3 1" damping="0.1" stiffness="3"/>
  <inertial mass="1" pos="0 0 0" diaginertia="0.01 0.02 0.03"/>
  <body name="one" pos="0.05 0 0" euler="0 150 5"><joint name="left" axis="0 1 0.1" damping="0.1"
  stiffness="2" springref="-15"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0.01 0.12"
  mass="0.3"/></body>
  <body name="two" pos="0.12 0.01 0" euler="5 190 0"><joint name="right" axis="0 1 0" damping="0.1"
  stiffness="2" springref="15"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.13"
  mass="0.3"/></body></body></worldbody><actuator><motor name="actuator0" joint="turn"/></actuator>
  <sensor><jointpos name="a" joint="turn"/><jointpos name="b" joint="left"/>
  <jointpos name="c" joint="right"/></sensor></mujoco>"""


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_bodies_that_touch_each_other_and_what_stands_still(cone: str) -> None:
    root = mujoco.MjSpec.from_string(TOUCHING.format(timestep=chains.TIMESTEP, cone=cone))
    bodies = ["table", "top", "crank", "one", "two"]
    problem = chains.problem(root, parameters(root, places(["turn", "left", "right"], bodies)))
    assert_exact(problem)
    model = root.compile()
    data = mujoco.MjData(model)
    touching = set()
    for _ in range(chains.STEPS):
        mujoco.mj_step(model, data)
        touching |= {tuple(sorted(model.geom_bodyid[pair])) for pair in data.contact.geom}
    assert len(touching) == 2  # both fingers, and one of them and the table


@pytest.mark.parametrize(("seed", "integrator"), [(1, "EULER"), (3, "IMPLICITFAST"), (1, "RK4")])
def test_sites_and_what_is_seen_from_moving_frames(seed: int, integrator: str) -> None:
    """Frames of sites, bodies and inertia, of which the observer, the observed or both move."""
    chain = Chain(seed, 3, integrator, integrator == "EULER", False, True, floating=True)
    root = chains.spec(chain)
    random, site = np.random.default_rng(seed), mujoco.mjtObj.mjOBJ_SITE
    for name in ("carrier", "body0"):
        place, turn = random.uniform(-0.2, 0.2, 3), random.normal(size=4)
        root.body(name).add_site(name=f"on_{name}", pos=place, quat=turn)
    stand = root.worldbody.add_body(name="stand", pos=[1, 0, 0], quat=[1, 0.2, 0.3, 0.1])
    stand.add_site(name="fixed", pos=[0.1, 0.2, 0], quat=[1, 0.3, 0.2, 0])
    body, frame = mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY
    seen = (
        ("FRAMEPOS", site, "imu", site, "on_carrier"),
        ("FRAMEQUAT", site, "imu", site, "on_body0"),
        ("FRAMEXAXIS", site, "on_body0", body, "carrier"),
        ("FRAMEZAXIS", frame, "body1", frame, "base"),
        ("FRAMELINVEL", site, "imu", site, "on_carrier"),
        ("FRAMEANGVEL", body, "body1", site, "on_carrier"),
        ("FRAMEPOS", site, "fixed", site, "imu"),
        ("FRAMELINVEL", site, "on_carrier", site, "fixed"),
    )
    for k, (kind, object_type, name, reference_type, reference) in enumerate(seen):
        sensor = root.add_sensor(name=f"seen{k}", objtype=object_type, objname=name)
        sensor.type = getattr(mujoco.mjtSensor, f"mjSENS_{kind}")
        sensor.reftype, sensor.refname = reference_type, reference
    for kind in ("FRAMELINACC", "FRAMEANGACC"):
        sensor = root.add_sensor(name=kind, objtype=site, objname="imu")
        sensor.type = getattr(mujoco.mjtSensor, f"mjSENS_{kind}")
    chosen = places(["joint0"], ["stand", "carrier", "body1"])
    for name in ("imu", "on_carrier", "on_body0", "fixed"):
        chosen += [("site", name, "pos", 1), ("site", name, "quat", 2)]
    problem = chains.problem(root, parameters(root, chosen), seed=seed)
    start = problem.initial_point()
    assert_exact(problem, start)
    assert_exact(problem, Point(start.theta + 0.02, start.starts))  # sites are read anew


def test_a_mounting_that_mujoco_takes_for_none_is_not_held_against_the_derivatives() -> None:
    """A millionth of a turn is lost on it where a site has the axes of its body."""
    chain = Chain(1, 2, "EULER", False, False, True)
    root = chains.spec(chain)
    site = root.body("body1").add_site(name="straight", pos=[0.1, 0, 0])
    for kind in (mujoco.mjtSensor.mjSENS_ACCELEROMETER, mujoco.mjtSensor.mjSENS_GYRO):
        sensor = root.add_sensor(name=kind.name, type=kind, objname=site.name)
        sensor.objtype = mujoco.mjtObj.mjOBJ_SITE
    params = parameters(root, [("site", "straight", "quat", 2), *places(["joint0"])])
    problem = chains.problem(root, params)
    start = problem.initial_point()
    problem.check_derivatives(start)
    assert_exact(problem, Point(start.theta + 0.01, start.starts))


def test_two_arms_on_a_stand_that_is_tilted() -> None:
    """A change that several parts of a model share is in each of them."""
    arm = """<body name="arm{0}" pos="0 {0} 0.1"><joint name="hinge{0}" axis="0.3 1 0"
      damping="0.4"/><inertial mass="1" pos="0.1 0 -0.1" diaginertia="0.01 0.02 0.02"/></body>"""
    root = mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{chains.TIMESTEP}" integrator="Euler"/><worldbody>
        <body name="stand" euler="10 5 0">{arm.format(1)}{arm.format(2)}</body></worldbody>
        <actuator><motor name="actuator0" joint="hinge1"/></actuator><sensor>
        <jointpos name="a" joint="hinge1"/><jointpos name="b" joint="hinge2"/></sensor></mujoco>"""
    )
    params = parameters(root, places(["hinge1"], ["stand", "arm2"]))
    assert_exact(chains.problem(root, params))


def test_a_stand_that_holds_one_of_two_arms_and_carries_neither() -> None:
    """It belongs to the part of the model that is connected with it."""
    root = mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{chains.TIMESTEP}" tolerance="1e-15"/><worldbody>
        <body name="free"><joint name="a" axis="0 1 0" damping="0.1"/>
        <inertial mass="1" pos="0.2 0 0.05" diaginertia="0.01 0.02 0.03"/></body>
        <body name="post" pos="1.3 0.1 -0.1"><site name="end" pos="0.01 0 0.02"/></body>
        <body name="held" pos="1 0 0"><joint name="b" axis="0 1 0" damping="0.1"/>
        <inertial mass="1" pos="0.2 0 0.05" diaginertia="0.01 0.02 0.03"/>
        <body name="last" pos="0.3 0 0"><joint name="c" axis="0 1 0.1" damping="0.1"/>
        <inertial mass="1" pos="0.2 0 0.05" diaginertia="0.01 0.02 0.03"/>
        <site name="tip" pos="0.01 0.1 -0.08"/></body></body></worldbody>
        <equality><connect site1="tip" site2="end" solref="0.05 1"/></equality>
        <actuator><motor name="actuator0" joint="a"/><motor name="actuator1" joint="b"/></actuator>
        <sensor><jointpos name="qa" joint="a"/><jointpos name="qb" joint="b"/>
        <jointpos name="qc" joint="c"/></sensor></mujoco>"""
    )
    chosen = [("body", "post", "pos", 0), ("body", "last", "pos", 2), ("joint", "b", "pos", 0)]
    assert_exact(chains.problem(root, parameters(root, chosen)))


def test_what_else_geometry_moves_is_left_to_finite_differences() -> None:
    chain = Chain(4, 2, "IMPLICITFAST", False, False, True, floating=True)
    root = chains.spec(chain)
    thruster = root.add_actuator(name="thruster", target="imu", gear=[0.3, -1, 2, 0, 0.1, 0])
    thruster.trntype = mujoco.mjtTrn.mjTRN_SITE
    params = parameters(root, [("site", "imu", "pos", 0), *places(bodies=["carrier"])])
    problem = chains.problem(root, params)
    jacobians(problem, problem.initial_point())
    sources = dict(problem.derivative_sources())
    assert sources.pop("imu_pos0") == "finite differences: it changes site_pos"
    assert set(sources.values()) == {"exact"}
    text = STANDING.format(
        timestep=chains.TIMESTEP, cone="elliptic", foot='type="sphere" size="0.03"'
    )
    root = mujoco.MjSpec.from_string(text)
    problem = chains.problem(root, parameters(root, [("body", "apart", "pos", 0)]))
    jacobians(problem, problem.initial_point())
    reason = "finite differences: it changes body_pos of what stands still below feet"
    assert problem.derivative_sources() == {"apart_pos0": reason}
