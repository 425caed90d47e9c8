# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""This library against mujoco.sysid: equal where it is right, different where it is not."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from sysid_problems import (
    ARM_ARMATURE,
    Recording,
    record,
    record_arm,
    record_cart,
    record_spring_mass,
)

from sysid_ros import sysid

try:
    from mujoco import sysid as reference

    _MISSING = "" if hasattr(reference, "optimize") else "mujoco[sysid] is not fully installed"
except ImportError as error:
    _MISSING = f"mujoco[sysid] is not installed: {error}"

pytestmark = pytest.mark.skipif(bool(_MISSING), reason=_MISSING)

WEIGHTS = {"position": 2.0, "velocity": 0.5}


def sequences(library, recording: Recording, count: int = 1, *, dt: float | None = None):
    """The recording, ``count`` times, as ``library`` wants it."""
    control = library.TimeSeries(recording.control_times, recording.control)
    measured = library.TimeSeries.from_names(recording.times, recording.sensordata, recording.model)
    if dt is not None:
        times = np.arange(measured.times[0], measured.times[-1], dt)
        measured = measured.resample(times)
    return library.ModelSequences(
        "model",
        recording.spec.copy(),
        [f"run{i}" for i in range(count)],
        [recording.initial_state] * count,
        [control] * count,
        [measured] * count,
    )


def joint_parameter(library, joint: str, attribute: str, value: float, low: float, high: float):
    def write(spec, param):
        setattr(spec.joint(joint), attribute, param.value[0])

    return library.Parameter(f"{joint}_{attribute}", value, low, high, modifier=write)


def mass_parameter(library, body: str, value: float):
    def write(spec, param):
        spec.body(body).mass = param.value[0]

    return library.Parameter(f"{body}_mass", value, 0.1 * value, 10.0 * value, modifier=write)


def servo_recording(integrator: str = "implicitfast") -> Recording:
    xml = f"""<mujoco><option integrator="{integrator}" timestep="0.005"/><worldbody>
      <body name="arm"><joint name="hinge" axis="0 1 0" damping="0.1" armature="0.01"/>
      <geom name="rod" type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".4"/></body>
      </worldbody><actuator><position name="servo" joint="hinge" kp="20" kv="1"/></actuator>
      <sensor><jointpos name="angle" joint="hinge"/><jointvel name="rate" joint="hinge"/>
      <actuatorfrc name="torque" actuator="servo"/></sensor></mujoco>"""
    return record(
        mujoco.MjSpec.from_string(xml), lambda t: np.sin(2 * np.pi * t).reshape(-1, 1), 1.0
    )


