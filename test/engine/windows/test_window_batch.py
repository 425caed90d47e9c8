# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows in batches against their definition, one window and one sample at a time."""

from __future__ import annotations

import gc
import importlib
import weakref

import chains
import mujoco
import numpy as np
import pytest
from chains import Chain
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import Parameter, ParameterDict, SignalModifier
from sysid_ros.engine.residuals import with_declared_signals
from sysid_ros.engine.signals import (
    ModelSequences,
    SignalType,
    TimeSeries,
    control_names,
    create_initial_state,
    cubic_weights,
    step_offsets,
)
from sysid_ros.engine.simulation import Candidate, RolloutPool, run_slices, simulation_of
from sysid_ros.engine.windows import WindowBatch, WindowGroup, WindowSimulation, model_group

CASES = st.builds(
    Chain,
    seed=st.integers(0, 10_000),
    joints=st.integers(1, 3),
    integrator=st.sampled_from(["EULER", "IMPLICITFAST", "RK4"]),
    servos=st.booleans(),
)
ATTRIBUTES = {"delay": 0.0042, "gain": 1.2, "bias": 0.1}


def parameters() -> ParameterDict:
    """Delay, gain and bias of one command and of one sensor."""
    params = ParameterDict()
    for signal in ("actuator0", "mjSENS_JOINTPOS0"):
        for attribute, value in ATTRIBUTES.items():
            modifier = SignalModifier((signal,), attribute)
            params.add(Parameter(f"{signal}_{attribute}", value, -5.0, 5.0, modifier=modifier))
    return params


def one_start(window: WindowSimulation, candidate: Candidate, deviation: FloatArray) -> FloatArray:
    """The start of one window by its definition."""
    model = window.model
    late = 0.0 if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4 else 0.5
    names = (*window.reader.sensors, *window.reader.rate_sensors)
    settings_ = {name: candidate.settings(name) for name in names}
    state = window.reader.state(window.window.start, -late * model.opt.timestep, settings_)
    state[1:] += deviation  # all joints are hinges or slides
    return state


def one_control(window: WindowSimulation, candidate: Candidate, step: int, channel: int) -> float:
    """The mean of one command over one step by its definition."""
    model = window.model
    setting = candidate.settings(control_names(model)[channel])
    integral = window.sequence.controls[channel]
    assert integral is not None
    h = float(model.opt.timestep)
    begin = window.window.start + step * h + step_offsets(model)[channel] - setting.delay
    area = integral(np.array([begin + h])) - integral(np.array([begin]))
    return float(setting.gain * area[0] / h + setting.bias)


def one_residual(
    window: WindowSimulation, candidate: Candidate, data: FloatArray, sample: int
) -> float:
    """One residual of one window, of its own sensor data, by its definition."""
    samples = window.window.samples
    signal = window.sequence.signals[samples.signals[sample]]
    setting = candidate.settings(signal.sensor)
    instant = samples.times[sample] - signal.offset - setting.delay
    position = np.array([instant / float(window.model.opt.timestep)])
    predicted = cubic_weights(position, len(data)).apply(data, np.array([signal.column]))[0]
    return float(setting.gain * predicted + setting.bias - samples.values[sample])


def batch_of(chain: Chain) -> tuple[WindowBatch, Candidate, FloatArray]:
    """Two windows, a candidate and starts off the measured ones."""
    problem = chains.problem(chains.spec(chain), parameters(), seed=chain.seed)
    (group,) = problem.groups
    (batch,) = group.batches
    random = np.random.default_rng(chain.seed)
    deviations = 1e-2 * random.normal(size=batch.spread.shape)
    return batch, group.builder.build(problem.params.as_vector()), deviations


