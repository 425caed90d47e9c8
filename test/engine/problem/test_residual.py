# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The residual function: signals, commands, callbacks, priors, and what it simulates."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from sysid_problems import record, record_spring_mass

from sysid_ros import sysid
from sysid_ros.errors import SysidError


def mass(start: float = 1.0) -> sysid.Parameter:
    modifier = sysid.AttributeModifier("body", "ball", "mass")
    return sysid.Parameter("mass", start, 0.3, 3.0, modifier=modifier)


def dictionary(*parameters: sysid.Parameter) -> sysid.ParameterDict:
    params = sysid.ParameterDict()
    for parameter in parameters:
        params.add(parameter)
    return params


def delayed(recording, seconds: float) -> np.ndarray:
    return np.column_stack(
        [
            np.interp(recording.times - seconds, recording.times, column)
            for column in recording.sensordata.T
        ]
    )


def test_delay_gain_and_bias_are_identified_together_with_the_mass():
    recording = record_spring_mass(1.5)
    data = delayed(recording, 0.013)
    data[:, 0] = 1.2 * data[:, 0] + 0.02
    transform = sysid.SignalTransform()
    delay = sysid.Parameter("delay", 0.005, 0.0, 0.05)
    gain = sysid.Parameter("gain", 1.0, 0.5, 2.0)
    bias = sysid.Parameter("bias", 0.0, -0.1, 0.1)
    transform.delay("*", delay)
    transform.gain("position", gain, target="predicted")
    transform.bias("position", bias, target="predicted")
    params = dictionary(mass(1.4), delay, gain, bias)
    fn = sysid.build_residual_fn(
        models_sequences=[recording.sequences(data=data)], signal_transform=transform
    )
    found, _ = sysid.optimize(params, fn, verbose=False)
    # both are interpolated linearly, which leaves an error of second order in the time step
    np.testing.assert_allclose(found.as_vector(), [1.0, 0.013, 1.2, 0.02], rtol=2e-3)


def test_declared_signal_parameters_do_the_same():
    recording = record_spring_mass(1.5)
    data = 1.2 * delayed(recording, 0.013) + [[0.02, 0.0]]
    params = dictionary(
        mass(1.4),
        sysid.Parameter(
            "delay", 0.005, 0.0, 0.05,
            modifier=sysid.SignalModifier(("position", "velocity"), "delay"),
        ),
        sysid.Parameter(
            "gain", 1.0, 0.5, 2.0, modifier=sysid.SignalModifier(("position", "velocity"), "gain")
        ),
        sysid.Parameter("bias", 0.0, -0.1, 0.1, modifier=sysid.SignalModifier("position", "bias")),
    )  # fmt: skip
    fn = sysid.build_residual_fn(models_sequences=[recording.sequences(data=data)])
    found, _ = sysid.optimize(params, fn, verbose=False)
    np.testing.assert_allclose(found.as_vector(), [1.0, 0.013, 1.2, 0.02], rtol=2e-3)


def test_delay_of_a_held_command_has_a_derivative_and_is_identified():
    recording = record_spring_mass(1.5)
    # a new command every 50 ms, obeyed from the step at 14 ms on, not yet at 12 ms: 13 ms of delay
    ticks = np.arange(0.0, 1.5, 0.05)
    rng = np.random.default_rng(5)
    commands = rng.uniform(-5.0, 5.0, (len(ticks), 1))
    fine = sysid.TimeSeries(ticks, commands, interpolation=("zoh",))
    times = recording.control_times
    obeyed = fine.interpolate(np.maximum(times - 0.013, 0.0))
    _, sensors = mujoco.rollout.rollout(
        recording.model, mujoco.MjData(recording.model), recording.initial_state, obeyed[:-1]
    )
    control = sysid.TimeSeries.from_control_names(
        np.append(ticks, times[-1]),
        np.vstack([commands, commands[-1:]]),
        recording.model,
        interpolation=("zoh",),
    )
    params = dictionary(
        sysid.Parameter("lag", 0.005, 0.0, 0.05, modifier=sysid.SignalModifier("push", "delay"))
    )
    fn = sysid.build_residual_fn(
        models_sequences=[recording.sequences(control=control, data=sensors[0])]
    )
    found, result = sysid.optimize(params, fn, verbose=False)
    assert np.abs(result.jac).max() > 0.1
    assert found["lag"].value[0] == pytest.approx(0.013, abs=1e-5)


