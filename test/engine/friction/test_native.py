# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The native code against the NumPy reference, step by step, and where several threads run it."""

from __future__ import annotations

import copy
import subprocess
import sys
import threading
import time
from dataclasses import replace

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from friction_reference import FrictionStepper
from patience import PATIENCE

from sysid_ros.engine.compiled import OPTIONS_OF_WHOLES
from sysid_ros.engine.friction import (
    FrictionParameters,
    apply_friction,
    apply_friction_to_spec,
    friction_callback,
    joint_frictions,
)
from sysid_ros.engine.friction.callback import CallbackInUseError
from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.errors import ModelError

# A driven arm whose elbow runs into its limit and whose hand hits the ground.
ARM = """<mujoco>
<option timestep="0.002" integrator="{integrator}" tolerance="1e-12" iterations="100">
  <flag island="{islands}"/></option>
<worldbody>
  <geom type="plane" size="3 3 0.1" pos="0 0 -0.45"/>
  <body><joint name="shoulder" axis="0 1 0" damping="0.05" user="4 5"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
    <body pos="0.3 0 0">
      <joint name="elbow" axis="0 1 0" limited="true" range="-60 40"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/></body></body>
  <body pos="1 0 0"><joint name="other" type="slide" axis="0 0 1" range="-1 1" limited="true"/>
    <geom size="0.05" mass="1"/></body>
</worldbody>
<actuator><position name="servo" joint="shoulder" kp="20" forcerange="-6 6"{damping}/>
  <motor joint="other"/></actuator>
<sensor><jointpos joint="shoulder"/></sensor>
</mujoco>"""
BASE = FrictionParameters(0.05, 0.1, dtheta_stribeck=0.3, alpha=1.2)
FRICTIONS = {
    "m1": BASE,
    "m2": replace(BASE, friction_stribeck=0.2),
    "m3": replace(BASE, load_friction_base=0.1),
    "m4": replace(
        BASE, friction_stribeck=0.2, load_friction_base=0.1, load_friction_stribeck=0.15
    ),
    "m5": replace(
        BASE, friction_stribeck=0.2, load_friction_motor=0.1, load_friction_external=0.05,
        load_friction_motor_stribeck=0.02, load_friction_external_stribeck=0.1,
    ),
    "m6": replace(
        BASE, friction_stribeck=0.2, load_friction_motor=0.1, load_friction_external=0.05,
        load_friction_motor_stribeck=0.02, load_friction_external_stribeck=0.1,
        load_friction_motor_quad=0.03, load_friction_external_quad=0.04,
    ),
}  # fmt: skip


def arm(
    friction: FrictionParameters,
    integrator: str = "implicitfast",
    islands: str = "enable",
    damping: str = "",
) -> mujoco.MjModel:
    text = ARM.format(integrator=integrator, islands=islands, damping=damping)
    spec = mujoco.MjSpec.from_string(text)
    for joint in ("shoulder", "elbow"):
        apply_friction_to_spec(spec, joint, friction)
    return spec.compile()


