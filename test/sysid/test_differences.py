# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where this library differs from mujoco.sysid 4.0, and why: one test for each difference."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from sysid_problems import record, record_cart, record_spring_mass

from sysid_ros import sysid
from sysid_ros.engine.residuals import DIVERGED


def mass_parameter(start: float = 2.0) -> sysid.ParameterDict:
    params = sysid.ParameterDict()
    modifier = sysid.AttributeModifier("body", "ball", "mass")
    params.add(sysid.Parameter("mass", start, 0.3, 3.0, modifier=modifier))
    return params


def fitted_mass(sequences, start: float = 2.0, **options) -> float:
    residual_fn = sysid.build_residual_fn(models_sequences=[sequences], **options)
    found, _ = sysid.optimize(mass_parameter(start), residual_fn, verbose=False)
    return float(found["mass"].value[0])


@pytest.mark.parametrize("inertia_type", list(sysid.InertiaType))
def test_every_type_of_inertia_parameter_runs(inertia_type):
    # There: Mass and Pseudo raise while the model is modified.
    recording = record_cart()
    params = sysid.ParameterDict()
    params.add(sysid.body_inertia_param(recording.spec, recording.model, "cart", inertia_type))
    model = sysid.apply_param_modifiers(params, recording.spec)
    assert model.body("cart").mass[0] == pytest.approx(2.0)
    np.testing.assert_allclose(model.body("cart").inertia, [0.001] * 3, rtol=1e-9)


def test_frozen_parameters_are_written_into_the_model():
    # There: their modifiers are skipped, so that the fit runs with the spec's own value.
    recording = record_cart()
    params = sysid.ParameterDict()
    modifier = sysid.AttributeModifier("body", "cart", "mass")
    params.add(sysid.Parameter("mass", 7.0, 1.0, 9.0, frozen=True, modifier=modifier))
    assert sysid.apply_param_modifiers(params, recording.spec).body("cart").mass[0] == 7.0


def test_the_users_spec_is_never_changed():
    # There: modifiers write into it, and it is left at the last perturbed point.
    recording = record_spring_mass(0.5)
    before = recording.spec.to_xml()
    assert fitted_mass(recording.sequences()) == pytest.approx(1.0, abs=1e-4)
    assert recording.spec.to_xml() == before

    def build_model(params, spec):
        spec.body("ball").mass = params["mass"].value[0]
        return spec.compile()

    sequences = recording.sequences()
    for options in ({}, {"build_model": build_model}):
        residual_fn = sysid.build_residual_fn(models_sequences=[sequences], **options)
        residual_fn(np.array([2.5]), mass_parameter())  # far from the model's own mass
        assert recording.spec.to_xml() == before
    assert fitted_mass(sequences, build_model=build_model) == pytest.approx(1.0)


@pytest.mark.parametrize("infer", ["true", "auto"])
def test_one_bodys_inertia_leaves_the_others_alone(infer):
    # There: compiler/inertiafromgeom is switched, which gives every other body another inertia.
    spec = mujoco.MjSpec.from_string(
        f'<mujoco><compiler inertiafromgeom="{infer}"/><worldbody><body name="a"><joint/>'
        '<inertial pos="0 0 0" mass="5" diaginertia="1 1 1"/><geom size=".1"/><body name="b">'
        '<joint/><inertial pos="0 0 0" mass="6" diaginertia="1 1 1"/><geom size=".2"/></body>'
        "</body></worldbody></mujoco>"
    )
    before = spec.copy().compile()
    changed = spec.copy()
    sysid.apply_body_inertia(
        changed, "a", sysid.body_inertia_param(spec, before, "a", sysid.InertiaType.Mass)
    )
    after = changed.compile()
    np.testing.assert_allclose(after.body_mass, before.body_mass, rtol=1e-12)
    np.testing.assert_allclose(after.body_inertia, before.body_inertia, rtol=1e-12)


