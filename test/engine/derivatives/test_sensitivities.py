# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives against central differences of rollouts, over generated mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import chains
import mujoco
import numpy as np
import pytest
from chains import Chain, add_elements, of_elements
from derivative_errors import TOLERANCE, assert_exact, jacobians, largest_error
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives import (
    parameter_effects,
    run_pass,
    sensitivities,
    uncovered_steps,
)
from sysid_ros.engine.derivatives.frame_readings import FRAME_SENSORS
from sysid_ros.engine.derivatives.sensors import ACTUATOR, JOINT, SENSORS, TENDON
from sysid_ros.engine.friction import FrictionParameters, apply_friction_to_spec, parameters_of
from sysid_ros.engine.least_squares.gauss_newton import Point
from sysid_ros.engine.mechanics.fluid import TURNS_IMPLICITLY
from sysid_ros.engine.parameters.modifiers import AttributeModifier, SignalModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.problem.windowed_problem import WindowedProblem
from sysid_ros.engine.simulation import SOLVED, BatchRollout, BatchSimulation, RolloutPool

CHAINS = st.builds(
    Chain,
    seed=st.integers(0, 10_000),
    joints=st.integers(1, 4),
    integrator=st.sampled_from(["EULER", "IMPLICITFAST", "IMPLICIT", "RK4"]),
    friction=st.booleans(),
    limits=st.booleans(),
    servos=st.booleans(),
).filter(lambda chain: not (chain.friction and chain.limits))  # rattles; fixed cases below


def parameters(root: mujoco.MjSpec, chain: Chain) -> ParameterDict:
    """Gravity, and all about the first joint, its body and its actuator, at the model's values."""
    joint, body, actuator = root.joint("joint0"), root.body("body0"), root.actuator("actuator0")
    params = ParameterDict()

    def add(element: str, name: str, attribute: str, value: float | FloatArray) -> None:
        modifier = AttributeModifier(element, name, attribute)
        params.add(Parameter(attribute, value, value - 5.0, value + 5.0, modifier=modifier))

    add("option", "option", "gravity", np.array(root.option.gravity))
    add("joint", "joint0", "armature", joint.armature)
    add("joint", "joint0", "damping", float(np.ravel(joint.damping)[0]))
    add("joint", "joint0", "stiffness", float(np.ravel(joint.stiffness)[0]))
    add("body", "body0", "mass", body.mass)
    add("actuator", "actuator0", "gear", actuator.gear[0])
    if chain.friction:
        add("joint", "joint0", "frictionloss", joint.frictionloss)
    for attribute, value in (("delay", 0.0042), ("gain", 1.0), ("bias", 0.1)):
        modifier = SignalModifier(("actuator0",), attribute)
        params.add(Parameter(f"command_{attribute}", value, -5.0, 5.0, modifier=modifier))
    # Off the samples, where the interpolated start has a kink.
    modifier = SignalModifier(("mjSENS_JOINTPOS0",), "delay")
    params.add(Parameter("sensor_delay", 0.0033, -1.0, 1.0, modifier=modifier))
    return params


@settings(max_examples=20, deadline=None)
@given(CHAINS)
@example(Chain(9776, 3, "RK4", True, False, False))  # begins to stick 1e-8 to 1e-7 off the point
def test_exact_derivatives_agree_with_central_differences(chain: Chain) -> None:
    root = chains.spec(chain)
    problem = chains.problem(root, parameters(root, chain), seed=chain.seed)
    point = problem.initial_point()
    error = largest_error(problem, point)
    assert set(problem.derivative_sources().values()) == {"exact"}
    assert error < TOLERANCE


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
@pytest.mark.parametrize(
    ("friction", "limits", "servos"),
    [(True, False, False), (False, True, False), (True, True, True)],
)
def test_sticking_sliding_and_stopped_joints(
    integrator: str, friction: bool, limits: bool, servos: bool
) -> None:
    """Beside an accelerometer that stands still: it measures gravity, or nothing (MuJoCo 3)."""
    chain = Chain(3, 3, integrator, friction, limits, servos)
    root = chains.spec(chain)
    root.worldbody.add_site(name="post", quat=[1, 2, -1, 0.5])
    root.add_sensor(
        name="still", type=mujoco.mjtSensor.mjSENS_ACCELEROMETER, objname="post",
        objtype=mujoco.mjtObj.mjOBJ_SITE,
    )  # fmt: skip
    assert_exact(chains.problem(root, parameters(root, chain)))


@pytest.mark.parametrize(("seed", "integrator"), [(1, "EULER"), (2, "IMPLICITFAST"), (1, "RK4")])
def test_free_and_ball_joints_with_imus(integrator: str, seed: int) -> None:
    chain = Chain(seed, 2, integrator, False, False, True, floating=True)
    root = chains.spec(chain)
    problem = chains.problem(root, parameters(root, chain), seed=seed)
    point = problem.initial_point()
    random = np.random.default_rng(seed)
    turned = tuple(0.1 * random.normal(size=start.size) for start in point.starts)
    assert largest_error(problem, Point(point.theta, turned)) < TOLERANCE
    assert set(problem.derivative_sources().values()) == {"exact"}


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
def test_thrusters_and_compensated_gravity(integrator: str) -> None:
    chain = Chain(4, 2, integrator, False, False, True, floating=True)
    root = chains.spec(chain)
    root.body("carrier").gravcomp = 0.6
    root.body("body0").gravcomp = 1.2
    thruster = root.add_actuator(
        name="thruster",
        target="imu",
        trntype=mujoco.mjtTrn.mjTRN_SITE,
        gear=[0.3, -1, 2, 0, 0.1, 0],
    )
    params = parameters(root, chain)
    add_elements(
        params,
        ("body", "body0", "gravcomp", 1.2),
        ("actuator", "thruster", "gain", thruster.gainprm[0]),
    )
    assert_exact(chains.problem(root, params))