def test_gain_and_bias_of_a_command_are_identified():
    recording = record_spring_mass(1.0)
    _, sensors = mujoco.rollout.rollout(
        recording.model,
        mujoco.MjData(recording.model),
        recording.initial_state,
        0.8 * recording.control[:-1] + 0.5,
    )
    params = dictionary(
        sysid.Parameter("gain", 1.0, 0.5, 2.0, modifier=sysid.SignalModifier("push", "gain")),
        sysid.Parameter("bias", 0.0, -1.0, 1.0, modifier=sysid.SignalModifier("push", "bias")),
    )
    fn = sysid.build_residual_fn(models_sequences=[recording.sequences(data=sensors[0])])
    found, _ = sysid.optimize(params, fn, verbose=False)
    np.testing.assert_allclose(found.as_vector(), [0.8, 0.5], rtol=1e-4)


def test_parameters_of_signals_cost_no_simulation(simulations):
    recording = record_spring_mass(0.3)
    transform = sysid.SignalTransform()
    delay = sysid.Parameter("delay", 0.005, 0.0, 0.05)
    transform.delay("*", delay)
    bias = sysid.Parameter(
        "bias", 0.0, -1.0, 1.0, modifier=sysid.SignalModifier("position", "bias")
    )
    params = dictionary(mass(), delay, bias)
    fn = sysid.build_residual_fn(
        models_sequences=[recording.sequences()], signal_transform=transform
    )
    x = params.as_vector()
    fn(x, params)
    assert simulations == [1]
    columns = x[:, None] + np.diag([1e-6, 1e-6, 1e-6])
    (residual,), _, _ = fn(columns, params)
    assert simulations == [1, 1]  # the mass only
    one_by_one = [fn(column, params)[0][0] for column in columns.T]
    np.testing.assert_array_equal(residual, np.stack(one_by_one, axis=-1))


def test_neither_parameters_nor_overrides_stay(simulations):
    recording = record_spring_mass(0.2)
    params = dictionary(mass(1.3))
    fn = sysid.build_residual_fn(models_sequences=[recording.sequences()])
    plain = fn(np.array([1.5]), params)[0][0]
    weighted = fn(np.array([1.5]), params, sensor_weights={"position": 3.0})[0][0]
    np.testing.assert_allclose(weighted[::2], 3.0 * plain[::2])
    np.testing.assert_allclose(weighted[1::2], plain[1::2])
    np.testing.assert_array_equal(fn(np.array([1.5]), params)[0][0], plain)
    assert params["mass"].value[0] == 1.3


def test_build_model_gets_a_copy_and_decides_alone():
    recording = record_spring_mass(0.5)
    before = recording.spec.to_xml()

    def build_model(params, spec):
        spec.body("ball").mass = 2.0 * params["half"].value[0]
        return spec.compile()

    params = dictionary(sysid.Parameter("half", 0.8, 0.1, 2.0))
    fn = sysid.build_residual_fn(models_sequences=[recording.sequences()], build_model=build_model)
    found, _ = sysid.optimize(params, fn, verbose=False)
    assert found["half"].value[0] == pytest.approx(0.5, abs=1e-4)
    assert recording.spec.to_xml() == before


def test_custom_rollout_is_called_as_documented():
    recording = record_spring_mass(0.3)
    calls = []

    def custom_rollout(*, models, datas, control_signal, initial_states, param_dicts, **mappings):
        calls.append((len(models), len(param_dicts), sorted(mappings)))
        return sysid.sysid_rollout(models, datas, control_signal, initial_states, **mappings)

    params = dictionary(mass(1.4))
    options = {"models_sequences": [recording.sequences()]}
    custom = sysid.build_residual_fn(custom_rollout=custom_rollout, **options)
    plain = sysid.build_residual_fn(**options)
    x = np.array([[1.4, 1.5, 1.5]])
    np.testing.assert_array_equal(custom(x, params)[0][0], plain(x, params)[0][0])
    assert calls[0][:2] == (2, 2)  # equal columns are simulated once
    assert calls[0][2] == ["ctrl_mapping", "rollout_signal_mapping", "rollout_state_mapping"]