def test_channel_without_motion_does_not_spoil_the_fit():
    # There: 0/0 gives NaN, and the optimizer returns its start as if it were the solution.
    xml = """<mujoco><option timestep="0.002"/><worldbody><body name="ball">
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint name="x" type="slide" axis="1 0 0"
      stiffness="100"/><joint name="y" type="slide" axis="0 1 0"/></body></worldbody>
      <actuator><motor name="push" joint="x"/></actuator><sensor><jointpos name="x" joint="x"/>
      <jointpos name="y" joint="y"/></sensor></mujoco>"""
    recording = record(
        mujoco.MjSpec.from_string(xml), lambda t: np.sin(9.0 * t).reshape(-1, 1), 1.0
    )
    assert np.all(recording.sensordata[:, 1] == 0.0)
    assert fitted_mass(recording.sequences()) == pytest.approx(1.0, abs=1e-4)


def test_missing_measurements_are_left_out():
    # There: one NaN makes the whole residual NaN.
    recording = record_spring_mass(1.0)
    data = recording.sensordata.copy()
    data[100:200, 0] = np.nan
    data[7, 1] = np.nan
    sequences = recording.sequences(data=data)
    residual_fn = sysid.build_residual_fn(models_sequences=[sequences])
    params = mass_parameter()
    (residual,), _, _ = residual_fn(params.as_vector(), params)
    table = residual.reshape(-1, 2)
    assert np.all(np.isfinite(table))
    assert np.all(table[100:200, 0] == 0.0)
    assert np.abs(table[210:, 0]).min() > 0.0
    assert fitted_mass(sequences) == pytest.approx(1.0, abs=1e-4)


def unstable_recording():
    """A spring that is stable at the true mass and explodes below a tenth of it."""
    xml = """<mujoco><option timestep="0.01"/><worldbody><body name="ball">
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint name="x" type="slide"
      stiffness="4000"/></body></worldbody><actuator><motor name="push" joint="x"/></actuator>
      <sensor><jointpos name="x" joint="x"/></sensor></mujoco>"""
    return record(mujoco.MjSpec.from_string(xml), lambda t: np.sin(5.0 * t).reshape(-1, 1), 1.0)


def test_diverging_simulation_is_a_rejected_step():
    # There: the repeated times of the stopped simulation raise, and the fit is lost.
    recording = unstable_recording()
    params = sysid.ParameterDict()
    modifier = sysid.AttributeModifier("joint", "x", "stiffness")
    params.add(sysid.Parameter("stiffness", 4050.0, 100.0, 9000.0, modifier=modifier))
    sequences = recording.sequences()
    residual_fn = sysid.build_residual_fn(models_sequences=[sequences])
    (lost,), _, _ = residual_fn(np.array([1e6]), params)
    assert np.all(np.isfinite(lost))
    assert np.count_nonzero(lost == DIVERGED) > 50
    (columns,), _, _ = residual_fn(np.array([[4000.0, 1e6]]), params)
    assert np.abs(columns[:, 0]).max() < 1e-9
    assert np.array_equal(columns[:, 1], lost)
    found, _ = sysid.optimize(params, residual_fn, verbose=False, x_scale=1e3)
    assert found["stiffness"].value[0] == pytest.approx(4000.0, rel=1e-4)


def test_absolute_stamps_work():
    # There: "Empty arrays are not allowed in TimeSeries".
    recording = record_spring_mass(1.0)
    epoch = 1.79e9
    control = sysid.TimeSeries(recording.control_times + epoch, recording.control)
    sequences = recording.sequences(control=control, times=recording.times + epoch)
    assert fitted_mass(sequences) == pytest.approx(1.0, abs=1e-4)


def test_weights_reach_all_columns_of_a_sensor():
    # There: a 3-D sensor with a weight raises.
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><freejoint/><geom size=".1"/><site name="s"/></body></worldbody>'
        '<sensor><gyro name="g" site="s"/><accelerometer name="a" site="s"/></sensor></mujoco>'
    )
    difference = sysid.weighted_diff(np.zeros((2, 6)), np.ones((2, 6)), model, {"a": 3.0})
    np.testing.assert_array_equal(difference[0], [1, 1, 1, 3, 3, 3])


def test_unnamed_sensors_stay_apart():
    # There: all of them are one signal called None.
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="a"/><joint name="b" axis="0 1 0"/>'
        '<geom size=".1"/></body></worldbody>'
        '<sensor><jointpos joint="a"/><jointpos joint="b"/></sensor></mujoco>'
    )
    series = sysid.TimeSeries.from_names(np.arange(3.0), np.zeros((3, 2)), model)
    assert list(series.signal_mapping) == ["unnamed_sensor_0", "unnamed_sensor_1"]