@pytest.mark.parametrize(  # joint1 is carried by joint0 in the last two
    ("seed", "integrator"), [(3, "EULER"), (4, "IMPLICITFAST"), (7, "IMPLICITFAST"), (7, "RK4")]
)
def test_fixed_tendons_and_coupled_joints(seed: int, integrator: str) -> None:
    """A servo on a tendon that is elastic, damped, rubs and ends, and joints that are coupled."""
    chain = Chain(seed, 3, integrator, False, False, True)
    root = chains.spec(chain)
    tendon = root.add_tendon(name="split", limited=1, range=[-0.02, 0.03], armature=0.02)
    tendon.wrap_joint("joint0", 0.5)
    tendon.wrap_joint("joint1", -0.8)
    tendon.frictionloss = 0.3
    tendon.springlength = [-0.001, 0.002]
    for name, value in (("stiffness", 30.0), ("damping", 0.4)):
        setattr(tendon, name, np.resize([value, 0.0, 0.0], np.size(getattr(tendon, name))))
    grip = root.add_actuator(name="grip", target="split", trntype=mujoco.mjtTrn.mjTRN_TENDON)
    grip.gear = [1.3, 0, 0, 0, 0, 0]
    grip.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    grip.gainprm[0] = 20.0
    grip.biasprm[1:3] = -20.0, -2.0
    coupled = root.add_equality(name="coupled", type=mujoco.mjtEq.mjEQ_JOINT)
    coupled.objtype, coupled.name1, coupled.name2 = mujoco.mjtObj.mjOBJ_JOINT, "joint1", "joint2"
    coupled.data[:2] = 0.01, 0.7
    sensors = mujoco.mjtSensor.mjSENS_TENDONPOS, mujoco.mjtSensor.mjSENS_TENDONVEL
    for sensor in sensors:
        root.add_sensor(
            name=sensor.name, type=sensor, objtype=mujoco.mjtObj.mjOBJ_TENDON, objname="split"
        )
    root.add_sensor(
        name="length", type=mujoco.mjtSensor.mjSENS_ACTUATORPOS,
        objtype=mujoco.mjtObj.mjOBJ_ACTUATOR, objname="grip",
    )  # fmt: skip
    params = parameters(root, chain)
    add_elements(
        params,
        ("tendon", "split", "armature", 0.02),
        ("tendon", "split", "damping", 0.4),
        ("tendon", "split", "stiffness", 30.0),
        ("tendon", "split", "frictionloss", 0.3),
        ("actuator", "grip", "gear", 1.3),
        ("actuator", "grip", "kv", 2.0),
    )
    assert_exact(chains.problem(root, params, seed=seed))


def add_cable(root: mujoco.MjSpec, path: tuple[str, ...], *, seed: int) -> None:
    """A cable from the world over bodies to a pulley, elastic, damped, with friction and ends."""
    random = np.random.default_rng(seed)
    cable = root.add_tendon(name="cable")
    for k, body in enumerate(["world", *path]):
        place = root.worldbody if body == "world" else root.body(body)
        place.add_site(
            name=f"eye{k}", pos=random.uniform(-0.3, 0.3, 3) + np.array([0.0, 0.2 * k, 0.0])
        )
        cable.wrap_site(f"eye{k}")
    cable.wrap_pulley(2.0)
    root.worldbody.add_site(name="winch", pos=[0.5, 0.4, 0.2])
    cable.wrap_site(f"eye{len(path)}")
    cable.wrap_site("winch")
    length = float(root.copy().compile().tendon_length0[0])
    cable.limited, cable.range = 1, [length - 0.01, length + 0.02]
    cable.springlength = [length - 0.001, length + 0.002]
    cable.frictionloss = 0.3
    for name, value in (("stiffness", 30.0), ("damping", 0.4)):
        setattr(cable, name, np.resize([value, 0.0, 0.0], np.size(getattr(cable, name))))


def add_servo_along(root: mujoco.MjSpec, kind: mujoco.mjtTrn, target: str) -> mujoco.MjsActuator:
    """A servo along a line, and all that sensors tell of it."""
    servo = root.add_actuator(name="pull", target=target, trntype=kind)
    servo.gear = [1.3, 0, 0, 0, 0, 0]
    servo.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    servo.gainprm[0] = 20.0
    servo.biasprm[1:3] = -20.0, -2.0
    for name in ("POS", "VEL", "FRC"):
        root.add_sensor(
            name=f"pull_{name}", type=getattr(mujoco.mjtSensor, f"mjSENS_ACTUATOR{name}"),
            objtype=mujoco.mjtObj.mjOBJ_ACTUATOR, objname="pull",
        )  # fmt: skip
    return servo


def problem_of_pull(
    root: mujoco.MjSpec, chain: Chain, *more: tuple[str, str, str, float]
) -> WindowedProblem:
    """A recording of a mechanism with such a servo, and parameters of it and of more."""
    params = parameters(root, chain)
    add_elements(params, ("actuator", "pull", "gear", 1.3), ("actuator", "pull", "kv", 2.0), *more)
    return chains.problem(root, params, seed=chain.seed)


@pytest.mark.parametrize(
    ("seed", "integrator"), [(3, "EULER"), (4, "IMPLICITFAST"), (7, "IMPLICITFAST"), (7, "RK4")]
)
def test_cables(seed: int, integrator: str) -> None:
    chain = Chain(seed, 3, integrator, False, False, True)
    root = chains.spec(chain)
    add_cable(root, ("body0", "body2"), seed=seed)
    add_servo_along(root, mujoco.mjtTrn.mjTRN_TENDON, "cable")
    for name in ("POS", "VEL"):
        root.add_sensor(
            name=f"cable_{name}", type=getattr(mujoco.mjtSensor, f"mjSENS_TENDON{name}"),
            objtype=mujoco.mjtObj.mjOBJ_TENDON, objname="cable",
        )  # fmt: skip
    attributes = (("damping", 0.4), ("stiffness", 30.0), ("frictionloss", 0.3))
    of_cable = tuple(("tendon", "cable", name, value) for name, value in attributes)
    assert_exact(problem_of_pull(root, chain, *of_cable))


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST"])
def test_a_cable_to_a_body_that_flies(integrator: str) -> None:
    chain = Chain(2, 2, integrator, False, False, True, floating=True)
    root = chains.spec(chain)
    add_cable(root, ("carrier", "body1"), seed=5)
    add_servo_along(root, mujoco.mjtTrn.mjTRN_TENDON, "cable")
    assert_exact(problem_of_pull(root, chain))


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
@pytest.mark.parametrize("kind", ["SPHERE", "CYLINDER"])
def test_cables_around_geoms(kind: str, integrator: str) -> None:
    chain = Chain(7, 3, integrator, False, False, True)
    root = chains.spec(chain)
    centre, across = np.array([0.0, 0.0, 0.4]), np.array([0.02, 0.3, -0.05])
    stand = root.worldbody.add_body(name="drum_stand", pos=centre)
    shape = getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
    stand.add_geom(name="drum", type=shape, size=[0.1, 0.4, 0.0], quat=[1.0, 0.3, 0.2, 0.1])
    stand.add_site(name="end", pos=across)
    data = mujoco.MjData(root.copy().compile())
    mujoco.mj_forward(data.model, data)
    body = data.body("body1")
    local = body.xmat.reshape(3, 3).T @ (centre + np.array([0.03, -0.3, 0.04]) - body.xpos)
    root.body("body1").add_site(name="eye", pos=local)
    cable = root.add_tendon(name="cable")
    cable.wrap_site("end")
    cable.wrap_geom("drum", "")
    cable.wrap_site("eye")
    cable.stiffness = np.resize([40.0, 0.0, 0.0], np.size(cable.stiffness))
    cable.springlength = [0.5, 0.5]
    add_servo_along(root, mujoco.mjtTrn.mjTRN_TENDON, "cable")
    data = mujoco.MjData(root.copy().compile())
    mujoco.mj_forward(data.model, data)
    assert data.ten_wrapnum[0] == 4  # it goes around
    assert_exact(problem_of_pull(root, chain, ("tendon", "cable", "stiffness", 40.0)))


