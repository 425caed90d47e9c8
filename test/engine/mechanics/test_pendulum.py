# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One joint alone, simulated and differentiated as a line, against MuJoCo and the whole pass."""

from __future__ import annotations

import chains
import mujoco
import numpy as np
import pytest
from derivative_errors import TOLERANCE, largest_error

from sysid_ros.engine.derivatives.forward_runs import ForwardRuns
from sysid_ros.engine.friction import FrictionParameters, apply_friction_to_spec
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict
from sysid_ros.engine.simulation import BatchSimulation, RolloutPool

BENCH = """<mujoco><option timestep="0.002" tolerance="1e-15" integrator="{integrator}"
gravity="1 -2 -9"/><worldbody>
<body euler="20 30 40" pos="0.3 0.2 0.1"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<body name="arm" euler="5 70 0" pos="0.1 0 0" gravcomp="{lifted}">
<joint name="joint0" type="{kind}" axis="0.3 1 0.2" pos="0.02 0.03 0.05" ref="0.4" armature="0.02"
damping="0.1" frictionloss="0.2"/>
<inertial pos="0.1 0.05 0.02" mass="0.7" fullinertia="0.02 0.03 0.04 0.001 0.002 -0.003"/>
<body pos="0.1 0.2 0.3"><inertial pos="0 0.1 0" mass="0.2" diaginertia="0.01 0.02 0.02"/></body>
</body></body></worldbody>
<actuator><position name="actuator0" joint="joint0" kp="5" kv="0.3" forcerange="-2 2"/></actuator>
<sensor><jointpos name="position" joint="joint0"/><jointvel name="velocity" joint="joint0"/>
<actuatorfrc name="torque" actuator="actuator0"/></sensor></mujoco>"""
BENCHES = [
    (kind, integrator, lifted)
    for kind, integrator in (("hinge", "Euler"), ("hinge", "implicitfast"), ("slide", "Euler"))
    for lifted in (0.0, 0.6)
]

# Their Coriolis forces are implicit, though there are none: MuJoCo alone simulates them.
TURNED = [(kind, "implicit", 0.6) for kind in ("hinge", "slide")]


@pytest.mark.parametrize(("kind", "integrator", "lifted"), BENCHES)
def test_one_joint_alone_moves_as_in_mujoco(kind: str, integrator: str, lifted: float) -> None:
    text = BENCH.format(kind=kind, integrator=integrator, lifted=lifted)
    model = mujoco.MjModel.from_xml_string(text)
    starts = np.array([[0.0, 0.5, 0.3], [1.0, -2.0, -1.0]])
    controls = np.random.default_rng(0).normal(0.0, 2.0, (700, 1))
    job = BatchSimulation(model, starts, controls, np.array([400, 300]))
    runs = ForwardRuns(np.arange(model.nsensordata), RolloutPool(1))
    (plain,) = runs.compared([job])
    (own,) = runs.run_batches([job])
    assert runs.used
    np.testing.assert_allclose(own.sensordata, plain.sensordata, rtol=0.0, atol=1e-10)
    assert np.ptp(own.sensordata[:400, 0]) > 0.3


@pytest.mark.parametrize(("kind", "integrator", "lifted"), [*BENCHES, *TURNED])
def test_its_derivatives_are_those_of_the_whole_pass(
    kind: str, integrator: str, lifted: float
) -> None:
    """Where a mass is identified besides, the pass looks at bodies."""
    root = mujoco.MjSpec.from_string(BENCH.format(kind=kind, integrator=integrator, lifted=lifted))
    jacobians = []
    for shaped in (False, True):
        params = ParameterDict()
        for name, value in (("armature", 0.02), ("damping", 0.1), ("frictionloss", 0.2)):
            modifier = AttributeModifier("joint", "joint0", name)
            params.add(Parameter(name, value, 0.0, 5.0, modifier=modifier))
        if shaped:
            modifier = AttributeModifier("body", "arm", "mass")
            params.add(Parameter("mass", 0.7, 0.0, 5.0, modifier=modifier))
        problem = chains.problem(root, params)
        point = problem.initial_point()
        assert largest_error(problem, point) < TOLERANCE
        assert set(problem.derivative_sources().values()) == {"exact"}
        rows = np.vstack([*problem.window_rows(point)])
        jacobians.append(np.delete(rows, 3, axis=1) if shaped else rows)
    scale = np.abs(jacobians[1]).max(axis=0)
    assert np.all(scale > 0.0)
    np.testing.assert_allclose(jacobians[0] / scale, jacobians[1] / scale, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_its_friction_may_depend_on_the_load(integrator: str) -> None:
    """Gravity is a part of the load."""
    root = mujoco.MjSpec.from_string(BENCH.format(kind="hinge", integrator=integrator, lifted=0.0))
    law = FrictionParameters(
        0.1, 0.1, 0.05, load_friction_motor=0.1, load_friction_external=0.2, alpha=1.5
    )
    apply_friction_to_spec(root, "joint0", law)
    params = ParameterDict()
    for name, value in (("armature", 0.02), ("load_friction_external", 0.2)):
        modifier = AttributeModifier("joint", "joint0", name)
        params.add(Parameter(name, value, 0.0, 5.0, modifier=modifier))
    exact, plain = (chains.problem(root, params, engine=each) for each in ("auto", "reference"))
    point = exact.initial_point()
    assert largest_error(exact, point) < TOLERANCE
    assert set(exact.derivative_sources().values()) == {"exact"}
    for _ in range(2):  # the second is compared with MuJoCo's, the next is compiled
        exact.cost(Point(point.theta + 0.01, point.starts))
        exact.cost(point)
    assert exact.cost(Point(point.theta + 0.02, point.starts)) == pytest.approx(
        plain.cost(Point(point.theta + 0.02, point.starts)), rel=1e-9
    )
    assert exact.simulator.used == "compiled"
