# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rollouts by the pass's own equation of motion against MuJoCo's."""

from __future__ import annotations

from dataclasses import replace

import chains
import mujoco
import numpy as np
import pytest
from chains import Chain
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.engine.derivatives import forward_runs
from sysid_ros.engine.derivatives.forward_runs import ForwardRuns
from sysid_ros.engine.friction import FrictionParameters, apply_friction_to_spec
from sysid_ros.engine.mechanics.actuator_tables import DCMOTOR
from sysid_ros.engine.mechanics.model_tables import Tables, tables_of
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict
from sysid_ros.engine.simulation import BatchRollout, BatchSimulation, RolloutPool

TOLERANCE = 1e-8  # of the largest number of a column
LENGTHS = (150, 40, 1)
CHAINS = st.builds(
    Chain,
    seed=st.integers(0, 10_000),
    joints=st.integers(1, 6),
    integrator=st.sampled_from(["EULER", "IMPLICITFAST"]),
    friction=st.booleans(),
    limits=st.booleans(),
    servos=st.booleans(),
)
LINES = """<mujoco><option timestep="0.002" tolerance="1e-15" integrator="INTEGRATOR"/>
<worldbody>
<body gravcomp="0.4"><joint name="a" axis="0 1 0" armature="0.02" damping="0.1"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.03"/><site name="tip" pos="0.2 0 0"/>
<body pos="0.2 0 0"><joint name="b" axis="0 0 1" armature="0.02" frictionloss="0.1"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.03"/></body></body>
<body pos="0 1 0"><joint name="c" axis="0 1 0" armature="0.02" damping="0.1"/>
<site name="pin" pos="0.1 0 0"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.03"/></body>
<site name="post" pos="0.2 0.5 0.4"/><site name="slide" pos="0 1 -0.5"/>
<body pos="0 2 0"><joint name="d" type="ball" damping="0.1"/><site name="knob" pos="0.1 0.1 0.1"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.03"/></body></worldbody>
<tendon><fixed name="t" damping="0.2" stiffness="2" frictionloss="0.05" limited="true"
range="-0.2 0.2" armature="0.01"><joint joint="a" coef="1"/><joint joint="b" coef="-0.7"/>
</fixed><spatial name="s" damping="0.3" stiffness="5" frictionloss="0.02"><site site="post"/>
<site site="tip"/><pulley divisor="2"/><site site="tip"/><site site="knob"/></spatial></tendon>
<equality><joint joint1="a" joint2="c" polycoef="0.1 1.5 0 0 0"/></equality>
<actuator><position name="p" tendon="t" kp="3" kv="0.2"/>
<position name="k" cranksite="pin" slidersite="slide" cranklength="0.7" kp="8" kv="0.3"/>
<position tendon="s" kp="3" kv="0.2"/><motor site="tip" gear="0 0 1 0 0 0.1"/>
<position joint="a" kp="5" timeconst="0.02"/>
<intvelocity name="i" joint="b" kp="5" actrange="-0.01 0.01"/></actuator>
<sensor><jointpos joint="a"/><jointvel joint="b"/>
<actuatorpos actuator="p"/>
<actuatorvel actuator="p"/><actuatorfrc actuator="i"/>
<tendonpos tendon="t"/>
<tendonvel tendon="t"/><tendonvel tendon="s"/><actuatorpos actuator="k"/>
<actuatorvel actuator="k"/><jointpos joint="c"/></sensor></mujoco>"""


def batches(model: mujoco.MjModel, seed: int = 0) -> list[BatchSimulation]:
    """Two batches of runs of several lengths, from different starts."""
    random = np.random.default_rng(seed)
    found = []
    for steps in (np.array(LENGTHS), np.array(LENGTHS[:1])):
        starts = np.zeros((len(steps), 1 + model.nq + model.nv + model.na))
        starts[:, 0] = random.uniform(0.0, 3.0, len(steps))
        starts[:, 1 : 1 + model.nq] = model.qpos0 + random.uniform(-0.1, 0.1, model.nq)
        for start in starts:
            mujoco.mj_normalizeQuat(model, start[1 : 1 + model.nq])
        starts[:, 1 + model.nq :] = random.uniform(-0.3, 0.3, (len(steps), model.nv + model.na))
        controls = random.normal(0.0, 2.0, (int(steps.sum()), model.nu))
        found.append(BatchSimulation(model, starts, controls, steps))
    return found


