# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives through contacts of moving bodies, against central differences of rollouts."""

from __future__ import annotations

import chains
import mujoco
import numpy as np
import pytest
from derivative_errors import TOLERANCE, jacobians, largest_error

from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.problem.windowed_problem import WindowedProblem

# Two arms on one driven carriage, and what lies between them.
HELD = """<mujoco><option timestep="{timestep}" integrator="{integrator}" cone="{cone}"
  impratio="2" tolerance="1e-15" iterations="200"/>
  <default><geom condim="{condim}" friction="0.8 0.02 0.01" solref="0.02 1"/></default>
  <asset><mesh name="stone" vertex="-0.05 -0.03 -0.02 0.06 -0.02 -0.03 0.05 0.03 -0.025
  -0.04 0.04 -0.015 -0.03 -0.02 0.03 0.04 -0.03 0.02 0.03 0.02 0.04 -0.02 0.03 0.03 0 0 -0.035
  0.07 0 0.01 -0.07 0 0.005"/></asset><worldbody>
  <body name="carriage" euler="{turn}"><joint name="joint0" axis="0 0.3 1" damping="1"
  stiffness="30"/><inertial mass="1" pos="0 0 0" diaginertia="0.01 0.02 0.03"/>
  <body name="left" pos="-0.1 0 0"><joint name="joint1" axis="0.1 1 0" damping="0.1"
  stiffness="{grip}" springref="20"/><geom {left} pos="0.02 0.01 0.15" mass="0.3"/></body>
  <body name="right" pos="0.12 0 0"><joint name="joint2" axis="0 1 0.1" damping="0.1"
  stiffness="{grip}" springref="-20"/><geom {right} pos="-0.02 0 0.15" mass="0.2"/></body></body>
  <body name="held" euler="{turn}" pos="{place}"><freejoint/><geom {held} mass="0.2"/></body>
  </worldbody>{contact}<actuator><motor name="actuator0" joint="joint0"/>
  <motor name="actuator1" joint="joint1" gear="0.1"/></actuator><sensor>
  <jointpos name="mjSENS_JOINTPOS0" joint="joint0"/><jointpos name="one" joint="joint1"/>
  <jointpos name="two" joint="joint2"/><framepos name="p" objtype="xbody" objname="held"/>
  <framequat name="o" objtype="xbody" objname="held"/></sensor></mujoco>"""
SPHERE, CAPSULE = 'type="sphere" size="0.04"', 'type="capsule" size="0.03 0.05" euler="{} {} 10"'
BOX, CYLINDER = (
    f'type="{kind}" size="0.04 0.05 0.06" euler="{{}} {{}} 5"' for kind in ("box", "cylinder")
)
STONE = 'type="mesh" mesh="stone" euler="{} {} 0"'
OF_MODEL = (
    ("joint", "joint1", "damping", 0.1), ("joint", "joint2", "stiffness", 8.0),
    ("body", "left", "mass", 0.3), ("body", "held", "mass", 0.2),
)  # fmt: skip


def problem_of(text: str, attributes: tuple[tuple[str, str, str, float], ...]) -> WindowedProblem:
    params = ParameterDict()
    gravity = "option", "option", "gravity", np.array([0.0, 0.0, -9.81])
    for element, name, attribute, value in (gravity, *attributes):
        modifier = AttributeModifier(element, name, attribute)
        low, high = value - 5.0, value + 5.0
        params.add(Parameter(f"{name}_{attribute}", value, low, high, modifier=modifier))
    return chains.problem(mujoco.MjSpec.from_string(text), params)


def doubted(problem: WindowedProblem) -> list[float]:
    """The shares of steps that were differenced."""
    return [each.doubted for each in problem.exact if each is not None]


@pytest.mark.parametrize("seed", range(12))
def test_what_fingers_hold(seed: int) -> None:
    """Fingers on a shaken carriage press on what lies free between them, and let it slip."""
    random = np.random.default_rng(seed)
    finger, held = random.choice([SPHERE, CAPSULE]), random.choice([SPHERE, CAPSULE, BOX, STONE])
    one, two = random.uniform(-40.0, 40.0, 2)
    text = HELD.format(
        timestep=chains.TIMESTEP, cone=("elliptic", "pyramidal")[seed % 2],
        integrator=("Euler", "implicitfast")[seed // 2 % 2], condim=random.choice([1, 3, 4, 6]),
        grip=8, left=finger.format(one, 5), right=finger.format(two, -8),
        held=held.format(two, one), place="0.01 0 0.15", turn="0 10 0", contact="",
    )  # fmt: skip
    problem = problem_of(text, OF_MODEL)
    error = largest_error(problem, problem.initial_point())
    assert set(problem.derivative_sources().values()) == {"exact"}
    assert error < TOLERANCE
    assert doubted(problem)[0] < 0.1


# A tray on three round feet, on a box, that what swings above it shakes.
STANDS = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
  <geom type="box" size="1 1 0.1" pos="0 0 -0.1"/><body name="tray" pos="0 0 {height}"><freejoint/>
  <geom size="0.02" pos="0 0 0.05" mass="1"/><geom {foot} pos="0.12 0 0"/>
  <geom {foot} pos="-0.06 0.1 0"/><geom {foot} pos="-0.07 -0.1 0"/>
  <body name="rod" pos="0 0 0.1"><joint name="joint0" axis="0.3 1 0" damping="0.1" stiffness="3"/>
  <geom type="capsule" fromto="0 0 0 0 0 0.1" size="0.01" mass="0.2"/></body></body></worldbody>
  <actuator><motor name="actuator0" joint="joint0" gear="0.1"/></actuator><sensor>
  <jointpos name="mjSENS_JOINTPOS0" joint="joint0"/><framepos name="p" objtype="xbody"
  objname="tray"/><framequat name="o" objtype="xbody" objname="tray"/></sensor></mujoco>"""


@pytest.mark.parametrize(
    ("foot", "height"),
    [('type="ellipsoid" size="0.04 0.05 0.03" mass="0.1"', 0.0299),
     ('type="cylinder" size="0.03 0.02" euler="50 20 0" mass="0.1"', 0.0351)],
)  # fmt: skip
def test_round_feet_on_a_box_that_mujoco_finds_to_a_micrometre(foot: str, height: float) -> None:
    """Its depth is good to that, its place to a tenth of a millimetre."""
    attributes = ("joint", "joint0", "damping", 0.1), ("body", "tray", "mass", 1.3)
    problem = problem_of(STANDS.format(foot=foot, height=height), attributes)
    point = problem.initial_point()
    found, plain = jacobians(problem, point), jacobians(problem.with_groups(problem.groups), point)
    assert doubted(problem)[0] < 0.05
    sizes = np.linalg.norm(plain[0], axis=0)  # of the window before feet slip
    errors = np.linalg.norm(found[0] - plain[0], axis=0) / np.maximum(sizes, 1e-3 * sizes.max())
    assert np.median(errors) < 2e-3
    assert np.quantile(errors, 0.9) < 1e-2