@pytest.mark.parametrize(
    ("seed", "floating", "integrator"),
    [(3, False, "RK4"), (7, False, "IMPLICITFAST"), (2, True, "EULER"), (2, True, "IMPLICITFAST")],
)
def test_slider_cranks(seed: int, floating: bool, integrator: str) -> None:
    chain = Chain(seed, 3, integrator, False, False, True, floating=floating)
    root, random = chains.spec(chain), np.random.default_rng(seed)
    root.body("body0").add_site(name="slide", pos=[0.1, 0.0, 0.1], quat=random.normal(size=4))
    root.body("body2").add_site(name="pin", pos=random.uniform(-0.2, 0.2, 3))
    crank = add_servo_along(root, mujoco.mjtTrn.mjTRN_SLIDERCRANK, "pin")
    crank.slidersite, crank.cranklength = "slide", 2.0
    assert_exact(problem_of_pull(root, chain))


def add_muscle(root: mujoco.MjSpec, kind: mujoco.mjtTrn, target: str, *, width: float) -> None:
    """A muscle that is active at all lengths and speeds of these motions."""
    lengths = {mujoco.mjtTrn.mjTRN_JOINT: [-2.4, 0.6], mujoco.mjtTrn.mjTRN_TENDON: [-1.5, 1.5]}
    muscle = root.add_actuator(name="muscle", target=target, trntype=kind)
    muscle.gear = [1.2, 0, 0, 0, 0, 0]
    muscle.lengthrange = lengths[kind]
    muscle.gaintype = mujoco.mjtGain.mjGAIN_MUSCLE
    muscle.biastype = mujoco.mjtBias.mjBIAS_MUSCLE
    muscle.dyntype = mujoco.mjtDyn.mjDYN_MUSCLE
    muscle.actdim = 1
    for name, values in (
        ("gainprm", [0.7, 1.1, 15.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2]),
        ("biasprm", [0.7, 1.1, 15.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2]),
        ("dynprm", [0.02, 0.05, width]),
    ):
        setattr(muscle, name, np.append(values, np.zeros(np.size(muscle.gainprm) - len(values))))
    root.add_sensor(
        name="pull", type=mujoco.mjtSensor.mjSENS_ACTUATORFRC,
        objtype=mujoco.mjtObj.mjOBJ_ACTUATOR, objname="muscle",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "width", "integrator"),
    [
        ("JOINT", 0.0, "EULER"), ("JOINT", 0.4, "IMPLICITFAST"),
        ("TENDON", 0.4, "EULER"), ("TENDON", 0.0, "IMPLICITFAST"),
    ],
)  # fmt: skip
def test_muscles(kind: str, width: float, integrator: str) -> None:
    chain = Chain(3, 3, integrator, False, False, True)
    root = chains.spec(chain)
    target = "joint1"
    if kind == "TENDON":
        add_cable(root, ("body0", "body2"), seed=3)
        target = "cable"
    add_muscle(root, getattr(mujoco.mjtTrn, f"mjTRN_{kind}"), target, width=width)

    def strengthen(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        for name in ("gainprm", "biasprm"):
            values = np.array(getattr(spec.actuator("muscle"), name))
            values[2] = parameter.value[0]
            setattr(spec.actuator("muscle"), name, values)

    def hasten(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        values = np.array(spec.actuator("muscle").dynprm)
        values[0] = parameter.value[0]
        spec.actuator("muscle").dynprm = values

    params = parameters(root, chain)
    params.add(Parameter("strength", 15.0, 10.0, 20.0, modifier=strengthen))
    params.add(Parameter("activation", 0.02, 0.001, 1.0, modifier=hasten))
    add_elements(params, ("actuator", "muscle", "gear", 1.2))
    delay = SignalModifier(("muscle",), "delay")
    params.add(Parameter("muscle_delay", 0.0042, -5.0, 5.0, modifier=delay))
    assert_exact(chains.problem(root, params))


@pytest.mark.parametrize("what", ["radius", "eye", "armature"])
def test_what_changes_a_path_is_left_to_finite_differences(what: str) -> None:
    chain = Chain(7, 2, "IMPLICITFAST", False, False, True)
    root = chains.spec(chain)
    root.worldbody.add_geom(name="drum", size=[0.1, 0.0, 0.0], pos=[0.0, 0.0, 0.1])
    root.worldbody.add_site(name="end", pos=[0.02, 0.3, 0.05])
    root.body("body1").add_site(name="eye", pos=[0.1, 0.0, 0.0])
    cable = root.add_tendon(name="cable")
    cable.wrap_site("end")
    if what != "armature":  # which MuJoCo knows for tendons from site to site only
        cable.wrap_geom("drum", "")
    cable.wrap_site("eye")
    cable.stiffness = np.resize([40.0, 0.0, 0.0], np.size(cable.stiffness))
    cable.springlength = [0.1, 0.1]

    def change(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        if what == "radius":
            spec.geom("drum").size = [parameter.value[0], 0.0, 0.0]
        elif what == "eye":
            spec.site("eye").pos = [parameter.value[0], 0.0, 0.0]
        elif parameter.value[0] > 0.1:  # of a tendon without armature nothing is left out
            spec.tendon("cable").armature = parameter.value[0] - 0.1

    params = parameters(root, chain)
    params.add(Parameter("changed", 0.1, 0.0, 1.0, modifier=change))
    problem = chains.problem(root, params)
    list(problem.window_rows(problem.initial_point()))
    reasons = {
        "radius": "what a tendon goes around", "eye": "site_pos",
        "armature": "tendon_armature of a spatial tendon",
    }  # fmt: skip
    sources = problem.derivative_sources()
    assert sources.pop("changed") == f"finite differences: it changes {reasons[what]}"
    assert set(sources.values()) == {"exact"}


@pytest.mark.parametrize(
    ("law", "integrator"),
    [
        ("m2", "EULER"), ("m3", "IMPLICITFAST"), ("m4", "IMPLICIT"), ("m5", "IMPLICITFAST"),
        ("m6", "EULER"), ("m6", "IMPLICITFAST"),
    ],
)  # fmt: skip
def test_friction_laws(law: str, integrator: str) -> None:
    """Sliding and sticking; the coefficients are not special, and the joint carries another."""
    chain = Chain(3, 2, integrator, True, False, True)
    root = chains.spec(chain)
    names = [name for name in parameters_of(law) if name != "friction_viscous"]
    values = {name: 0.05 + 0.01 * k for k, name in enumerate(names)}
    values.update({name: value for name, value in {"dtheta_stribeck": 0.5, "alpha": 1.3}.items()
                   if name in names})  # fmt: skip
    apply_friction_to_spec(root, "joint0", FrictionParameters(friction_viscous=0.1, **values))
    params = parameters(root, chain)
    for name, value in values.items():
        if name != "friction_base":  # which is the joint's friction loss
            add_elements(params, ("joint", "joint0", name, value))
    assert_exact(chains.problem(root, params))


@pytest.mark.parametrize("apart", [True, False])
def test_friction_that_depends_on_the_load_beside_a_tendon(apart: bool) -> None:
    """It feels the tendon only if that is on its own tree."""
    root = mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{chains.TIMESTEP}" tolerance="1e-15"
        integrator="implicitfast"/><worldbody><body><joint name="joint0" axis="0 1 0"/>
        <inertial mass="1" pos="0.1 0 0" diaginertia="0.01 0.02 0.02"/></body>
        <body pos="1 0 0"><joint name="joint1" axis="0 1 0" damping="0.1"/>
        <inertial mass="1" pos="0.1 0 0" diaginertia="0.01 0.02 0.02"/></body></worldbody>
        <tendon><fixed stiffness="3" damping="0.2"><joint joint="joint{int(apart)}" coef="0.5"/>
        </fixed></tendon><actuator><motor name="actuator0" joint="joint0"/></actuator>
        <sensor><jointpos name="mjSENS_JOINTPOS0" joint="joint0"/>
        <jointpos name="other" joint="joint1"/></sensor></mujoco>"""
    )
    law = FrictionParameters(friction_viscous=0.1, friction_base=0.05, load_friction_motor=0.06)
    apply_friction_to_spec(root, "joint0", law)
    params = of_elements(
        ("joint", "joint0", "load_friction_motor", 0.06),
        ("joint", "joint1", "damping", 0.1),
    )
    problem = chains.problem(root, params)
    error = largest_error(problem, problem.initial_point())
    sources = set(problem.derivative_sources().values())
    if apart:
        assert sources == {"exact"}
        assert error < TOLERANCE
    else:
        assert all("beside tendons or equalities" in source for source in sources)


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST"])
@pytest.mark.parametrize("dynamics", ["INTEGRATOR", "FILTER", "FILTEREXACT"])
def test_activations(dynamics: str, integrator: str) -> None:
    chain = Chain(3, 2, integrator, True, False, True)
    root = chains.spec(chain)
    servo = root.actuator("actuator0")
    servo.dyntype = getattr(mujoco.mjtDyn, f"mjDYN_{dynamics}")
    servo.dynprm = np.resize([0.03], np.size(servo.dynprm))
    params = parameters(root, chain)
    modifier = AttributeModifier("actuator", "actuator0", "time_constant")
    if dynamics == "FILTEREXACT":
        params.add(Parameter("time_constant", 0.03, 0.001, 1.0, modifier=modifier))
    assert_exact(chains.problem(root, params))


@pytest.mark.parametrize("first", range(3))
def test_every_sensor_fixed_to_a_body_agrees_with_central_differences(first: int) -> None:
    """Six at a time, beside an IMU."""
    chain = Chain(3, 2, "IMPLICITFAST", True, False, True, floating=True)
    root = chains.spec(chain)
    for kind in map(mujoco.mjtSensor, [*FRAME_SENSORS][first::3]):
        of_ball = kind in (mujoco.mjtSensor.mjSENS_BALLQUAT, mujoco.mjtSensor.mjSENS_BALLANGVEL)
        root.add_sensor(
            name=kind.name,
            type=kind,
            objtype=mujoco.mjtObj.mjOBJ_JOINT if of_ball else mujoco.mjtObj.mjOBJ_SITE,
            objname="ball" if of_ball else "imu",
        )
    assert_exact(chains.problem(root, parameters(root, chain)))


@pytest.mark.parametrize(
    ("seed", "integrator"), [(1, "EULER"), (2, "IMPLICITFAST"), (4, "EULER"), (4, "RK4")]
)
def test_forces_between_bodies_anywhere_in_a_tree(seed: int, integrator: str) -> None:
    """Masses before, at and behind the sensor, joints that stick and slide, branches beside it."""
    chain = Chain(seed, 4, integrator, integrator != "RK4", False, True, floating=True)
    root = chains.spec(chain)
    params = parameters(root, chain)
    for name in ("base", "carrier", "body1", "body3"):
        add_elements(params, ("body", name, "mass", root.body(name).mass))
    root.body("body2").gravcomp = 0.7
    for name in ("carrier", "body0"):
        site = root.body(name).add_site(name=name, pos=[0.1, -0.05, 0.2], quat=[1, 2, -1, 0.5])
        for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
            root.add_sensor(
                name=f"{kind.name}_{name}", type=kind, objname=site.name,
                objtype=mujoco.mjtObj.mjOBJ_SITE,
            )  # fmt: skip
    assert_exact(chains.problem(root, params))


@pytest.mark.parametrize("kind", SENSORS, ids=lambda kind: mujoco.mjtSensor(kind).name)
def test_every_row_of_the_table_of_sensors_agrees_with_central_differences(kind: int) -> None:
    chain = Chain(3, 2, "IMPLICITFAST", True, False, True)
    root = chains.spec(chain)
    objects = {JOINT: "joint", ACTUATOR: "actuator", TENDON: "tendon"}
    name = objects[SENSORS[kind].element]
    for k in range(2):
        root.add_tendon(name=f"tendon{k}").wrap_joint(f"joint{k}", 1.0 + k)
        root.add_sensor(
            name=f"added{k}",
            type=mujoco.mjtSensor(kind),
            objtype=getattr(mujoco.mjtObj, f"mjOBJ_{name.upper()}"),
            objname=f"{name}{k}",
        )
    problem = chains.problem(root, parameters(root, chain))
    assert largest_error(problem, problem.initial_point()) < 1e-4
    assert set(problem.derivative_sources().values()) == {"exact"}


def test_a_sensor_that_is_no_row_is_left_to_finite_differences() -> None:
    chain = Chain(3, 2, "IMPLICITFAST", False, False, False)
    root = chains.spec(chain)
    root.add_sensor(
        name="momentum",
        type=mujoco.mjtSensor.mjSENS_SUBTREEANGMOM,
        objtype=mujoco.mjtObj.mjOBJ_BODY,
        objname="body0",
    )
    problem = chains.problem(root, parameters(root, chain))
    reason = "finite differences: the derivative of a subtreeangmom sensor is not known"
    assert set(problem.derivative_sources().values()) == {reason}


def test_the_residual_is_that_of_the_plain_engine() -> None:
    chain = Chain(1, 3, "IMPLICITFAST", True, True, True)
    root = chains.spec(chain)
    params = parameters(root, chain)
    exact, plain = (chains.problem(root, params, engine=e) for e in ("auto", "reference"))
    point = exact.initial_point()
    for a, b in zip(exact.window_rows(point), plain.window_rows(point), strict=True):
        np.testing.assert_allclose(a[:, -1], b[:, -1], rtol=1e-12, atol=1e-12)
    assert exact.cost(point) == pytest.approx(plain.cost(point), rel=1e-12)
    assert exact.linearize(point).cost == pytest.approx(plain.cost(point), rel=1e-12)


STANDING = """<mujoco><option timestep="{timestep}" integrator="{integrator}" cone="{cone}"
  impratio="2" tolerance="1e-15" iterations="200"/>
  <default><geom condim="{condim}" friction="{friction}"/></default><worldbody>
  <geom name="floor" type="plane" size="1 1 1" euler="5 -8 0" solref="0.03 1.2" solmix="2"/>
  <body name="base" pos="0 0 {height}"><freejoint/><inertial mass="1" pos="0.02 0 0.05"
  fullinertia="0.02 0.03 0.04 0.001 0.002 -0.003"/><geom type="box" size="0.15 0.1 0.05"/>
  <body name="body0" pos="0.2 0 0"><joint name="joint0" axis="0 1 0.2" damping="0.3"
  armature="0.01" stiffness="2"/><geom name="foot" {foot}
  pos="0.1 0 -0.1" mass="0.3"/>
  </body></body></worldbody>{contact}
  <actuator><motor name="actuator0" joint="joint0"/></actuator><sensor>
  <jointpos name="mjSENS_JOINTPOS0" joint="joint0"/>
  <framepos name="middle" objtype="body" objname="base"/>
  <framepos name="position" objtype="xbody" objname="base"/>
  <framequat name="orientation" objtype="xbody" objname="base"/></sensor></mujoco>"""


BALL = 'type="sphere" size="0.03" margin="0.002"'
CAPSULE = 'type="capsule" size="0.03 0.04" euler="40 50 10"'
WHEEL = 'type="cylinder" size="0.04 0.02" euler="80 10 0"'
PAD = 'type="cylinder" size="0.04 0.02" euler="5 3 0"'
EGG = 'type="ellipsoid" size="0.03 0.04 0.05"'
MESH = 'type="mesh" mesh="sole"'
SOLE = """<asset><mesh name="sole" vertex="-0.05 -0.03 -0.02 0.06 -0.02 -0.03 0.05 0.03 -0.025
  -0.04 0.04 -0.015 -0.03 -0.02 0.03 0.04 -0.03 0.02 0.03 0.02 0.04 -0.02 0.03 0.03 0 0 -0.035
  0.07 0 0.01 -0.07 0 0.005"/></asset>"""
LINE = """<tendon><fixed name="line" stiffness="1"><joint joint="joint0" coef="0.5"/></fixed>
  </tendon>"""
PAIR = """<contact><pair geom1="foot" geom2="floor" condim="4" friction="0.5 0.2 0.02"
  solref="0.01 1" margin="0.001"/></contact>"""
UNKNOWN = """<contact><pair geom1="foot" geom2="floor" condim="3" friction="0.8 0.8"
  solreffriction="0.03 1.1"/></contact>"""


@pytest.mark.parametrize(
    ("cone", "condim", "friction", "integrator", "foot", "contact"),
    [
        ("pyramidal", 3, "1", "implicitfast", BALL, ""),
        ("pyramidal", 3, "0.05", "Euler", CAPSULE, ""),
        ("pyramidal", 6, "0.5 0.02 0.01", "implicitfast", CAPSULE, ""),
        ("pyramidal", 3, "1", "Euler", CAPSULE, PAIR),
        ("elliptic", 3, "1", "Euler", CAPSULE, ""),
        ("elliptic", 3, "0.05", "implicitfast", BALL, ""),
        ("elliptic", 4, "0.2 0.02", "Euler", BALL, ""),
        ("elliptic", 3, "1", "implicitfast", CAPSULE, PAIR),
        ("elliptic", 6, "0.8 0.02 0.01", "implicitfast", BALL, ""),
        ("elliptic", 1, "1", "implicitfast", BALL, ""),
        ("elliptic", 3, "0.8", "implicitfast", WHEEL, ""),
        ("pyramidal", 4, "0.5 0.02", "Euler", PAD, ""),
        ("elliptic", 3, "0.8", "implicitfast", MESH, SOLE),
        ("pyramidal", 4, "0.5 0.02", "Euler", MESH, SOLE + LINE),
        ("elliptic", 3, "0.8", "Euler", EGG, ""),
        ("pyramidal", 6, "0.5 0.02 0.01", "implicitfast", EGG, ""),
    ],
)
def test_feet_on_a_floor(
    cone: str, condim: int, friction: str, integrator: str, foot: str, contact: str
) -> None:
    """A box and a foot on a slope stick, slide and turn over each other."""
    text = STANDING.format(
        timestep=chains.TIMESTEP, integrator=integrator, cone=cone, condim=condim,
        friction=friction, height=0.06, foot=foot, contact=contact,
    )  # fmt: skip
    root = mujoco.MjSpec.from_string(text)
    params = of_elements(
        ("joint", "joint0", "armature", 0.01),
        ("joint", "joint0", "damping", 0.3),
        ("joint", "joint0", "stiffness", 2.0),
        ("body", "base", "mass", 1.0),
    )
    problem = chains.problem(root, params)
    error = largest_error(problem, problem.initial_point())
    assert set(problem.derivative_sources().values()) == {"exact"}
    assert problem.exact[0].doubted < 1e-9
    assert error < TOLERANCE


def test_steps_whose_forces_mujoco_has_not_settled_are_no_unknown_contacts() -> None:
    """On stiff feet its solver ends where accelerations are right and forces are newtons off.

    The derivatives are those that it has where it goes on to the end.
    """
    stiff = 'solimp="0.015 1 0.022"'
    text = STANDING.format(
        timestep=0.002, integrator="Euler", cone="elliptic", condim=6, friction="0.2 0.02 0.01",
        height=0.1, foot=f"{BALL} {stiff}", contact="",
    )  # fmt: skip
    text = text.replace('solref="0.03 1.2" solmix="2"', f'{stiff} priority="1"')
    found = []
    for tolerance in ("1e-8", "1e-15"):
        solver = f'impratio="100" tolerance="{tolerance}"'
        root = mujoco.MjSpec.from_string(text.replace('impratio="2" tolerance="1e-15"', solver))
        params = ParameterDict()
        add_elements(params, ("joint", "joint0", "damping", 0.3))
        problem = chains.problem(root, params)
        found.append(np.concatenate(jacobians(problem, problem.initial_point())))
        assert [each.doubted for each in problem.exact if each is not None] == [0.0]
    errors = np.linalg.norm(found[0] - found[1], axis=0) / np.linalg.norm(found[1], axis=0)
    assert np.max(errors) < 1e-3


def test_what_changes_a_contact_is_left_to_finite_differences() -> None:
    root = mujoco.MjSpec.from_string(
        STANDING.format(
            timestep=chains.TIMESTEP,
            integrator="Euler",
            cone="elliptic",
            condim=3,
            friction=0.1,
            height=0.06,
            foot=BALL,
            contact="",
        )
    )

    def roughen(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        for geom in spec.geoms:
            geom.friction = [float(parameter.value[0]), 0.005, 0.0001]

    params = ParameterDict()
    params.add(Parameter("friction", 0.1, 0.0, 1.0, modifier=roughen))
    damping = AttributeModifier("joint", "joint0", "damping")
    params.add(Parameter("damping", 0.3, 0.0, 1.0, modifier=damping))
    problem = chains.problem(root, params)
    assert largest_error(problem, problem.initial_point()) < 1e-3
    assert problem.derivative_sources() == {
        "friction": "finite differences: it changes what touches the floor",
        "damping": "exact",
    }


@pytest.mark.parametrize("moved_foot", [False, True])
def test_steps_with_contacts_that_are_not_known_are_differenced_alone(
    monkeypatch: pytest.MonkeyPatch, moved_foot: bool
) -> None:
    """A foot whose friction the pass does not know touches the floor, and leaves it again."""
    text = STANDING.format(
        timestep=chains.TIMESTEP, integrator="Euler", cone="elliptic", condim=3, friction="0.8",
        height=0.1, foot=BALL, contact=UNKNOWN,
    )  # fmt: skip
    root = mujoco.MjSpec.from_string(text)
    params = of_elements(
        ("joint", "joint0", "damping", 0.3),
        ("body", "base", "mass", 1.0),
    )
    delay = SignalModifier(("actuator0",), "delay")
    params.add(Parameter("command_delay", 0.0021, -1.0, 1.0, modifier=delay))

    def raise_foot(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        spec.geom("foot").pos = [0.1, 0.0, parameter.value[0]]

    if moved_foot:
        params.add(Parameter("foot", -0.1, -1.0, 1.0, modifier=raise_foot))
    problem = chains.problem(root, params)
    monkeypatch.setattr(uncovered_steps, "finite_differences", None)  # of whole runs
    monkeypatch.setattr(uncovered_steps, "MAX_SHARE", 1.0)
    own = largest_error(problem, problem.initial_point())
    # A difference of whole runs is one-sided, and no contact is quite smooth.
    assert own < (2e-3 if moved_foot else 5e-4)
    sources = problem.derivative_sources()
    if moved_foot:
        assert sources.pop("foot") == "finite differences: it changes what touches the floor"
    assert set(sources.values()) == {"exact"}
    (derivatives,) = problem.exact
    assert derivatives is not None
    assert 0.1 < derivatives.doubted < 0.75


def test_forces_behind_which_a_foot_presses_are_differenced_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the floor bears is no part of the force between two bodies."""
    text = STANDING.format(
        timestep=chains.TIMESTEP, integrator="Euler", cone="elliptic", condim=3, friction="0.8",
        height=0.14, foot=BALL, contact="",
    )  # fmt: skip
    text = text.replace('<geom name="foot"', '<site name="hip"/><geom name="foot"')
    forces = '<force name="pull" site="hip"/><torque name="twist" site="hip"/>'
    text = text.replace("</sensor>", forces + "</sensor>")
    root = mujoco.MjSpec.from_string(text)
    params = of_elements(
        ("joint", "joint0", "damping", 0.3),
        ("body", "base", "mass", 1.0),
        ("body", "body0", "mass", 0.3),
    )
    problem = chains.problem(root, params)
    monkeypatch.setattr(uncovered_steps, "finite_differences", None)  # of whole runs
    monkeypatch.setattr(uncovered_steps, "MAX_SHARE", 1.0)
    assert largest_error(problem, problem.initial_point()) < 5e-4
    assert set(problem.derivative_sources().values()) == {"exact"}
    (derivatives,) = problem.exact
    assert derivatives is not None
    assert 0.1 < derivatives.doubted < 0.75


def test_runs_are_followed_in_pieces_that_memory_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = Chain(3, 3, "EULER", True, False, True)

    def found() -> list[FloatArray]:
        root = chains.spec(chain)
        problem = chains.problem(root, parameters(root, chain), seed=chain.seed)
        return jacobians(problem, problem.initial_point())

    followed: list[slice] = []
    follow = run_pass.BatchPass.follow

    def noted(self: run_pass.BatchPass, part: int, runs: slice) -> None:
        followed.append(runs)
        follow(self, part, runs)

    monkeypatch.setattr(run_pass.BatchPass, "follow", noted)
    whole = found()
    monkeypatch.setattr(run_pass, "_PIECE_BYTES", 1)
    followed.clear()
    for one, other in zip(found(), whole, strict=True):
        np.testing.assert_array_equal(one, other)
    assert {runs.stop - runs.start for runs in followed} == {1}


def test_steps_are_differenced_in_a_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    text = STANDING.format(
        timestep=chains.TIMESTEP, integrator="Euler", cone="elliptic", condim=3, friction="0.8",
        height=0.1, foot=BALL, contact=UNKNOWN,
    )  # fmt: skip
    monkeypatch.setattr(uncovered_steps, "MAX_SHARE", 1.0)
    sizes: list[int] = []
    run = RolloutPool.run_batches

    def noted(pool: RolloutPool, jobs: Sequence[BatchSimulation]) -> list[BatchRollout]:
        sizes.extend(job.starts.nbytes for job in jobs)
        return run(pool, jobs)

    monkeypatch.setattr(RolloutPool, "run_batches", noted)

    def found() -> list[FloatArray]:
        sizes.clear()
        problem = chains.problem(
            mujoco.MjSpec.from_string(text),
            of_elements(("joint", "joint0", "damping", 0.3)),
            seed=3,
        )
        return jacobians(problem, problem.initial_point())

    whole = found()
    most = max(sizes) // 3
    monkeypatch.setattr(uncovered_steps, "MAX_BYTES", most)
    for one, other in zip(found(), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert max(sizes) <= most


def test_a_single_run_is_differenced_whole_where_its_steps_have_no_derivative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None of a batch's runs is kept then, of which one alone was taken for all."""
    text = STANDING.format(
        timestep=chains.TIMESTEP, integrator="Euler", cone="elliptic", condim=3, friction="0.8",
        height=0.1, foot=BALL, contact=UNKNOWN,
    )  # fmt: skip
    monkeypatch.setattr(chains, "STEPS", chains.STEPS // 2 + 1)

    def found(share: float) -> list[FloatArray]:
        monkeypatch.setattr(uncovered_steps, "MAX_SHARE", share)
        params = of_elements(("joint", "joint0", "damping", 0.3))
        problem = chains.problem(mujoco.MjSpec.from_string(text), params, seed=3)
        return jacobians(problem, problem.initial_point())

    monkeypatch.setattr(uncovered_steps, "ROUGH", -1.0)
    alone, whole = found(1.0), found(0.0)
    assert len(alone) == 1
    np.testing.assert_array_equal(alone[0], whole[0])


LINKAGE = """<mujoco><option timestep="{timestep}" integrator="{integrator}" tolerance="1e-15"
  iterations="200"><flag contact="disable"/></option><worldbody>
  <body name="body0"><joint name="joint0" axis="0.1 1 0" damping="0.3" armature="0.01"
  frictionloss="0.05" pos="0.02 0 0"/><inertial mass="1" pos="0.1 0.02 0.05"
  fullinertia="0.02 0.03 0.04 0.001 0.002 -0.003"/>
   <body name="body1" pos="0.2 0 0"><joint name="joint1" {ball} damping="0.1"/>
   <inertial mass="0.5" pos="0.1 0 0.1" diaginertia="0.015 0.02 0.03"/>
   <site name="tip" pos="0.25 0.02 0.1"/></body></body>
  <body name="body2" pos="0.4 0 0"><joint name="joint2" axis="0 1 0.2" damping="0.2"
  stiffness="3"/><inertial mass="0.7" pos="0 0 0.1" diaginertia="0.02 0.02 0.01"/>
   <site name="end" pos="0.03 0 0.12"/></body>
  <body name="apart"><joint name="joint3" axis="0 1 0" damping="0.2"/>
   <inertial mass="0.7" pos="0 0 0.1" diaginertia="0.02 0.02 0.01"/></body></worldbody>
  <equality>{connect}</equality>
  <actuator><motor name="actuator0" joint="joint0"/><motor name="second" joint="joint2"/></actuator>
  <sensor><jointpos name="mjSENS_JOINTPOS0" joint="joint0"/>
  <jointpos name="two" joint="joint2"/><jointpos name="three" joint="joint3"/>
  <framepos name="place" objtype="site" objname="tip"/></sensor></mujoco>"""


def move_anchor(spec: mujoco.MjSpec, parameter: Parameter) -> None:
    """By the first end, which without sites tells where the compiler puts the other, too."""
    values = np.array(spec.equalities[0].data)
    values[1] += parameter.value[0] - 0.05
    spec.equalities[0].data = values


def move_site(spec: mujoco.MjSpec, parameter: Parameter) -> None:
    spec.site("tip").pos = [0.25, parameter.value[0] - 0.03, 0.1]
    spec.site("tip").quat = [1.0, parameter.value[0] - 0.05, 0.0, 0.0]


def move_body(spec: mujoco.MjSpec, parameter: Parameter) -> None:
    spec.body("body1").pos = [0.2, parameter.value[0] - 0.05, 0.0]


ENDS = {"anchor": move_anchor, "site": move_site, "body": move_body}


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit"])
@pytest.mark.parametrize(
    ("ball", "connect"),
    [
        ('type="hinge" axis="0 1 0"', '<connect site1="tip" site2="end" solref="0.03 1.2"/>'),
        ('type="ball"', '<connect body1="body1" body2="body2" anchor="0.25 0 0.1"/>'),
        ('type="ball"', '<connect body1="body1" anchor="0.2 0.1 0.1" solimp="0.8 0.95 0.02"/>'),
        ('type="hinge" axis="0 1 0"', '<weld site1="tip" site2="end" solref="0.03 1.2"/>'),
        (
            'type="ball"',
            '<weld body1="body1" body2="body2" anchor="0.05 0 0.1" torquescale="0.3"/>',
        ),
        (
            'type="ball"',
            '<weld body1="body1" anchor="0.2 0.1 0.1" solimp="0.8 0.95 0.02" torquescale="2"/>',
        ),
    ],
)
def test_bodies_that_are_connected(integrator: str, ball: str, connect: str) -> None:
    """Loops and welds that close, of two trees or to the world, beside another tree."""
    text = LINKAGE.format(
        timestep=chains.TIMESTEP, integrator=integrator, ball=ball, connect=connect
    )
    root = mujoco.MjSpec.from_string(text)
    params = of_elements(
        ("joint", "joint0", "armature", 0.01),
        ("joint", "joint0", "frictionloss", 0.05),
        ("joint", "joint2", "damping", 0.2),
        ("joint", "joint3", "damping", 0.2),
        ("body", "body1", "mass", 0.5),
        ("body", "body2", "mass", 0.7),
    )
    for name, modify in ENDS.items():
        params.add(Parameter(name, 0.05, -5.0, 5.0, modifier=modify))
    assert_exact(chains.problem(root, params))


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
@pytest.mark.parametrize(
    "tie",
    [
        '<weld body1="hand" body2="load"/>',
        '<connect body1="load" anchor="0 0 0"/>',
        '<weld body1="hand"/>',
    ],
)
def test_a_free_body_that_something_holds(integrator: str, tie: str) -> None:
    """Since MuJoCo 3.11 its gyroscopic torque is implicit, which much larger forces would hide."""
    root = mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{chains.TIMESTEP}" integrator="{integrator}"/><worldbody>
        <body name="hand"><joint name="wrist" type="ball" damping="0.1"/>
        <inertial mass="5" pos="0.2 0 0" diaginertia="0.2 0.3 0.4"/></body>
        <body name="load" pos="0.3 0 0"><freejoint/>
        <inertial mass="0.1" pos="0 0.02 0" diaginertia="1e-3 2e-3 2.5e-3"/>
        <site name="push"/></body></worldbody><equality>{tie}</equality>
        <actuator><motor name="actuator0" site="push" gear="0 0 1 0 0 0"/></actuator>
        <sensor><framepos name="place" objtype="xbody" objname="load"/></sensor></mujoco>"""
    )
    params = of_elements(("body", "hand", "mass", 5.0))
    problem = chains.problem(root, params)
    error = largest_error(problem, problem.initial_point())
    refused = integrator == "implicitfast" and "load" in tie
    if refused and mujoco.mj_version() < TURNS_IMPLICITLY:
        assert "implicitfast turns a free body" in problem.derivative_sources()["mass"]
        return
    assert set(problem.derivative_sources().values()) == {"exact"}
    assert error < TOLERANCE


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
def test_on_bodies_that_stand_still(integrator: str) -> None:
    """Their poses are evaluated once, and a sensor on one sees no change."""
    root, params = mujoco.MjSpec.from_string(chains.STANDS), ParameterDict()
    root.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    kind, site = mujoco.mjtSensor.mjSENS_ACCELEROMETER, mujoco.mjtObj.mjOBJ_SITE
    root.add_sensor(name="standing", type=kind, objtype=site, objname="stand")
    add_elements(
        params,
        ("joint", "a", "damping", 0.1),
        ("joint", "b", "armature", 0.01),
        ("body", "upper", "mass", 1.0),
        ("body", "lower", "mass", 0.5),
        ("body", "foot", "mass", 5),
    )
    assert_exact(chains.problem(root, params))


def test_contacts_are_noticed() -> None:
    """What the pass has no contact for falls onto the floor, and meets nothing before."""
    root = mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{chains.TIMESTEP}" integrator="implicitfast"
        cone="elliptic"/><worldbody>
        <geom name="floor" type="plane" size="1 1 1"/><body name="body0" pos="0 0 0.15">
        <joint name="joint0" type="slide" axis="0 0 1" damping="0.1"/>
        <geom name="foot" size="0.1" mass="1"/></body></worldbody>{UNKNOWN}
        <actuator><motor name="actuator0" joint="joint0"/></actuator>
        <sensor><jointpos name="mjSENS_JOINTPOS0" joint="joint0"/></sensor></mujoco>"""
    )
    params = of_elements(("joint", "joint0", "damping", 0.1))
    exact, plain = (chains.problem(root, params, engine=e) for e in ("auto", "reference"))
    point = exact.initial_point()
    for a, b in zip(exact.window_rows(point), plain.window_rows(point), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3 * np.abs(b).max())
    assert "contacts" in exact.derivative_sources()["damping"]


def test_what_the_solver_of_many_joints_leaves_is_no_contact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It stops by the sum over all joints, so that one may be left far from balance for a step."""
    joints = "".join(
        f"""<body><joint name="joint{k}" axis="0 1 0"
        frictionloss="{0.5 + 0.025 * k}" armature="2"/>
        <inertial mass="1" pos="0 0 -0.3" diaginertia="0.1 0.1 0.1"/>
        <body pos="0 0 -0.5"><joint name="end{k}" frictionloss="0.05" axis="0 1 0"/>
        <inertial mass="0.3" pos="0 0 -0.2" diaginertia="0.01 0.01 0.01"/></body></body>"""
        for k in range(40)
    )
    motors = "".join(f'<motor name="actuator{k}" joint="joint{k}"/>' for k in range(40))
    root = mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{chains.TIMESTEP}" integrator="implicitfast"/>
        <worldbody>{joints}</worldbody><actuator>{motors}</actuator>
        <sensor><jointpos name="mjSENS_JOINTPOS0" joint="joint0"/></sensor></mujoco>"""
    )
    params = of_elements(("joint", "joint0", "damping", 0.1))
    problem = chains.problem(root, params, seed=1)
    replaced: list[object] = []
    monkeypatch.setattr(sensitivities, "differentiate_again", lambda *one: replaced.append(one))
    list(problem.window_rows(problem.initial_point()))
    assert problem.derivative_sources() == {"damping": "exact"}
    assert not replaced


def test_derivatives_that_contradict_rollouts_are_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = Chain(1, 2, "IMPLICITFAST", True, False, False)
    root = chains.spec(chain)
    right = parameter_effects.ParameterEffects.at

    def wrong(*arguments: object) -> object:
        found = right(*arguments)  # type: ignore[arg-type]
        changes = found.changes._replace(dof_fields=1.5 * found.changes.dof_fields)
        return replace(found, changes=changes)

    sound = chains.problem(root, parameters(root, chain))
    sound.check_derivatives(sound.initial_point())
    assert set(sound.derivative_sources().values()) == {"exact"}
    monkeypatch.setattr(parameter_effects.ParameterEffects, "at", wrong)
    problem = chains.problem(root, parameters(root, chain))
    problem.check_derivatives(problem.initial_point())
    assert all("off a rollout" in source for source in problem.derivative_sources().values())


def test_chance_that_a_solver_leaves_is_no_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = Chain(1, 2, "IMPLICITFAST", True, False, False)
    root = chains.spec(chain)
    root.option.tolerance = 1e-8
    problem = chains.problem(root, parameters(root, chain))
    right, random = RolloutPool.run_batches, np.random.default_rng(0)

    def by_chance(pool: RolloutPool, jobs: Sequence[BatchSimulation]) -> list[BatchRollout]:
        done = list(right(pool, jobs))
        for job, one in zip(jobs, done, strict=True):
            if job.model.opt.tolerance > SOLVED:
                one.sensordata[:] += 1e-5 * random.normal(size=one.sensordata.shape)
        return done

    monkeypatch.setattr(RolloutPool, "run_batches", by_chance)
    problem.check_derivatives(problem.initial_point())
    assert set(problem.derivative_sources().values()) == {"exact"}


def test_finite_differences_are_not_made_to_be_checked_against_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = Chain(1, 2, "IMPLICITFAST", True, False, False)
    root = chains.spec(chain)
    problem = chains.problem(root, parameters(root, chain))
    for each in problem.exact:
        assert each is not None
        each.give_up("it is asked for")
    made, right = [], sensitivities.finite_differences

    def counted(*arguments: object, **more: object) -> object:
        made.append(arguments)
        return right(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(sensitivities, "finite_differences", counted)
    point = problem.initial_point()
    problem.linearize(point)
    once = len(made)
    assert once > 0
    problem.check_derivatives(point)
    problem.linearize(point)
    assert len(made) == once
