# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives in a medium, and of what integrators treat implicitly but at single joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chains
import mujoco
import numpy as np
import pytest
from chains import Chain, of_elements
from derivative_errors import assert_exact

from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict

INTEGRATORS = ("EULER", "IMPLICITFAST", "IMPLICIT", "RK4")


def mechanism(chain: Chain, shaped: tuple[str, ...] = ()) -> tuple[mujoco.MjSpec, ParameterDict]:
    """A mechanism in a wind with parameters of its first joint, some bodies being ellipsoids."""
    root, random = chains.spec(chain), np.random.default_rng(chain.seed)
    root.option.density, root.option.viscosity = 200.0, 0.5
    root.option.wind = [1.0, 2.0, -0.5]
    for name in shaped:
        hull = root.body(name).add_geom(
            name=f"{name}_hull", type=mujoco.mjtGeom.mjGEOM_ELLIPSOID,
            size=random.uniform(0.08, 0.25, 3), pos=random.uniform(-0.1, 0.1, 3),
            quat=random.normal(size=4), mass=0.0,
        )  # fmt: skip
        hull.fluid_ellipsoid = 1.0
    params = of_elements(
        ("joint", "joint0", "armature", root.joint("joint0").armature),
        ("body", "body0", "mass", root.body("body0").mass),
        ("actuator", "actuator0", "gear", root.actuator("actuator0").gear[0]),
    )
    return root, params


def place(attribute: str, name: str, first: float) -> Callable[[Any, Parameter], None]:
    """A modifier of the second number of a body's place, or of its inertial frame."""

    def move(spec: Any, parameter: Parameter) -> None:
        values = np.array(getattr(spec.body(name), attribute))
        values[:2] = first, parameter.value[0]
        setattr(spec.body(name), attribute, values)

    return move


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(("seed", "floating"), [(3, False), (5, True)])
def test_boxes_in_a_wind(integrator: str, seed: int, floating: bool) -> None:
    """Also by the medium itself, and by the places of bodies and of their boxes."""
    chain = Chain(seed, 3, integrator, False, False, True, floating=floating)
    root, params = mechanism(chain)
    options = ("density", 200.0), ("viscosity", 0.5), ("wind", [1.0, 2.0, -0.5])
    for name, value in (*options, ("gravity", root.option.gravity)):
        modifier, own = AttributeModifier("option", "option", name), np.array(value)
        params.add(Parameter(name, own, own - 5.0, own + 5.0, modifier=modifier))
    for attribute in ("ipos", "iquat", "pos", "quat"):
        modify = place(attribute, "body1", 0.9)
        params.add(Parameter(attribute, 0.1, -1.0, 1.0, modifier=modify))
    assert_exact(chains.problem(root, params, seed=seed))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(("seed", "floating"), [(3, False), (2, True)])
def test_ellipsoids_in_a_wind(integrator: str, seed: int, floating: bool) -> None:
    chain = Chain(seed, 3, integrator, False, False, True, floating=floating)
    root, params = mechanism(chain, ("body0", "body2", *(["base"] if floating else [])))
    wind = np.array([1.0, 2.0, -0.5])
    modifier = AttributeModifier("option", "option", "wind")
    params.add(Parameter("wind", wind, wind - 5.0, wind + 5.0, modifier=modifier))
    params.add(Parameter("pos", 0.1, -1.0, 1.0, modifier=place("pos", "body1", 0.9)))
    assert_exact(chains.problem(root, params, seed=seed))


def test_the_shape_that_a_medium_flows_around_is_left_to_finite_differences() -> None:
    root, params = mechanism(Chain(3, 2, "IMPLICITFAST", False, False, True), ("body0",))

    def grow(spec: Any, parameter: Parameter) -> None:
        spec.geom("body0_hull").size = [parameter.value[0], 0.1, 0.2]

    params.add(Parameter("size", 0.15, 0.05, 0.5, modifier=grow))
    problem = chains.problem(root, params)
    list(problem.window_rows(problem.initial_point()))
    sources = problem.derivative_sources()
    assert sources.pop("size") == "finite differences: it changes what a fluid flows around"
    assert set(sources.values()) == {"exact"}