def activation_recording() -> Recording:
    xml = """<mujoco><option integrator="RK4" timestep="0.005"/><worldbody>
      <body name="arm"><joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".4"/></body></worldbody>
      <actuator><general name="lag" joint="hinge" dyntype="filter" dynprm="0.1"/></actuator>
      <sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""
    return record(
        mujoco.MjSpec.from_string(xml), lambda t: np.sin(2 * np.pi * t).reshape(-1, 1), 1.0
    )


def drone_recording() -> Recording:
    xml = """<mujoco><option timestep="0.004"/><worldbody>
      <body name="box" pos="0 0 1"><freejoint name="free"/><geom size=".1 .05 .03" type="box"/>
      <site name="top"/></body></worldbody>
      <actuator><motor name="lift" site="top" gear="0.1 0.2 1 0.02 0.05 0.1"/></actuator>
      <sensor><accelerometer name="acc" site="top"/><gyro name="gyro" site="top"/></sensor>
      </mujoco>"""
    return record(
        mujoco.MjSpec.from_string(xml), lambda t: (5.0 + np.sin(9.0 * t)).reshape(-1, 1), 0.5
    )


def spring(library):
    recording = record_spring_mass(1.0)
    return [sequences(library, recording)], [mass_parameter(library, "ball", 1.3)], {}


def spring_weights(library):
    groups, parameters, _ = spring(library)
    return groups, parameters, {"sensor_weights": WEIGHTS}


def spring_coarse(library):
    recording = record_spring_mass(1.0)
    return [sequences(library, recording, dt=0.0131)], [mass_parameter(library, "ball", 0.7)], {}


def spring_three_runs(library):
    recording = record_spring_mass(0.5)
    return [sequences(library, recording, count=3)], [mass_parameter(library, "ball", 0.7)], {}


def spring_not_resampled(library):
    recording = record_spring_mass(0.5)
    control = library.TimeSeries(recording.control_times, recording.control)
    # one measurement for the start and one after each step
    times = np.concatenate([[0.0], recording.times])
    data = np.vstack([np.zeros(2), recording.sensordata])
    group = library.ModelSequences(
        "model",
        recording.spec.copy(),
        "run",
        recording.initial_state,
        control,
        library.TimeSeries.from_names(times, data, recording.model),
    )
    return [group], [mass_parameter(library, "ball", 0.7)], {"resample_true": False}


def one_sensor_only(library):
    groups, parameters, _ = spring(library)
    return groups, parameters, {"enabled_observations": [("velocity", library.SignalType.MjSensor)]}


def arm(library):
    parameters = [
        joint_parameter(library, name, "armature", 0.7 * true, 0.001, 1.0)
        for name, true in ARM_ARMATURE.items()
    ]
    return [sequences(library, record_arm(1.0))], parameters, {}


def carts(library):
    groups = [sequences(library, record_cart()), sequences(library, record_cart(1.0))]
    return groups, [mass_parameter(library, "cart", 3.0)], {}


def servo_gains(library):
    def write(spec, param):
        library.apply_pdgain(spec, "servo", param.value)

    parameter = library.Parameter("gains", [15.0, 0.8], [1.0, 0.0], [50.0, 5.0], modifier=write)
    return [sequences(library, servo_recording())], [parameter], {}


def servo_rk4(library):
    parameter = joint_parameter(library, "hinge", "armature", 0.02, 0.0, 0.1)
    return [sequences(library, servo_recording("RK4"))], [parameter], {}


def servo_mass_and_centre(library):
    recording = servo_recording()
    parameter = library.body_inertia_param(recording.spec.copy(), recording.model, "arm")
    parameter.value = parameter.value * 1.1
    return [sequences(library, recording)], [parameter], {}


def activation(library):
    parameter = joint_parameter(library, "hinge", "armature", 0.02, 0.0, 0.1)
    return [sequences(library, activation_recording())], [parameter], {}


def drone(library):
    def write(spec, param):
        spec.actuator("lift").gear[2] = param.value[0]

    parameter = library.Parameter("lift", 0.8, 0.1, 2.0, modifier=write)
    return [sequences(library, drone_recording())], [parameter], {}


def states(library):
    recording = servo_recording()
    data = mujoco.MjData(recording.model)
    state, _ = mujoco.rollout.rollout(
        recording.model, data, recording.initial_state, recording.control[:-1]
    )
    names = [("hinge", library.SignalType.MjStateQPos), ("hinge", library.SignalType.MjStateQVel)]
    group = library.ModelSequences(
        "model",
        recording.spec.copy(),
        "run",
        recording.initial_state,
        library.TimeSeries(recording.control_times, recording.control),
        library.TimeSeries.from_names(
            state[0, :, 0], state[0, :, 1:3], recording.model, names=names
        ),
        allow_missing_sensors=True,
    )
    return [group], [joint_parameter(library, "hinge", "armature", 0.02, 0.0, 0.1)], {}


def dictionary(library, parameters) -> object:
    params = library.ParameterDict()
    for parameter in parameters:
        params.add(parameter)
    return params


PROBLEMS = [
    spring, spring_weights, spring_coarse, spring_three_runs, spring_not_resampled,
    one_sensor_only, arm, carts, servo_gains, servo_rk4, servo_mass_and_centre, activation, drone,
    states,
]  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.__name__)
def test_residuals_equal_the_references(problem):
    answers = []
    for library in (sysid, reference):
        groups, parameters, options = problem(library)
        params = dictionary(library, parameters)
        fn = library.build_residual_fn(models_sequences=groups, **options)
        x = params.as_vector()
        columns = np.stack([x, 1.01 * x, 0.98 * x], axis=-1)
        answers.append((fn(x, params), fn(columns, params)))
    (ours, ours_columns), (theirs, theirs_columns) = answers
    for mine, other in ((ours, theirs), (ours_columns, theirs_columns)):
        assert len(mine[0]) == len(other[0])
        for a, b in zip(mine[0], other[0], strict=True):
            assert np.abs(b).max() > 1e-4  # the comparison says something
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        for a, b in zip(mine[1], other[1], strict=True):
            for series, expected in zip(a, b, strict=True):
                np.testing.assert_allclose(series.times, expected.times, rtol=0, atol=1e-12)
                np.testing.assert_allclose(series.data, expected.data, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("optimizer", ["mujoco", "scipy", "scipy_parallel_fd"])
def test_optimum_equals_the_references(optimizer, capsys):
    found = []
    for library in (sysid, reference):
        groups, parameters, options = carts(library)
        params = dictionary(library, parameters)
        fn = library.build_residual_fn(models_sequences=groups, **options)
        found.append(library.optimize(params, fn, optimizer, verbose=False)[0].as_vector())
    capsys.readouterr()
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_intervals_equal_the_references():
    rng = np.random.default_rng(1)
    jacobian, residual = rng.normal(size=(50, 4)), rng.normal(size=50)
    ours = sysid.calculate_intervals([residual], jacobian)
    theirs = reference.calculate_intervals([residual], jacobian)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-10)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-10)


@pytest.mark.parametrize("method", ["linear", "quadratic", "cubic", "zoh"])
def test_interpolation_equals_the_references(method):
    rng = np.random.default_rng(2)
    times = np.cumsum(rng.uniform(0.1, 1.0, 20))
    data = rng.normal(size=(20, 3))
    at = np.linspace(times[0] - 1.0, times[-1] + 1.0, 57)
    ours = sysid.TimeSeries(times, data).interpolate(at, method)
    theirs = reference.TimeSeries(times, data).interpolate(at, method)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_inertia_coordinates_equal_the_references():
    from mujoco.sysid._src import model_modifier

    from sysid_ros.engine.elements import read_inertia, theta_from_inertia

    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="b"><freejoint/><inertial pos=".1 .2 .3" mass="2" '
        'fullinertia="1 1.5 .8 .1 .05 -.2"/></body></worldbody></mujoco>'
    )
    ours = theta_from_inertia(read_inertia(spec, "b"))
    theirs = model_modifier.theta_inertia_from_body(spec.copy(), "b")
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


def test_every_name_of_the_reference_is_there():
    names = [name for name in dir(reference) if not name.startswith("_")]
    modules = {"model_modifier", "parameter", "signal_modifier", "report"}
    absent = [name for name in names if not hasattr(sysid, name) and name not in modules]
    assert not absent