def of(model: mujoco.MjModel, threads: int = 1) -> ForwardRuns:
    return ForwardRuns(np.arange(model.nsensordata), RolloutPool(threads))


def off(own: BatchRollout, plain: BatchRollout) -> float:
    """The largest difference, relative to the largest number of its column."""
    return max(
        float(np.max(np.abs(a - b) / np.maximum(np.abs(b).max(axis=0), 1e-3)))
        for a, b in ((own.states, plain.states), (own.sensordata, plain.sensordata))
    )


def assert_agrees(model: mujoco.MjModel, seed: int = 0, threads: int = 1) -> None:
    runs, jobs = of(model, threads), batches(model, seed)
    plain = runs.compared(jobs)
    assert runs.trusted
    own = runs.run_batches(jobs)
    assert runs.used
    assert max(map(off, own, plain)) < TOLERANCE
    for a, b, job in zip(own, plain, jobs, strict=True):
        assert a.diverged.tolist() == b.diverged.tolist() == [False] * len(job.steps)


@settings(max_examples=40, deadline=None)
@given(CHAINS)
def test_random_trees_move_as_in_mujoco(chain: Chain) -> None:
    assert_agrees(chains.spec(chain).compile(), chain.seed)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
@pytest.mark.parametrize("threads", [1, 2])
def test_tendons_equalities_activations_and_thrusters(integrator: str, threads: int) -> None:
    text = LINES.replace("INTEGRATOR", integrator)
    assert_agrees(mujoco.MjModel.from_xml_string(text), threads=threads)


@pytest.mark.parametrize("limits", [False, True])
def test_friction_of_gears(limits: bool) -> None:
    root = chains.spec(Chain(5, 2, "IMPLICITFAST", True, limits, True))
    law = FrictionParameters(
        0.2, 0.3, 0.1, load_friction_motor=0.1, load_friction_external=0.1, alpha=1.5
    )
    apply_friction_to_spec(root, "joint0", law)
    runs = of(model := root.compile())
    plain = runs.compared(jobs := batches(model))
    assert max(map(off, runs.run_batches(jobs), plain)) < TOLERANCE
    assert runs.trusted  # where a limit acts MuJoCo has simulated


def test_a_model_with_other_values_is_followed() -> None:
    root = chains.spec(Chain(2, 4, "IMPLICITFAST", True, False, True))
    runs = of(model := root.compile())
    runs.compared(batches(model))
    for name, value in (("armature", 0.3), ("frictionloss", 0.05)):
        setattr(root.joint("joint1"), name, value)
        other = root.compile()
        jobs = batches(other)
        own = runs.run_batches(jobs)
        assert max(map(off, own, of(other).compared(jobs))) < TOLERANCE
    root.body("body2").pos = [0.4, -0.2, 0.3]
    jobs = batches(root.compile())
    assert max(map(off, runs.run_batches(jobs), of(jobs[0].model).compared(jobs))) < TOLERANCE


@pytest.mark.parametrize("what", ["RK4", "frame sensor", "connection"])
def test_what_is_not_covered_is_simulated_by_mujoco(what: str) -> None:
    root = chains.spec(Chain(1, 2, "RK4" if what == "RK4" else "EULER", False, False, True))
    if what == "frame sensor":
        root.add_sensor(
            type=mujoco.mjtSensor.mjSENS_FRAMEPOS, objtype=mujoco.mjtObj.mjOBJ_XBODY,
            objname="body1",
        )  # fmt: skip
    elif what == "connection":
        one = root.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, name1="body0", name2="body1")
        one.objtype = mujoco.mjtObj.mjOBJ_BODY
    runs = of(model := root.compile())
    jobs = batches(model)
    plain = runs.compared(jobs)
    assert runs.trusted is None
    assert max(map(off, runs.run_batches(jobs), plain)) == 0.0
    assert not runs.used


