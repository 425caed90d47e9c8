# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What nothing measures starts where commands and the measured motion have brought it."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import SignalIntegral, TimeSeries
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
    passed = own.passed(command, model.opt.timestep * chosen, 0.1)
    assert passed == pytest.approx(truth[chosen, own.address], abs=1e-3)
    assert np.abs(command.mean(model.opt.timestep * chosen, 1e-3) - passed).max() > 0.01