def test_modify_residual_is_called_as_documented():
    recording = record_spring_mass(0.3)
    seen = {}

    def modify_residual(params, predicted, measured, model, return_pred_all, state=None):
        seen.update(mass=params["mass"].value[0], state=state.shape, all=return_pred_all)
        measured = sysid.apply_delayed_ts_window(measured, predicted, 0.0, 0.0)
        predicted = predicted.resample(measured.times)
        return sysid.weighted_diff(predicted.data, measured.data), predicted, measured

    params = dictionary(mass(1.4))
    fn = sysid.build_residual_fn(
        models_sequences=[recording.sequences()],
        modify_residual=modify_residual,
        return_pred_all=True,
    )
    (residual,), _, _ = fn(np.array([1.4]), params)
    plain = sysid.build_residual_fn(models_sequences=[recording.sequences()], normalization="none")
    np.testing.assert_allclose(residual, plain(np.array([1.4]), params)[0][0], atol=1e-15)
    assert seen == {"mass": 1.4, "state": (149, 3), "all": True}


def test_priors_pull_and_count_in_standard_deviations():
    recording = record_spring_mass(0.3)
    prior = sysid.Parameter(
        "mass", 1.0, 0.3, 3.0, modifier=sysid.AttributeModifier("body", "ball", "mass"),
        prior=(1.2, 0.1),
    )  # fmt: skip
    fn = sysid.build_residual_fn(models_sequences=[recording.sequences()])
    residuals, predictions, _ = fn(np.array([[1.0, 1.4]]), dictionary(prior))
    assert len(residuals) == 2
    assert len(predictions) == 1
    np.testing.assert_allclose(residuals[1], [[-2.0, 2.0]])
    # with noise of this size the data says nothing, and the prior remains
    fn = sysid.build_residual_fn(
        models_sequences=[recording.sequences()],
        normalization="noise",
        noise={"position": 1e3, "velocity": 1e3},
    )
    found, _ = sysid.optimize(dictionary(prior), fn, verbose=False)
    assert found["mass"].value[0] == pytest.approx(1.2, abs=1e-3)


@pytest.mark.parametrize(
    ("method", "expected"),
    [("none", [1.0, 1.0]), ("std", "std"), ("reference", "norm"), ("noise", [0.1, 2.0])],
)
def test_normalizations(method, expected):
    recording = record_spring_mass(0.4)
    fn = sysid.build_residual_fn(
        models_sequences=[recording.sequences()],
        normalization=method,
        noise={"position": 0.1, "velocity": 2.0} if method == "noise" else None,
    )
    plain = sysid.build_residual_fn(models_sequences=[recording.sequences()], normalization="none")
    x, params = np.array([1.5]), dictionary(mass())
    ratio = plain(x, params)[0][0].reshape(-1, 2)[5:] / fn(x, params)[0][0].reshape(-1, 2)[5:]
    if expected == "std":
        expected = recording.sensordata.std(axis=0)
    elif expected == "norm":
        expected = np.linalg.norm(recording.sensordata, axis=0) / np.sqrt(2.0)
    np.testing.assert_allclose(ratio, np.broadcast_to(expected, ratio.shape), rtol=1e-6)


def test_angles_measured_modulo_a_turn():
    xml = """<mujoco><option timestep="0.01"/><worldbody><body name="ball"><joint name="j"
      axis="0 0 1" damping="0.05"/><geom size=".1"/></body></worldbody><actuator>
      <motor name="m" joint="j"/></actuator><sensor><jointpos name="angle" joint="j"/></sensor>
      </mujoco>"""
    recording = record(mujoco.MjSpec.from_string(xml), lambda t: np.ones((len(t), 1)), 2.0)
    assert recording.sensordata.max() > 10.0
    wrapped = np.remainder(recording.sensordata, 2 * np.pi)
    options = {"models_sequences": [recording.sequences(data=wrapped)], "normalization": "none"}
    params = sysid.ParameterDict()
    plain = sysid.build_residual_fn(**options)(np.empty(0), params)[0][0]
    modulo = sysid.build_residual_fn(wrapped_signals=["angle"], **options)(np.empty(0), params)
    assert np.abs(plain).max() > 6.0
    assert np.abs(modulo[0][0]).max() < 1e-9