@settings(max_examples=20, deadline=None)
@given(CASES)
def test_a_batch_is_its_windows_one_behind_the_other(chain: Chain) -> None:
    batch, candidate, deviations = batch_of(chain)
    assert len(batch.windows) == 2
    controls = batch.controls(candidate)
    starts = batch.starts(candidate, deviations)
    with RolloutPool(1) as pool:
        (done,) = pool.run_batches([simulation_of(batch, candidate, deviations)])
    residuals = batch.parts(batch.residual(candidate, done.sensordata))
    random = np.random.default_rng(chain.seed)
    for k, (window, rows) in enumerate(zip(batch.windows, run_slices(batch.steps), strict=True)):
        expected = one_start(window, candidate, deviations[k])
        np.testing.assert_allclose(starts[k], expected, rtol=1e-12, atol=1e-12)
        for step in random.integers(0, window.window.steps, 5):
            for channel in range(window.model.nu):
                mean = one_control(window, candidate, int(step), channel)
                assert controls[rows][step, channel] == pytest.approx(mean, rel=1e-9, abs=1e-9)
        for sample in random.integers(0, len(residuals[k]), 10):
            alone = one_residual(window, candidate, done.sensordata[rows], int(sample))
            assert residuals[k][sample] == pytest.approx(alone, rel=1e-9, abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(CASES)
def test_one_window_of_a_batch_is_simulated_as_it_is_alone(chain: Chain) -> None:
    batch, candidate, deviations = batch_of(chain)
    alone = [batch.select([k]) for k in range(len(batch.windows))]
    jobs = [simulation_of(batch, candidate, deviations)]
    jobs += [simulation_of(one, candidate, deviations[k : k + 1]) for k, one in enumerate(alone)]
    with RolloutPool(1) as pool:
        together, *apart = pool.run_batches(jobs)
    whole, slope = batch.linearized(candidate, together.sensordata)
    for one, done, own in zip(alone, apart, run_slices(batch.samples), strict=True):
        np.testing.assert_array_equal(whole[own], one.residual(candidate, done.sensordata))
    # The slope is that of the residual: move all sensor data a little.
    moved = together.sensordata + 1e-3 * np.arange(together.sensordata.size).reshape(
        together.sensordata.shape
    )
    nearby = (moved - together.sensordata)[slope.rows, slope.columns[:, None]]
    predicted = np.sum(slope.weights * nearby, axis=1)
    np.testing.assert_allclose(batch.residual(candidate, moved) - whole, predicted, atol=1e-7)


def test_a_filter_without_a_command_holds_nothing_as_its_input_is_nothing() -> None:
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body><joint name="j" type="slide"/><geom size=".1"/></body>'
        '</worldbody><actuator><motor name="m" joint="j"/>'
        '<position name="s" joint="j" kp="4" timeconst=".1"/></actuator>'
        '<sensor><jointpos name="p" joint="j"/></sensor></mujoco>'
    )
    model, times = spec.copy().compile(), np.arange(0.0, 1.0, 0.01)
    params, nothing = ParameterDict(), np.zeros((100, 1))
    params.add(Parameter("bias", 0.3, -1.0, 1.0, modifier=SignalModifier(("s",), "bias")))
    measured = TimeSeries.from_names(times, nothing, model, names=["p"])
    driven = TimeSeries(times, nothing, {"m": (SignalType.MjCtrl, np.array([0]))})
    group = model_group(
        ModelSequences("", spec, "bag", np.zeros(4), driven, measured), params,
        window_length=0.5, estimate_starts=False, velocity_filter=30.0,
    )  # fmt: skip
    (batch,) = group.batches
    candidate = group.builder.build(params.as_vector())
    starts = batch.starts(candidate, np.zeros_like(batch.spread))
    np.testing.assert_array_equal(starts[:, 3], batch.controls(candidate)[0, 1])


def test_many_windows_are_put_into_batches_that_memory_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = chains.problem(
        chains.spec(Chain(1, 2, "EULER", False, False, True)), parameters(), seed=1
    )
    (group,) = problem.groups
    module = importlib.import_module("sysid_ros.engine.windows.model_group")
    monkeypatch.setattr(module, "BATCH_BYTES", 1)
    split = WindowGroup.of(group.builder, group.windows)
    assert [len(batch.windows) for batch in split.batches] == [1, 1]
    assert split.windows == group.windows
    apart = problem.with_groups([split])
    point = problem.initial_point()
    for a, b in zip(problem.residuals(point), apart.residuals(point), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_batch_goes_with_its_last_user_whatever_it_kept() -> None:
    """Models of a hundred megabytes would wait for the collector otherwise."""
    batch, candidate, deviations = batch_of(Chain(1, 2, "EULER", False, False, True))
    batch.controls(candidate)
    batch.starts(candidate, deviations)
    gone = weakref.ref(batch)
    gc.disable()
    try:
        del batch
        assert gone() is None
    finally:
        gc.enable()


def test_a_bias_along_an_axis_moves_that_component_alone() -> None:
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body><joint name="tilt"/><geom size=".1"/><site name="imu"/></body>'
        '</worldbody><sensor><gyro name="rate" site="imu"/></sensor></mujoco>'
    )
    model, times = spec.copy().compile(), 0.002 * np.arange(200)
    measured = TimeSeries(times, np.zeros((200, 3)), {"rate": (SignalType.MjSensor, np.arange(3))})
    commands = TimeSeries(times, np.zeros((200, 0)), {})
    start = create_initial_state(model, model.qpos0)
    data = ModelSequences("robot", spec, "rest", start, commands, measured)
    params = ParameterDict()
    for name, value in (("bias_y", 0.3), ("bias", 0.1)):
        place = SignalModifier("rate", name)
        params.add(Parameter(name, value, -1.0, 1.0, modifier=place))
    group = model_group(
        data, params, window_length=0.2, estimate_starts=False, velocity_filter=30.0
    )
    (batch,) = group.batches
    rows = np.zeros((int(batch.steps.sum()), model.nsensordata))
    residual = batch.residual(group.builder.build(params.as_vector()), rows)
    for signal, left in (("rate[0]", 0.1), ("rate[1]", 0.4), ("rate[2]", 0.1)):
        assert residual[batch.samples_of([signal])] == pytest.approx(left)
    compared = with_declared_signals(None, params, measured, model)
    frame = compared.corrections(["rate"], params)["rate"]
    assert frame.predicted[1] == pytest.approx([0.1, 0.4, 0.1])