def test_orientations_are_compared_as_rotations():
    # There: the quaternions' numbers are subtracted, so that q and -q differ by 2.
    xml = """<mujoco><worldbody><body name="top"><joint name="ball" type="ball" damping="0.01"/>
      <geom type="box" size=".1 .2 .3"/></body></worldbody><actuator>
      <motor name="spin" joint="ball" gear="1 2 3"/></actuator><sensor>
      <framequat name="attitude" objtype="body" objname="top"/></sensor></mujoco>"""
    recording = record(
        mujoco.MjSpec.from_string(xml), lambda t: 20.0 * np.sin(7.0 * t).reshape(-1, 1), 0.5
    )
    flipped = recording.sensordata * np.where(np.arange(len(recording.times)) % 2, 1, -1)[:, None]
    sequences = recording.sequences(data=flipped)
    params = sysid.ParameterDict()
    modifier = sysid.AttributeModifier("joint", "ball", "damping")
    params.add(sysid.Parameter("damping", 0.01, 0.0, 1.0, modifier=modifier))
    residual_fn = sysid.build_residual_fn(models_sequences=[sequences], normalization="none")
    (same,), _, _ = residual_fn(np.array([0.01]), params)
    (other,), _, _ = residual_fn(np.array([0.1]), params)
    assert len(same) == 3 * len(recording.times)  # rotation vectors
    assert np.abs(same).max() < 1e-7
    assert np.abs(other).max() > 1e-3


def test_commands_can_hold():
    # There: every command is interpolated linearly, which anticipates the next one.
    recording = record_spring_mass(1.0)
    held = np.repeat(recording.control[::25], 25, axis=0)[: len(recording.control)]
    state, sensors = mujoco.rollout.rollout(
        recording.model, mujoco.MjData(recording.model), recording.initial_state, held[:-1]
    )
    sparse_times, sparse = recording.control_times[::25], recording.control[::25]
    sparse_times = np.append(sparse_times, recording.control_times[-1])
    sparse = np.vstack([sparse, held[-1:]])
    zoh = sysid.TimeSeries(sparse_times, sparse, interpolation=("zoh",))
    linear = sysid.TimeSeries(sparse_times, sparse)
    masses = [
        fitted_mass(recording.sequences(control=control, times=state[0, :, 0], data=sensors[0]))
        for control in (zoh, linear)
    ]
    assert masses[0] == pytest.approx(1.0, abs=1e-4)
    assert abs(masses[1] - 1.0) > 1e-3


def test_resampling_keeps_the_interval_asked_for():
    # There: the interval is stretched so that the last sample is met.
    series = sysid.TimeSeries(np.linspace(0.0, 1.0, 11), np.arange(11.0))
    times = series.resample(target_dt=0.3).times
    np.testing.assert_array_equal(times, 0.3 * np.arange(4))


def test_arguments_of_the_documentation_are_accepted():
    # There: build_residual_fn(signal_transform=...) of its own docstring raises TypeError.
    recording = record_spring_mass(0.5)
    transform = sysid.SignalTransform()
    transform.enable_sensors(["velocity"])
    mass = fitted_mass(recording.sequences(), signal_transform=transform)
    assert mass == pytest.approx(1.0, abs=1e-4)


def test_delaying_a_signal_leaves_the_original_alone():
    # There: apply_delay writes into its input.
    series = sysid.TimeSeries.create(
        np.arange(5.0), np.arange(10.0).reshape(5, 2), {"a": (sysid.SignalType.CustomObs, 0)}
    )
    before = series.data.copy()
    delayed = sysid.apply_delay(series, "a", sysid.Parameter("delay", 1.0, 0.0, 2.0))
    np.testing.assert_array_equal(series.data, before)
    np.testing.assert_array_equal(delayed.data[:, 0], [0, 0, 2, 4, 6])
    np.testing.assert_array_equal(delayed.data[:, 1], before[:, 1])


