# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots without a fixed base: free and ball joints as starts, orientations as residuals."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.least_squares.search_progress import FitStatus
from sysid_ros.engine.windows.model_group import model_group

TIMESTEP = 0.005
FINER = 10  # the robot's own steps per step of the model
DRONE = """<mujoco><option timestep="0.005" integrator="RK4"/><worldbody>
  <body name="box" pos="0 0 1"><freejoint name="free"/>
    <inertial pos="{com} 0.01 0" mass="{mass}" diaginertia="{inertia}"/>
    <site name="marker" pos="0.05 0.02 0.1" euler="20 0 40"/><site name="imu"/></body></worldbody>
  <sensor><framepos name="where" objtype="site" objname="marker"/>
    <framequat name="turned" objtype="site" objname="marker"/>
    <gyro name="gyro" site="imu"/></sensor></mujoco>"""
BALL = """<mujoco><option timestep="0.005" integrator="implicitfast"/><worldbody>
  <body name="bob"><joint name="ball" type="ball" damping="{damping}" armature="{armature}"/>
    <inertial pos="0 0 -0.3" mass="0.5" diaginertia="0.004 0.005 0.003"/>
    <site name="tip" pos="0 0 -0.3"/></body></worldbody>
  <sensor><ballquat name="turned" joint="ball"/></sensor></mujoco>"""


def drone(mass: float, com: float) -> mujoco.MjSpec:
    # a body of another density: its inertia goes with its mass
    inertia = " ".join(f"{mass * moment}" for moment in (0.02, 0.03, 0.025))
    text = DRONE.format(mass=mass, com=com, inertia=inertia)
    return sysid.with_wrenches(mujoco.MjSpec.from_string(text), ["imu"])


def ball(damping: float, armature: float) -> mujoco.MjSpec:
    text = BALL.format(damping=damping, armature=armature)
    return sysid.with_wrenches(mujoco.MjSpec.from_string(text), ["tip"])


def wrench(times: np.ndarray, lift: float, size: float) -> np.ndarray:
    rng = np.random.default_rng(5)
    waves = [
        np.sin(np.outer(times, rng.uniform(2, 12, 4)) + rng.uniform(0, 6, 4)) for _ in range(6)
    ]
    columns = np.stack([wave.sum(axis=1) for wave in waves], axis=1)
    columns *= size * np.array([2.0, 2.0, 2.0, 0.2, 0.2, 0.2])
    columns[:, 2] += lift
    return columns