@pytest.mark.parametrize("islands", ["enable", "disable"])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
@pytest.mark.parametrize("name", FRICTIONS)
def test_native_steps_are_the_reference_s(name: str, integrator: str, islands: str) -> None:
    """Also through limits and contacts, whose force of the step before is part of the load."""
    model = arm(FRICTIONS[name], integrator, islands)
    assert set(joint_frictions(model)) == ({"shoulder", "elbow"} if name != "m1" else set())
    native, plain = mujoco.MjData(model), mujoco.MjData(model)
    stepper = FrictionStepper(model)
    touched = False
    for k in range(400):
        native.ctrl[0] = plain.ctrl[0] = 1.2 * np.sin(0.01 * k)
        with friction_callback():
            mujoco.mj_step(model, native)
        stepper.step(plain)
        np.testing.assert_allclose(native.qpos, plain.qpos, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(native.efc_frictionloss, plain.efc_frictionloss, atol=1e-7)
        touched |= plain.nefc > plain.nf
    assert touched
    assert np.ptp(native.qpos[:2]) > 0.05


@pytest.mark.skipif(
    not hasattr(mujoco.MjModel, "actuator_dampingpoly"),
    reason="actuators have no damping in this MuJoCo",
)
def test_an_actuator_s_damping_is_the_motor_s_torque() -> None:
    """Back-EMF as damping, and as a share of the actuator's force that falls with the velocity."""
    damped, biased = arm(FRICTIONS["m6"], damping=' gear="2" damping="0.03"'), arm(FRICTIONS["m6"])
    biased.actuator_gear[0, 0] = 2.0
    biased.actuator_biasprm[0, 2] = -0.03
    in_parent = copy.copy(damped)
    in_parent.actuator_trntype[0] = mujoco.mjtTrn.mjTRN_JOINTINPARENT  # the same for a hinge
    limits = []
    for model in (biased, damped, in_parent):
        data = mujoco.MjData(model)
        data.ctrl[0], data.qvel[0] = 0.3, 1.5
        with friction_callback():
            mujoco.mj_forward(model, data)
        limits.append(np.array(data.efc_frictionloss[:2]))
    np.testing.assert_allclose(limits[1:], [limits[0], limits[0]], rtol=1e-12)
    polynomial = arm(FRICTIONS["m6"], damping=' damping="0.03 0.02 0.01"')
    native, plain = mujoco.MjData(polynomial), mujoco.MjData(polynomial)
    stepper = FrictionStepper(polynomial)
    for k in range(300):
        native.ctrl[0] = plain.ctrl[0] = 1.2 * np.sin(0.02 * k)
        with friction_callback():
            mujoco.mj_step(polynomial, native)
        stepper.step(plain)
        np.testing.assert_allclose(native.efc_frictionloss, plain.efc_frictionloss, atol=1e-9)


def test_friction_acts_in_the_same_step_under_runge_kutta() -> None:
    """A joint under less than its budget at rest stays, in every stage."""
    held = replace(BASE, friction_base=0.2, friction_stribeck=5.0)
    model = arm(held, "RK4")
    data = mujoco.MjData(model)
    with friction_callback():
        for _ in range(500):
            mujoco.mj_step(model, data)
    assert np.abs(data.qpos[:2]).max() < 1e-4
    for _ in range(500):
        mujoco.mj_step(model, data)
    assert np.abs(data.qpos[:2]).max() > 0.1  # Coulomb friction alone does not hold it


def test_a_stiffened_joint_does_not_creep() -> None:
    """0.98 N m under a limit of 1.5 N m."""
    spec = mujoco.MjSpec.from_string(
        """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/>
        <geom size="0.01" mass="1" pos="0.1 0 0"/></body></worldbody></mujoco>"""
    )
    apply_friction_to_spec(spec, "j", FrictionParameters(friction_base=1.5))
    model = spec.compile()
    data = mujoco.MjData(model)
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert abs(data.qvel[0]) < 1e-4


def rollouts(
    models: list[mujoco.MjModel], threads: int, positions: list[float] | None = None
) -> list[np.ndarray]:
    control = np.zeros((400, 2))
    control[:, 0] = np.sin(0.01 * np.arange(400))
    starts = []
    for model, position in zip(models, positions or [0.0] * len(models), strict=True):
        data = mujoco.MjData(model)
        data.qpos[0] = position
        start = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
        mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        starts.append(start)
    with RolloutPool(threads) as pool:
        return [r.states for r in pool.rollout(models, starts, [control] * len(models))]


def test_threads_do_not_race_and_simulations_do_not_leak_into_each_other() -> None:
    """Forty rollouts of six models on one thread, on eight, and in the opposite order."""
    six = [arm(friction) for friction in FRICTIONS.values()]
    models = [six[i % 6] for i in range(40)]
    positions = [0.01 * i for i in range(40)]
    alone = rollouts(models, 1, positions)
    for _ in range(3):
        for a, b in zip(alone, rollouts(models, 8, positions), strict=True):
            np.testing.assert_array_equal(a, b)
    backwards = rollouts(models[::-1], 1, positions[::-1])
    for a, b in zip(alone, backwards[::-1], strict=True):
        np.testing.assert_array_equal(a, b)
    ends = [states[-1, 1] for states in rollouts(six, 2)]
    assert len(set(ends)) == 6  # every model's friction acts


def test_other_models_are_left_alone_and_the_callback_goes() -> None:
    plain = mujoco.MjModel.from_xml_string(
        ARM.format(integrator="Euler", islands="enable", damping="")
    )
    before = rollouts([plain], 1)[0]
    with friction_callback():
        np.testing.assert_array_equal(rollouts([plain, arm(FRICTIONS["m6"])], 2)[0], before)
        assert mujoco.get_mjcb_control() is not None
    assert mujoco.get_mjcb_control() is None


def test_blocks_of_several_threads_overlap() -> None:
    """The callback stays until the last block has ended."""
    leave = threading.Event()

    def hold() -> None:
        with friction_callback():
            leave.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    with friction_callback():
        thread.start()
    try:
        assert mujoco.get_mjcb_control() is not None
    finally:
        leave.set()
        thread.join()
    assert mujoco.get_mjcb_control() is None


def test_another_control_callback_is_not_replaced() -> None:
    def mine(model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Do nothing."""

    mujoco.set_mjcb_control(mine)
    try:
        with pytest.raises(CallbackInUseError, match="in the loop instead"), friction_callback():
            pass
        assert mujoco.get_mjcb_control() is mine
    finally:
        mujoco.set_mjcb_control(None)


def test_m6_on_every_joint_costs_at_most_half_more() -> None:
    models = [arm(FRICTIONS["m1"]), arm(FRICTIONS["m6"])]
    seconds: list[list[float]] = [[], []]
    for _ in range(40):  # until both once have a processor to themselves
        for model, spent in zip(models, seconds, strict=True):
            began = time.process_time()
            rollouts([model] * 8, 1)
            spent.append(time.process_time() - began)
        if min(seconds[1]) < 1.5 * min(seconds[0]):
            return
    pytest.fail(f"m6 takes {min(seconds[1]) / min(seconds[0]):.2f} times as long as m1")


def test_friction_goes_where_the_model_goes() -> None:
    model = arm(FRICTIONS["m6"])
    spec = mujoco.MjSpec.from_string(ARM.format(integrator="Euler", islands="enable", damping=""))
    apply_friction_to_spec(spec, "elbow", FRICTIONS["m4"])
    again = mujoco.MjModel.from_xml_string(spec.to_xml())
    assert joint_frictions(again) == {"elbow": FRICTIONS["m4"]}
    assert list(again.jnt_user[0, :2]) == [4.0, 5.0]  # what the user wrote there
    apply_friction(model, "elbow", FRICTIONS["m5"])
    assert joint_frictions(model)["elbow"] == FRICTIONS["m5"]
    with pytest.raises(ModelError, match=r"'other' has no friction model.*shoulder, elbow"):
        apply_friction(model, "other", FRICTIONS["m5"])


def test_a_joint_s_name_that_is_a_number_is_no_number() -> None:
    spec = mujoco.MjSpec.from_string(
        """<mujoco><worldbody><body><joint name="1"/><geom size="1"/></body>
        <body><joint name="0"/><geom size="1"/></body></worldbody></mujoco>"""
    )
    for joint in "01":
        apply_friction_to_spec(spec, joint, FRICTIONS["m2"])
    model = spec.compile()
    apply_friction(model, "0", FRICTIONS["m4"])
    assert joint_frictions(model) == {"1": FRICTIONS["m2"], "0": FRICTIONS["m4"]}


def test_a_joint_without_a_name_has_its_friction_too() -> None:
    spec = mujoco.MjSpec.from_string(ARM.format(integrator="Euler", islands="enable", damping=""))
    apply_friction_to_spec(spec, "elbow", FRICTIONS["m4"])
    text = spec.to_xml().replace('name="elbow"', "")
    model = mujoco.MjModel.from_xml_string(text)
    assert list(joint_frictions(model)) == ["1"]
    assert list(FrictionStepper(model).budgets(mujoco.MjData(model))) == [1]
    apply_friction(model, "1", FRICTIONS["m2"])
    assert joint_frictions(model) == {"1": FRICTIONS["m2"]}


def test_joints_that_cannot_have_friction_are_refused() -> None:
    spec = mujoco.MjSpec.from_string(
        """<mujoco><worldbody><body><joint name="ball" type="ball"/><geom size="1"/></body>
        </worldbody></mujoco>"""
    )
    with pytest.raises(ModelError, match="'ball' cannot have a friction model"):
        apply_friction_to_spec(spec, "ball", BASE)
    switched_off = mujoco.MjSpec.from_string(
        """<mujoco><option><flag actuation="disable"/></option><worldbody><body><joint name="j"/>
        <geom size="1"/></body></worldbody></mujoco>"""
    )
    with pytest.raises(ModelError, match="flag actuation"):
        apply_friction_to_spec(switched_off, "j", BASE)


@pytest.mark.skipif(not OPTIONS_OF_WHOLES, reason="not tried with this version of numba")
def test_a_kept_callback_loads_without_what_compiles_it() -> None:
    """Half a second of numba's tables and SciPy's linear algebra, in each process."""
    load = "from sysid_ros.engine.friction.native import native_callback; native_callback()\n"
    told = "import sys; print('scipy.linalg' in sys.modules, 'numba.np.linalg' in sys.modules)"
    for program in (load, load + told):  # the first keeps it, unless it is kept
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert not done.returncode, done.stderr
    assert done.stdout.split() == ["False", "False"]