def test_model_residual_joins_recordings_of_unequal_length():
    recording = record_spring_mass(0.3)
    long, short = recording.sequences().measured_rollout[0], None
    short = long.replace(
        control=sysid.TimeSeries(recording.control_times[:50], recording.control[:50]),
        sensordata=sysid.TimeSeries.from_names(
            recording.times[:49], recording.sensordata[:49], recording.model
        ),
    )

    def build(params):
        return sysid.apply_param_modifiers(params, recording.spec)

    params = dictionary(mass())
    residual, predicted, measured = sysid.model_residual(
        np.array([[1.0, 1.2]]), params, build, [long, short]
    )
    assert residual.shape == (2 * (149 + 49), 2)
    assert [len(series) for series in predicted] == [149, 49, 149, 49]
    assert len(measured) == 4
    assert np.abs(residual[:, 0]).max() < 1e-12
    single, _, _ = sysid.model_residual(np.array([1.2]), params, build, long)
    np.testing.assert_array_equal(single, residual[: 2 * 149, 1])


def test_residual_function_and_function_agree():
    recording = record_spring_mass(0.2)
    params, x = dictionary(mass()), np.array([1.2])
    built = sysid.build_residual_fn(models_sequences=[recording.sequences()])(x, params)
    called = sysid.residual(x, params, [recording.sequences()])
    np.testing.assert_array_equal(built[0][0], called[0][0])


def test_more_recordings_than_noise():
    recording = record_spring_mass(0.2)
    fn = sysid.build_residual_fn(
        models_sequences=[recording.sequences()], normalization="noise", noise={"position": 0.1}
    )
    with pytest.raises(SysidError, match="unknown signal with a noise level 'velocity'"):
        fn(np.array([1.0]), dictionary(mass()))


def test_mistakes_are_said():
    recording = record_spring_mass(0.2)
    params, x = dictionary(mass()), np.array([1.0])
    with pytest.raises(TypeError, match="sensor_weight"):
        sysid.build_residual_fn(sensor_weight={})
    with pytest.raises(SysidError, match="no recordings"):
        sysid.build_residual_fn()(x, params)
    fn = sysid.build_residual_fn(models_sequences=[recording.sequences()])
    with pytest.raises(SysidError, match="unknown signal with a weight 'positon'"):
        fn(x, params, sensor_weights={"positon": 1.0})
    with pytest.raises(SysidError, match="nearest: 'position'"):
        fn(x, params, enabled_observations=[("positon", sysid.SignalType.MjSensor)])
    with pytest.raises(SysidError, match="axis must be 0, 1, 2 or left out, got 3"):
        sysid.SignalTransform().bias("position", 0.1, axis=3)
    with pytest.raises(SysidError, match="declared as"):
        fn(x, params, enabled_observations=[("position", sysid.SignalType.MjStateQPos)])
    with pytest.raises(SysidError, match="not both"):
        fn(x, params, signal_transform=sysid.SignalTransform(), modify_residual=print)
    far = recording.sequences(times=recording.times + 1e3)
    with pytest.raises(SysidError, match="do not overlap with the simulation"):
        fn(x, params, models_sequences=[far])
    holes = recording.control.copy()
    holes[3] = np.nan
    broken = recording.sequences(control=sysid.TimeSeries(recording.control_times, holes))
    with pytest.raises(SysidError, match=r"control 0 is missing \(NaN\) at 0\.00"):
        fn(x, params, models_sequences=[broken])
    instant = recording.sequences(control=sysid.TimeSeries(np.zeros(1), np.zeros((1, 1))))
    with pytest.raises(SysidError, match="less than one time step"):
        fn(x, params, models_sequences=[instant])
    custom = sysid.TimeSeries.from_custom_map(
        recording.times, recording.sensordata, ["mine", "yours"]
    )
    unknown = sysid.ModelSequences(
        "ball", recording.spec, "run", recording.initial_state, recording.commanded, custom
    )
    with pytest.raises(SysidError, match="which no model can predict"):
        fn(x, params, models_sequences=[unknown])