def moved(
    truth: mujoco.MjSpec, start: list[float], control: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """States and sensors at the controls' instants, simulated in fine steps by RK4."""
    spec = truth.copy()
    spec.option.timestep = TIMESTEP / FINER
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model = spec.compile()
    state = sysid.create_initial_state(model, np.array(start))
    instants = (np.arange(len(control) * FINER) + 0.5) / FINER
    between = np.stack([np.interp(instants, np.arange(len(control)), c) for c in control.T], axis=1)
    states, sensors = mujoco.rollout.rollout(
        model, mujoco.MjData(model), state[None], between[None]
    )
    states = np.vstack([state, states[0, :-1]])  # both before each step
    return states[::FINER], sensors[0, ::FINER].copy()


def recorded(
    truth: mujoco.MjSpec,
    guess: mujoco.MjSpec,
    start: list[float],
    control: np.ndarray,
    noise: dict[str, float],
) -> sysid.ModelSequences:
    """A noisy recording of ``truth``, as a sequence of ``guess``."""
    _, data = moved(truth, start, control)
    model = truth.compile()
    rng = np.random.default_rng(0)
    for name, level in noise.items():
        index = model.sensor(name).id
        columns = slice(model.sensor_adr[index], model.sensor_adr[index] + model.sensor_dim[index])
        if model.sensor_dim[index] == 4:
            for row in data[:, columns]:
                mujoco.mju_quatIntegrate(row, rng.normal(size=3), level)
            data[::7, columns] *= -1.0  # the same orientations, written the other way
        else:
            data[:, columns] += level * rng.normal(size=data[:, columns].shape)
    times = TIMESTEP * np.arange(len(control))
    reference = guess.copy().compile()
    base = sysid.create_initial_state(reference, reference.qpos0)
    return sysid.ModelSequences(
        "robot",
        guess,
        "flight",
        base,
        sysid.TimeSeries.from_control_names(times, control, model),
        sysid.TimeSeries.from_names(times, data, model),
    )


def test_a_floating_robot_is_identified_from_its_pose():
    control = wrench(TIMESTEP * np.arange(800), lift=9.81 * 1.2, size=0.4)
    noise = {"where": 1e-3, "turned": 2e-3, "gyro": 5e-3}
    start = [0.3, -0.2, 1.5, 0.8, 0.1, -0.4, 0.3]
    data = recorded(drone(1.2, 0.03), drone(1.0, 0.0), start, control, noise)
    params = sysid.ParameterDict()
    mass = sysid.AttributeModifier("body", "box", "mass")
    com = sysid.AttributeModifier("body", "box", "com_x")
    params.add(sysid.Parameter("mass", 1.0, 0.3, 3.0, modifier=mass))
    params.add(sysid.Parameter("com_x", 0.0, -0.2, 0.2, modifier=com))

    result = fit([data], params, FitSettings(window_length=0.5))

    assert result.status is FitStatus.CONVERGED
    for name, truth in (("mass", 1.2), ("com_x", 0.03)):
        error = abs(result[name].value - truth)
        assert error < 4.0 * result[name].standard_error
        assert error < 0.01
    for component in range(3):
        assert result.noise[f"where[{component}]"] == pytest.approx(1e-3, rel=0.15)
        assert result.noise[f"turned[{component}]"] == pytest.approx(2e-3, rel=0.15)
        assert result.noise[f"gyro[{component}]"] == pytest.approx(5e-3, rel=0.15)


def test_a_ball_joint_is_identified_from_its_orientation():
    control = wrench(TIMESTEP * np.arange(800), lift=0.0, size=0.5)
    data = recorded(ball(0.05, 0.01), ball(0.2, 0.001), [1.0, 0, 0, 0], control, {"turned": 2e-3})
    params = sysid.ParameterDict()
    for name, start in (("damping", 0.2), ("armature", 0.001)):
        modifier = sysid.AttributeModifier("joint", "ball", name)
        params.add(sysid.Parameter(name, start, 0.0, 1.0, modifier=modifier))
    result = fit([data], params, FitSettings(window_length=1.0))
    assert result["damping"].value == pytest.approx(0.05, rel=0.03)
    assert result["armature"].value == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize("estimate", [True, False])
def test_measured_starts_of_a_free_joint_are_where_the_robot_was(estimate):
    control = wrench(TIMESTEP * np.arange(400), lift=9.81 * 1.2, size=0.4)
    spec = drone(1.2, 0.03)
    data = recorded(spec, spec, [0.3, -0.2, 1.5, 0.8, 0.1, -0.4, 0.3], control, {})
    group = model_group(
        data,
        sysid.ParameterDict(),
        window_length=0.5,
        estimate_starts=estimate,
        velocity_filter=60.0,
    )
    states, _ = moved(spec, [0.3, -0.2, 1.5, 0.8, 0.1, -0.4, 0.3], control)
    candidate = group.builder.build(np.zeros(0))
    (batch,) = group.batches
    starts = batch.starts(candidate, np.zeros_like(batch.spread))
    for window, found in list(zip(group.windows, starts, strict=True))[1:-1]:
        expected = states[round(window.window.start / TIMESTEP)]
        facing = np.sign(found[4:8] @ expected[4:8])
        np.testing.assert_allclose(found[1:4], expected[1:4], atol=1e-6)
        np.testing.assert_allclose(facing * found[4:8], expected[4:8], atol=1e-6)
        np.testing.assert_allclose(found[8:14], expected[8:14], atol=0.03)
    assert group.windows[0].n_start == (12 if estimate else 0)


def test_whole_recording_of_a_free_robot_without_estimated_starts():
    control = wrench(TIMESTEP * np.arange(200), lift=9.81 * 1.2, size=0.4)
    start = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    data = recorded(drone(1.2, 0.0), drone(1.0, 0.0), start, control, {"where": 1e-4})
    params = sysid.ParameterDict()
    modifier = sysid.AttributeModifier("body", "box", "mass")
    params.add(sysid.Parameter("mass", 1.0, 0.3, 3.0, modifier=modifier))
    known = SignalNoise({"where": 1e-3, "turned": 1e-3, "gyro": 1e-2})
    result = fit(
        [data], params, FitSettings(window_length=None, estimate_starts=False), known=known
    )
    assert result["mass"].value == pytest.approx(1.2, rel=0.02)
