# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What nothing measures starts where commands and the measured motion have brought it."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from counted_work import calls_of

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import JoinedIntegrals, SignalIntegral, TimeSeries
from sysid_ros.engine.windows import unmeasured_joints
from sysid_ros.engine.windows.filtered_inputs import filtered_inputs
from sysid_ros.engine.windows.starts import StartReader

# A load swings below a trolley under a servo that lags; only the trolley is measured.
CRANE = """
<mujoco><option timestep="0.002" integrator="implicitfast"/>
  <worldbody><body><joint name="trolley" type="slide" axis="1 0 0" damping="{damping}"/>
    <geom type="box" size=".1 .1 .1" mass="5"/>
    <body><joint name="swing" axis="0 1 0" damping=".02"/>
      <geom type="sphere" size=".05" pos="0 0 -1" mass="{load}"/></body></body></worldbody>
  <actuator><position name="servo" joint="trolley" kp="400" kv="60" timeconst=".1"/></actuator>
  <sensor><jointpos name="place" joint="trolley"/></sensor>
</mujoco>"""
STEPS = 4000


def crane(damping: float, load: float) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(CRANE.format(damping=damping, load=load))


def recorded(load: float = 1.0) -> tuple[TimeSeries, SignalIntegral, FloatArray]:
    """The trolley's place, its command, and all states at the beginning of each step."""
    model = crane(8.0, load)
    data = mujoco.MjData(model)
    times = model.opt.timestep * np.arange(STEPS)
    sent = 0.4 * np.sin(1.3 * times) + 0.1 * np.sin(4.0 * times)
    states = np.zeros((STEPS, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    for state, command in zip(states, sent, strict=True):
        mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        data.ctrl[0] = command
        mujoco.mj_step(model, data)
    places = TimeSeries.from_names(times, states[:, 1:2], model, names=["place"])
    return places, SignalIntegral(times, sent, "zoh"), states


@pytest.mark.parametrize(("measured", "load"), [(True, 1.0), (True, 100.0), (False, 1.0)])
def test_a_swing_that_nothing_measures(measured: bool, load: float) -> None:
    places, command, truth = recorded(load)
    wrong = crane(80.0 if measured else 8.0, load)
    if not measured:  # what there is to measure says nothing of any joint
        places = TimeSeries(places.times, np.full((STEPS, 1), np.nan), places.signal_mapping)
    reader = StartReader(wrong, places, np.zeros(truth.shape[1]), velocity_filter=30.0)
    reader.carry([command], (0.0, float(places.times[-1])))
    chosen = np.arange(600, 3800, 400)
    states = reader.states(places.times[chosen], 0.0, {})
    swing, rate = truth[chosen, 2], truth[chosen, 4]
    assert np.abs(states[:, 2] - swing).max() < 0.05 * np.abs(swing).max()
    assert np.abs(states[:, 4] - rate).max() < 0.05 * np.abs(rate).max()


def test_another_command_of_the_same_recording_brings_it_elsewhere() -> None:
    places, command, truth = recorded()
    nothing = TimeSeries(places.times, np.full((STEPS, 1), np.nan), places.signal_mapping)
    reader = StartReader(crane(8.0, 1.0), nothing, np.zeros(truth.shape[1]), velocity_filter=30.0)
    swings = []
    for told in (command, SignalIntegral(places.times, np.zeros(STEPS), "zoh")):
        reader.carry([told], (0.0, float(places.times[-1])))
        swings.append(reader.states(places.times[2000:2001], 0.0, {})[0, 2])
    assert swings[0] != 0.0
    assert swings[1] == 0.0


def test_names_of_bodies_ask_for_no_other_simulation() -> None:
    places, command, truth = recorded()
    named = CRANE.replace('<body><joint name="swing"', '<body name="load"><joint name="swing"')
    models = (crane(8.0, 1.0), mujoco.MjModel.from_xml_string(named.format(damping=8.0, load=1.0)))
    first, second = (
        StartReader(one, places, np.zeros(truth.shape[1]), velocity_filter=30.0) for one in models
    )
    span = (0.0, float(places.times[-1]))
    alone = calls_of(lambda: first.carry([command], span))
    again = calls_of(lambda: second.carry([command], span))
    assert again < 0.5 * alone, (again, alone)
    assert np.array_equal(first.state(4.0, 0.0, {}), second.state(4.0, 0.0, {}))


def test_more_of_a_recording_goes_on_where_less_of_it_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places, command, truth = recorded()
    at_once, in_parts = (
        StartReader(crane(8.0, 1.0), one, np.zeros(truth.shape[1]), velocity_filter=30.0)
        for one in (places, replace(places))
    )
    end, times = float(places.times[-1]), places.times[::100]
    begun = calls_of(lambda: in_parts.carry([command], (0.0, 0.75 * end)))
    rest = calls_of(lambda: in_parts.carry([command], (0.0, end)))
    assert rest < 0.5 * begun, (rest, begun)
    monkeypatch.setattr(unmeasured_joints, "_ALIKE", {})  # where the other looks for the same
    at_once.carry([command], (0.0, end))
    assert np.array_equal(in_parts.states(times, 0.0, {}), at_once.states(times, 0.0, {}))


def test_other_filters_of_the_same_recording_bring_it_elsewhere() -> None:
    places, command, truth = recorded()
    swings = []
    for cutoff in (30.0, 0.5):
        reader = StartReader(
            crane(8.0, 1.0), places, np.zeros(truth.shape[1]), velocity_filter=cutoff
        )
        reader.carry([command], (0.0, float(places.times[-1])))
        swings.append(reader.states(places.times[2000:2001], 0.0, {})[0, 2])
    assert abs(swings[0] - swings[1]) > 1e-6


def test_measurements_that_stop_for_a_while_pull_nothing_away() -> None:
    places, command, truth = recorded()
    times = places.times
    kept = (times < 2.0) | (times > 4.0)
    cut = TimeSeries(times[kept], places.data[kept], places.signal_mapping)
    reader = StartReader(crane(8.0, 1.0), cut, np.zeros(truth.shape[1]), velocity_filter=30.0)
    reader.carry([command], (0.0, float(times[-1])))
    chosen = np.arange(2100, 3800, 400)
    states = reader.states(times[chosen], 0.0, {})
    swing = truth[chosen, 2]
    assert np.abs(states[:, 2] - swing).max() < 0.05 * np.abs(swing).max()


def test_a_motor_whose_command_is_not_known_keeps_its_joint_where_it_was() -> None:
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="lever" axis="0 1 0"/>'
        '<geom type="sphere" size=".05" pos="1 0 0" mass="1"/></body></worldbody>'
        '<actuator><motor joint="lever"/></actuator></mujoco>'
    )
    times = np.arange(0.0, 1.0, 0.1)
    nothing = TimeSeries(times, np.full((10, 1), np.nan), {})
    reader = StartReader(model, nothing, np.zeros(3), velocity_filter=30.0)
    reader.carry([None], (0.0, 0.9))
    assert not reader.states(times, 0.0, {})[:, 1:].any()


def test_what_a_filter_has_made_of_its_command() -> None:
    _, command, truth = recorded()
    model = crane(8.0, 1.0)
    (own,) = filtered_inputs(model)
    chosen = np.array([0, 700, 3000])
    together = JoinedIntegrals([command])
    passed = own.passed(together, model.opt.timestep * chosen, [slice(0, 3)], 0.1)
    assert passed == pytest.approx(truth[chosen, own.address], abs=1e-3)
    assert np.abs(command.mean(model.opt.timestep * chosen, 1e-3) - passed).max() > 0.01


def test_filters_of_many_recordings_are_asked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    _, command, _ = recorded()
    (own,) = filtered_inputs(crane(8.0, 1.0))
    together, rows = JoinedIntegrals([command, None, command]), [slice(0, 2), slice(2, 3)]
    asked = together, np.arange(1.0, 8.0), [*rows, slice(3, 7)], 0.1
    whole = own.passed(*asked)
    monkeypatch.setattr("sysid_ros.engine.windows.filtered_inputs._AT_ONCE", 1000)
    parts = own.passed(*asked)  # in twos, some of two recordings
    np.testing.assert_allclose(parts, whole, rtol=1e-14)
    assert np.flatnonzero(whole == 0.0).tolist() == [2]


# A thruster turns and pushes a hull through water, below which a load hangs on a ball joint.
HULL = """
<mujoco><option timestep="0.004" density="1000" integrator="implicitfast"/>
  <worldbody><body name="hull" gravcomp="1"><freejoint name="free"/>
    <geom type="ellipsoid" size=".3 .2 .1" mass="25"/><site name="imu" euler="0 0 90"/>
    <site name="thruster" pos="-.3 .1 0" euler="0 80 0"/>{load}</body></worldbody>
  <actuator><motor name="push" site="thruster" gear="0 0 1 0 0 0"/></actuator>
  <sensor><gyro name="gyro" site="imu"/><velocimeter name="log" site="imu"/>
    <framepos name="place" objtype="xbody" objname="hull"/>
    <framequat name="turn" objtype="xbody" objname="hull"/></sensor></mujoco>"""
LOAD = """<body><joint name="rope" type="ball" damping=".01"/>
  <geom type="sphere" size=".05" pos="0 0 -.5" mass="5"/></body>"""


def swum(load: str, *sensors: str) -> tuple[StartReader, mujoco.MjModel, FloatArray, FloatArray]:
    """A reader of starts that some sensors tell, the model, the instants and the true states."""
    model = mujoco.MjModel.from_xml_string(HULL.format(load=load))
    data, times = mujoco.MjData(model), 0.004 * np.arange(1500)
    pushed = 20.0 * np.sin(2.0 * times) + 8.0 * np.sin(5.3 * times)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.zeros((len(times), mujoco.mj_stateSize(model, kind)))
    read = np.zeros((len(times), model.nsensordata))
    for state, own, push in zip(states, read, pushed, strict=True):
        mujoco.mj_forward(model, data)
        mujoco.mj_getState(model, data, state, kind)
        own[:] = data.sensordata
        data.ctrl[0] = push
        mujoco.mj_step(model, data)
    columns = [
        int(model.sensor(name).adr[0]) + i
        for name in sensors
        for i in range(int(model.sensor(name).dim[0]))
    ]
    told = TimeSeries.from_names(times, read[:, columns], model, names=list(sensors))
    start = np.concatenate([[0.0], model.qpos0, np.zeros(model.nv)])
    reader = StartReader(model, told, start, velocity_filter=30.0)
    reader.carry([SignalIntegral(times, pushed, "zoh")], (0.0, float(times[-1])))
    return reader, model, times, states


def test_a_load_on_a_ball_joint_swings_below_a_body_whose_pose_is_measured() -> None:
    reader, model, times, truth = swum(LOAD, "place", "turn")
    chosen = np.arange(400, 1400, 100)
    states = reader.states(times[chosen], 0.0, {})
    rope, rates = slice(8, 12), slice(1 + model.nq + 6, 1 + model.nq + 9)
    assert np.abs(truth[chosen, rope] - [1.0, 0.0, 0.0, 0.0]).max() > 0.1, "it does swing"
    assert states[:, rope] == pytest.approx(truth[chosen, rope], abs=0.01)
    assert np.linalg.norm(states[:, rope], axis=1) == pytest.approx(1.0)
    spread = np.abs(truth[chosen, rates]).max()
    assert np.abs(states[:, rates] - truth[chosen, rates]).max() < 0.05 * spread


@pytest.mark.parametrize("sensors", [("gyro",), ("gyro", "log")])
def test_a_body_of_which_an_imu_alone_tells_goes_where_commands_bring_it(
    sensors: tuple[str, ...],
) -> None:
    reader, model, times, truth = swum("", *sensors)
    chosen = np.arange(100, 1400, 100)
    states = reader.states(times[chosen], 0.0, {})
    turned, rates = slice(4, 8), slice(1 + model.nq, 1 + model.nq + 6)
    assert np.abs(truth[chosen, turned] - [1.0, 0.0, 0.0, 0.0]).max() > 0.1, "it does turn"
    assert states[:, turned] == pytest.approx(truth[chosen, turned], abs=0.01)
    spread = np.abs(truth[chosen, rates]).max()
    assert np.abs(states[:, rates] - truth[chosen, rates]).max() < 0.05 * spread


def test_a_body_of_which_nothing_tells_stays_where_the_model_has_it() -> None:
    reader, model, times, _ = swum(LOAD)
    states = reader.states(times[[200, 900]], 0.0, {})
    assert states[:, 1:8] == pytest.approx(np.tile(model.qpos0[:7], (2, 1)), abs=1e-3)


def test_springs_serve_for_any_command_of_what_they_pull() -> None:
    reader, _, times, _ = swum(LOAD, "place", "turn")
    before = reader.states(times[[900]], 0.0, {})
    reader.carry([SignalIntegral(times, np.zeros(1500), "zoh")], (0.0, float(times[-1])))
    assert np.array_equal(reader.states(times[[900]], 0.0, {}), before)