def test_saved_parameters_keep_their_modifiers(tmp_path):
    # There: a loaded dictionary has none, and models are silently built without them.
    recording = record_spring_mass(0.1)
    params = mass_parameter(1.7)
    params.save_to_disk(tmp_path / "params.yaml")
    loaded = sysid.ParameterDict.load_from_disk(tmp_path / "params.yaml")
    model = sysid.apply_param_modifiers(loaded, recording.spec)
    assert model.body("ball").mass[0] == 1.7


def test_integer_nominals_do_not_truncate():
    # There: value is an integer array, and value[:] = 2.7 becomes 2.
    parameter = sysid.Parameter("mass", 1, 0, 3)
    parameter.value[:] = 2.7
    assert parameter.value[0] == 2.7


def test_contradictory_bounds_are_refused():
    # There: min > max is accepted and fails, or not, in the optimizer.
    with pytest.raises(ValueError, match=r"minimum 3 exceeds its maximum 2"):
        sysid.Parameter("mass", 2.5, 3.0, 2.0)
    with pytest.raises(ValueError, match="outside its bounds"):
        sysid.Parameter("mass", 5.0, 0.0, 2.0)


def test_all_sequences_and_columns_are_simulated_at_once(simulations):
    # There: one call for each sequence of each model.
    recording = record_spring_mass(0.2)
    group = sysid.ModelSequences(
        "ball",
        recording.spec,
        ["a", "b", "c"],
        [recording.initial_state] * 3,
        [
            sysid.TimeSeries(recording.control_times[:n], recording.control[:n])
            for n in (90, 95, 99)
        ],
        [
            sysid.TimeSeries.from_names(
                recording.times[:n], recording.sensordata[:n], recording.model
            )
            for n in (89, 94, 98)
        ],
    )
    params = mass_parameter()
    residual_fn = sysid.build_residual_fn(models_sequences=[group, group])
    residuals, predictions, _ = residual_fn(np.array([[1.0, 1.5]]), params)
    assert simulations == [2 * 3 * 2]
    assert [len(residual) for residual in residuals] == [2 * n for n in (89, 94, 98)] * 2
    assert [len(each) for each in predictions] == [2] * 6


def test_commands_are_matched_to_actuators_by_name():
    # There: the names of from_control_names are ignored, and columns go to the wrong actuators.
    xml = """<mujoco><worldbody><body name="ball"><inertial pos="0 0 0" mass="1"
      diaginertia="1 1 1"/><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide"
      axis="0 1 0"/></body></worldbody><actuator><motor name="px" joint="x"/>
      <motor name="py" joint="y"/></actuator><sensor><jointpos name="x" joint="x"/>
      <jointpos name="y" joint="y"/></sensor></mujoco>"""
    recording = record(
        mujoco.MjSpec.from_string(xml), lambda t: np.stack([np.sin(t), np.cos(t)], -1), 0.5
    )
    control = sysid.TimeSeries.from_control_names(
        recording.control_times, recording.control[:, ::-1], recording.model, names=["py", "px"]
    )
    residual_fn = sysid.build_residual_fn(models_sequences=[recording.sequences(control=control)])
    params = sysid.ParameterDict()
    (residual,), _, _ = residual_fn(np.empty(0), params)
    assert np.abs(residual).max() < 1e-12


def test_delayed_predictions_are_not_extrapolated():
    # There: the window is cut at the wrong end, so that early samples are compared with the
    # prediction's first value held backwards.
    recording = record_spring_mass(0.5)
    delay = 0.05
    data = np.column_stack(
        [
            np.interp(recording.times - delay, recording.times, column)
            for column in recording.sensordata.T
        ]
    )
    data[recording.times < recording.times[0] + delay] = 1e3  # never predicted
    parameter = sysid.Parameter("delay", delay, 0.0, 0.05)
    transform = sysid.SignalTransform()
    transform.delay("*", parameter)
    params = sysid.ParameterDict({"delay": parameter})
    sequences = recording.sequences(data=data)
    (residual,), _, (measured,) = sysid.build_residual_fn(
        models_sequences=[sequences], signal_transform=transform
    )(params.as_vector(), params)
    assert measured[0].times[0] == pytest.approx(recording.times[0] + delay, abs=0.0021)
    assert np.abs(residual).max() < 1e-6