@pytest.mark.parametrize(
    ("seed", "friction", "limits", "floating"),
    [(3, True, False, False), (4, False, True, False), (7, True, True, False),
     (1, False, False, True), (2, False, False, True)],
)  # fmt: skip
def test_the_implicit_integrator(seed: int, friction: bool, limits: bool, floating: bool) -> None:
    """Fast enough that Coriolis forces matter, by inertia and geometry too."""
    chain = Chain(seed, 3, "IMPLICIT", friction, limits, True, floating=floating)
    root = chains.spec(chain)
    root.body("body0").gravcomp = 0.7
    params = of_elements(
        ("joint", "joint0", "damping", float(np.ravel(root.joint("joint0").damping)[0])),
        ("body", "body1", "mass", root.body("body1").mass), ("body", "body0", "gravcomp", 0.7),
    )  # fmt: skip
    for attribute in ("ipos", "pos"):
        modify = place(attribute, "body1", 0.2)
        params.add(Parameter(attribute, 0.1, -1.0, 1.0, modifier=modify))
    assert_exact(chains.problem(root, params, seed=seed))


VESSEL = """<mujoco><option timestep="0.002" integrator="{integrator}" density="{density}"
wind="1 -2 0.5" tolerance="1e-15" iterations="200"><flag contact="disable"/></option><worldbody>
<site name="post" pos="0.3 0.2 0.5"/>
<body name="hull" gravcomp="0.7" quat="1 .2 .3 -.1"><freejoint/><inertial pos="0.05 0.02 -0.03"
mass="2" fullinertia="0.02 0.03 0.04 0.001 0.002 -0.003"/>{shape}<site name="eye" pos="0.1 0.2 0"/>
<site name="t0" pos=".2 .1 0" euler="0 40 45"/><site name="t1" pos="-.2 .1 0" euler="30 0 45"/>
<site name="imu" pos=".1 0 .1"/></body>
<body name="rod" pos="1 0 0"><joint name="swing" axis="0 1 0" damping=".1"/>
<inertial pos="0 0 -0.2" mass="1" diaginertia=".02 .02 .01"/><site name="tip" pos="0 0 -.3"/></body>
</worldbody>{tie}<actuator><motor name="a0" site="t0" gear="0 0 3 .2 0 1"/>
<motor name="a1" site="t1" gear="1 0 2 0 .3 0"/><motor name="a2" joint="swing"/></actuator>
<sensor><gyro name="gyro" site="imu"/><accelerometer name="accelerometer" site="imu"/>
<framepos name="place" objtype="xbody" objname="hull"/>
<framequat name="orientation" objtype="xbody" objname="hull"/>
<jointpos name="angle" joint="swing"/></sensor></mujoco>"""
HULL = """<geom type="ellipsoid" size=".25 .16 .12" mass="0" pos="0.02 0 0.01" euler="10 0 20"
fluidshape="ellipsoid"/>"""
CABLE = """<tendon><spatial name="cable" stiffness="30" damping="2" springlength=".1">
<site site="{end}"/><site site="eye"/></spatial></tendon>"""
TIES = {
    "nothing": "", "cable": CABLE.format(end="post"), "rope": CABLE.format(end="tip"),
    "connect": """<equality><connect body1="hull" body2="rod" anchor="0.1 0.1 0.1"
    solref="0.05 1"/></equality>""",
    "weld": '<equality><weld body1="hull" body2="rod" solref="0.05 1"/></equality>',
}  # fmt: skip


@pytest.mark.skipif(mujoco.mj_version() < 3_011_000, reason="it has another rule")
@pytest.mark.parametrize("integrator", ["implicitfast", "implicit"])
@pytest.mark.parametrize(
    ("density", "shape", "tie"),
    [(0, "", "nothing"), (0, "", "cable"), (0, "", "rope"), (0, "", "weld"),
     (300, "", "connect"), (300, HULL, "nothing"), (300, HULL, "rope")],
)  # fmt: skip
def test_a_body_that_flies_alone(integrator: str, density: int, shape: str, tie: str) -> None:
    """In MuJoCo 4 implicitfast turns it by its next velocity, also where something holds it."""
    root = mujoco.MjSpec.from_string(
        VESSEL.format(integrator=integrator, density=density, shape=shape, tie=TIES[tie])
    )
    params = of_elements(
        ("body", "hull", "mass", 2.0), ("body", "rod", "mass", 1.0),
        ("joint", "swing", "damping", 0.1),
    )  # fmt: skip
    assert_exact(chains.problem(root, params, seed=3))