def met(apart: float) -> mujoco.MjModel:
    """A falling slide and the ball that it may land on, so far below its own."""
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><geom size="0.1" pos="0 0 {-0.2 - apart}"/>
        <body><joint name="z" type="slide" axis="0 0 1" armature="0.1"/>
        <geom size="0.1"/></body></worldbody><sensor><jointpos joint="z"/></sensor></mujoco>"""
    )


def test_what_could_touch_and_does_not_is_simulated() -> None:
    assert_agrees(met(3.0))  # further away than it falls within the longest run


def test_what_touches_is_left_to_mujoco() -> None:
    runs, jobs = of(model := met(0.2)), batches(met(3.0))
    runs.compared(jobs)  # of the same model but for where the ball is
    before = runs.trusted
    touching = [replace(job, model=model) for job in jobs]
    plain = runs._rollouts.run_batches(touching)
    assert max(map(off, runs.run_batches(touching), plain)) == 0.0
    assert before is True and runs.trusted is False
    assert not runs.used


def test_on_bodies_that_stand_still() -> None:
    assert_agrees(mujoco.MjModel.from_xml_string(chains.STANDS))


def test_bodies_in_a_fluid() -> None:
    root = chains.spec(Chain(1, 2, "EULER", False, False, True))
    root.option.density, root.option.viscosity = 30.0, 0.4
    runs = of(model := root.compile())
    jobs = batches(model)
    plain = runs.compared(jobs)
    assert runs.trusted
    assert max(map(off, runs.run_batches(jobs), plain)) < TOLERANCE


@pytest.mark.skipif(DCMOTOR < 0, reason="this MuJoCo has no DC motors")
@pytest.mark.parametrize("controlled", ["", 'input="pos" controller="5 0 0.2 0 0 0"'])
def test_dc_motors(controlled: str) -> None:
    """One with inductance, beside one without."""
    assert_agrees(
        mujoco.MjModel.from_xml_string(
            f"""<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody><body>
            <joint name="a" axis="0 1 0" damping=".01" armature=".01"/>
            <inertial pos=".1 0 0" mass="1" diaginertia=".01 .01 .01"/><body pos=".2 0 0">
            <joint name="b" axis="0 1 0" damping=".1"/>
            <inertial pos=".1 0 0" mass=".5" diaginertia=".01 .01 .01"/></body></body></worldbody>
            <actuator><dcmotor joint="a" motorconst="0.4 0.4" resistance="2" inductance="0.01 0"
            ctrlrange="-2 2" {controlled}/>
            <dcmotor joint="b" motorconst="0.4 0.4" resistance="2"/></actuator>
            <sensor><jointpos joint="a"/><jointvel joint="b"/></sensor></mujoco>"""
        )
    )


def test_what_integrators_hold_together_is_left_to_mujoco() -> None:
    runs = of(model := chains.spec(Chain(1, 2, "IMPLICIT", False, False, True)).compile())
    runs.compared(batches(model))
    runs.run_batches(batches(model))
    assert runs.trusted is None
    assert not runs.used


def test_a_difference_ends_the_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = of(model := chains.spec(Chain(1, 2, "EULER", False, False, True)).compile())
    jobs = batches(model)

    def heavier(of_model: mujoco.MjModel) -> Tables:
        tables = tables_of(of_model)
        return tables._replace(gravity=tables.gravity * (1.0 + 1e-4))

    monkeypatch.setattr(forward_runs, "tables_of", heavier)
    plain = runs.compared(jobs)
    assert runs.trusted is False
    assert max(map(off, runs.run_batches(jobs), plain)) == 0.0
    assert not runs.used


def test_a_run_that_breaks_off_is_mujocos() -> None:
    root = chains.spec(Chain(1, 2, "EULER", False, False, False))
    root.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    runs = of(model := root.compile())
    runs.compared(batches(model))
    jobs = [replace(job, starts=job.starts.copy()) for job in batches(model)]
    jobs[0].starts[1, 1 + model.nq] = 1e9
    plain = runs._rollouts.run_batches(jobs)
    own = runs.run_batches(jobs)
    assert own[0].diverged.tolist() == plain[0].diverged.tolist() == [False, True, False]
    np.testing.assert_array_equal(np.isnan(own[0].states), np.isnan(plain[0].states))


def test_a_fit_simulates_by_it_where_mujoco_agrees() -> None:
    root = chains.spec(Chain(3, 3, "IMPLICITFAST", True, False, True))
    modifier = AttributeModifier("joint", "joint0", "armature")
    params = ParameterDict()
    params.add(Parameter("armature", 0.1, 0.0, 1.0, modifier=modifier))
    problem, plain = (chains.problem(root, params, engine=e) for e in ("auto", "reference"))
    point = problem.initial_point()
    costs = [problem.cost(replace(point, theta=point.theta * (1 + 0.1 * k))) for k in range(4)]
    others = [plain.cost(replace(point, theta=point.theta * (1 + 0.1 * k))) for k in range(4)]
    assert problem.simulator.used == "compiled"
    assert plain.simulator.used == "mujoco"
    np.testing.assert_allclose(costs, others, rtol=1e-9)
