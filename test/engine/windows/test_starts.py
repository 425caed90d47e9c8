# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts of windows: each sensor's own gain, bias and delay are taken out of what it shows."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from counted_work import calls_of

from sysid_ros.engine.residuals import SignalSettings
from sysid_ros.engine.signals import SignalIntegral, SignalType, TimeSeries
from sysid_ros.engine.windows.integrated_inputs import integrated_inputs
from sysid_ros.engine.windows.spatial_starts import measured_poses
from sysid_ros.engine.windows.starts import StartReader

JOINT = """
<mujoco>
  <worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.5 0 0"/></body></worldbody>
  <sensor><jointpos name="angle" joint="j"/><jointvel name="rate" joint="j"/></sensor>
</mujoco>
"""
WEIGHTLESS = '<option gravity="0 0 0"/><worldbody>'
WRONG = {"angle": SignalSettings(0.0, 2.0, 0.1), "rate": SignalSettings(0.02, 0.5, -0.3)}


@pytest.mark.parametrize("measured", [("angle",), ("angle", "rate")])
def test_a_velocity_is_corrected_as_the_sensor_that_shows_it(measured: tuple[str, ...]) -> None:
    model, times = mujoco.MjModel.from_xml_string(JOINT), np.arange(0.0, 2.0, 0.005)
    late = times - WRONG["rate"].delay
    shown = {"angle": 2.0 * np.sin(3.0 * times) + 0.1, "rate": 1.5 * np.cos(3.0 * late) - 0.3}
    series = TimeSeries(
        times,
        np.column_stack([shown[name] for name in measured]),
        {name: (SignalType.MjSensor, np.array([i])) for i, name in enumerate(measured)},
    )
    reader = StartReader(model, series, np.zeros(3), velocity_filter=50.0)
    _, angle, rate = reader.state(0.8, 0.0, WRONG)
    assert angle == pytest.approx(np.sin(2.4), abs=1e-4)
    assert rate == pytest.approx(3.0 * np.cos(2.4), abs=1e-2)


def test_servos_that_integrate_their_command_hold_what_they_drive() -> None:
    text = JOINT.replace(
        "<sensor>",
        """<tendon><fixed name="belt"><joint joint="j" coef="3"/></fixed></tendon><actuator>
        <intvelocity joint="j" kp="50" kv="5" gear="2" actrange="-9 9"/>
        <position joint="j" kp="50" timeconst=".1"/>
        <intvelocity tendon="belt" kp="20" actrange="-9 9"/></actuator><sensor>""",
    ).replace("<worldbody>", WEIGHTLESS)
    model, times = mujoco.MjModel.from_xml_string(text), np.arange(0.0, 2.0, 0.005)
    angles = TimeSeries(
        times, np.sin(3.0 * times)[:, None], {"angle": (SignalType.MjSensor, np.array([0]))}
    )
    reader = StartReader(model, angles, np.zeros(6), velocity_filter=50.0)
    _, angle, rate, geared, filtered, belt = reader.state(0.8, 0.0, {})
    assert geared == pytest.approx(2.0 * angle + 5.0 / 50.0 * 2.0 * rate)
    assert filtered == 0.0  # what its command made of it is filled in elsewhere
    assert belt == pytest.approx(3.0 * angle)


@pytest.mark.parametrize(
    ("servo", "expected"),
    [
        ('<intvelocity joint="j" kp="50" gear="-2" actrange="-9 9"/>', -1.6),
        ('<intvelocity joint="j" kp="50" gear="-2" actrange="-1 1"/>', -1.0),
        (
            '<general joint="j" dyntype="integrator" gainprm="0" biastype="affine" '
            'biasprm="0 -50 0"/>',
            0.0,
        ),
    ],
)
def test_a_servo_holds_no_place_out_of_its_range_or_without_a_gain(
    servo: str, expected: float
) -> None:
    text = JOINT.replace("<sensor>", f"<actuator>{servo}</actuator><sensor>")
    text = text.replace("<worldbody>", WEIGHTLESS)
    model, times = mujoco.MjModel.from_xml_string(text), np.arange(0.0, 2.0, 0.005)
    angles = TimeSeries(
        times, np.full((400, 1), 0.8), {"angle": (SignalType.MjSensor, np.array([0]))}
    )
    reader = StartReader(model, angles, np.zeros(4), velocity_filter=50.0)
    assert reader.state(0.8, 0.0, {})[3] == pytest.approx(expected)


def test_a_velocity_alone_tells_a_start_and_adds_up_to_the_position() -> None:
    """Of a wheel, from the angle on that the model has; it passes 8 rad/s when a window begins."""
    model, times = mujoco.MjModel.from_xml_string(JOINT), np.arange(0.0, 4.0, 0.005)
    series = TimeSeries(
        times, (8.0 + 3.0 * np.cos(3.0 * times))[:, None],
        {"rate": (SignalType.MjSensor, np.array([0]))},
    )  # fmt: skip
    reader = StartReader(model, series, np.zeros(3), velocity_filter=50.0)
    _, angle, rate = reader.state(2.8, 0.0, {"rate": SignalSettings(delay=0.0)})
    assert angle == pytest.approx(8.0 * 2.8 + np.sin(8.4), abs=1e-3)
    assert rate == pytest.approx(8.0 + 3.0 * np.cos(8.4), abs=1e-3)
    assert reader.tells_all


@pytest.mark.parametrize("reach", [9.0, 0.2])
def test_commands_and_the_whole_recording_tell_what_a_servo_holds(reach: float) -> None:
    """Dry friction, which one instant does not show, hides it by 20 mrad; an end stops it."""
    servo = f'<intvelocity joint="j" kp="400" kv="20" actrange="-{reach} {reach}"/>'
    text = JOINT.replace("<sensor>", f"<actuator>{servo}</actuator><sensor>")
    text = text.replace('name="j"', 'name="j" frictionloss="8"').replace("size", 'mass="4" size')
    model = mujoco.MjModel.from_xml_string(text)
    data, times = mujoco.MjData(model), 0.002 * np.arange(2500)
    command, delay = np.cos(3.0 * times), 0.01
    angles, held = np.empty((2500, 1)), np.empty(2500)
    for k, t in enumerate(times):
        angles[k], held[k] = data.qpos, data.act[0]
        data.ctrl[0] = np.interp(t - delay, times, command)
        mujoco.mj_step(model, data)
    series = TimeSeries(times, angles, {"angle": (SignalType.MjSensor, np.array([0]))})
    reader = StartReader(model, series, np.zeros(4), velocity_filter=50.0)
    (one,) = integrated_inputs(model)
    integral, chosen = SignalIntegral(times, command, "zoh"), np.arange(400, 2400, 200)
    setting = SignalSettings(delay=delay)
    found = reader.places_along.at(one, integral, times[chosen], setting)
    alone = reader.states(times[chosen], 0.0, {})[:, one.address]
    assert np.ptp(held) > min(0.3, 1.9 * reach)
    assert np.abs(alone - held[chosen]).max() > 0.015
    assert np.abs(found - held[chosen]).max() < 0.004


def test_a_dead_point_of_a_linkage_hides_no_held_place() -> None:
    """Where a cylinder has no lever, friction of the joint looks like any force of the cylinder."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep="0.001" integrator="implicitfast"/><worldbody>
        <site name="low" pos="-.4 0 -.3"/><body><joint name="j" axis="0 1 0" frictionloss="20"
        damping="8"/><geom size=".1" pos=".3 0 0" mass="20"/><site name="high" pos=".1 0 .1"/>
        </body></worldbody><tendon><spatial name="rod">
        <site site="low"/><site site="high"/></spatial>
        </tendon><actuator><intvelocity tendon="rod" kp="200000" kv="3000" actrange="0 2"/>
        </actuator><sensor><jointpos name="angle" joint="j"/></sensor></mujoco>"""
    )
    data, times = mujoco.MjData(model), 0.001 * np.arange(12000)
    data.qpos[0] = 0.5
    mujoco.mj_forward(model, data)
    data.act[0] = data.ten_length[0]
    command = 0.06 * np.sin(1.7 * times)
    angles, held = np.empty((len(times), 1)), np.empty(len(times))
    for k, asked in enumerate(command):
        angles[k], held[k] = data.qpos, data.act[0]
        data.ctrl[0] = asked
        mujoco.mj_step(model, data)
    series = TimeSeries(times, angles, {"angle": (SignalType.MjSensor, np.array([0]))})
    reader = StartReader(model, series, np.zeros(4), velocity_filter=50.0)
    (one,) = integrated_inputs(model)
    integral, chosen = SignalIntegral(times, command, "zoh"), np.arange(500, 11500, 500)
    found = reader.places_along.at(one, integral, times[chosen], SignalSettings())
    levers = reader.places_along.levers
    assert levers.min() < 0.02 * levers.max()
    assert np.abs(found - held[chosen]).max() < 5e-4


def test_a_load_behind_an_equality_is_the_servos() -> None:
    """A drum holds 20 kg that hang from its rope, which an equality of joints is."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep="0.001"/><worldbody>
        <body><joint name="drum" axis="0 1 0" damping="1"/><geom size=".1" mass="6"/></body>
        <body pos="1 0 0"><joint name="hook" type="slide" axis="0 0 1" damping="8"/>
        <geom size=".1" mass="20"/></body></worldbody>
        <equality><joint joint1="hook" joint2="drum" polycoef="0 0.08 0 0 0"/></equality>
        <actuator><intvelocity joint="drum" kp="900" kv="45" actrange="-6 6"/></actuator>
        <sensor><jointpos name="angle" joint="drum"/><jointpos name="height" joint="hook"/></sensor>
        </mujoco>"""
    )
    data = mujoco.MjData(model)
    data.act[0] = 1.5
    mujoco.mj_step(model, data, 4000)
    angles = np.tile(data.qpos, (400, 1))
    series = TimeSeries(
        np.arange(0.0, 2.0, 0.005),
        angles,
        {
            "angle": (SignalType.MjSensor, np.array([0])),
            "height": (SignalType.MjSensor, np.array([1])),
        },
    )
    state = StartReader(model, series, np.zeros(6), velocity_filter=50.0).state(0.8, 0.0, {})
    (one,) = integrated_inputs(model)
    assert abs(data.qpos[0] - 1.5) > 0.017  # by which it sags
    assert state[one.address] == pytest.approx(1.5, abs=1e-4)


def test_a_pose_is_read_off_the_sensor_that_has_samples() -> None:
    """One that was hardly ever received does not hide another of the same body."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="base"><freejoint/><geom size="0.1"/></body></worldbody>
        <sensor><framepos name="lost" objtype="xbody" objname="base"/>
        <framepos name="seen" objtype="xbody" objname="base"/></sensor></mujoco>"""
    )
    times = 0.01 * np.arange(100)
    lost, seen = np.full((100, 3), np.nan), np.column_stack([times, 0.0 * times, 2.0 * times])
    lost[:2] = 7.0
    series = TimeSeries.from_names(times, np.hstack([lost, seen]), model, ["lost", "seen"])
    reader = StartReader(model, series, np.zeros(14), velocity_filter=50.0)
    state = reader.state(0.5, 0.0, {})
    assert state[1:4] == pytest.approx([0.5, 0.0, 1.0], abs=1e-6)
    assert state[8:11] == pytest.approx([1.0, 0.0, 2.0], rel=1e-3, abs=1e-6)


def test_a_start_is_read_off_once_for_all_windows_that_are_simulated_from_it() -> None:
    model, times = mujoco.MjModel.from_xml_string(JOINT), np.arange(0.0, 2.0, 0.005)
    series = TimeSeries(
        times, np.sin(3.0 * times)[:, None], {"angle": (SignalType.MjSensor, np.array([0]))}
    )
    reader, begins = StartReader(model, series, np.zeros(3), velocity_filter=50.0), times[[20, 90]]
    first = reader.states(begins, 0.0, {})
    whole = first.copy()
    first[:] = 0.0  # whoever asks may change what is told

    calls = [calls_of(lambda at=at: reader.states(at, 0.0, {})) for at in (begins + 0.1, begins)]
    assert calls[1] < 0.5 * calls[0]
    np.testing.assert_array_equal(reader.states(begins, 0.0, {}), whole)
    late = reader.states(begins, 0.0, {"angle": SignalSettings(0.02, 1.0, 0.0)})
    np.testing.assert_allclose(late[:, 1], np.sin(3.0 * (begins + 0.02)), atol=1e-4)


def test_a_pose_is_read_off_once_whatever_else_of_the_recording_is_repaired() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="base"><freejoint/><geom size="0.1"/></body></worldbody>
        <sensor><framepos name="place" objtype="xbody" objname="base"/>
        <framequat name="turn" objtype="xbody" objname="base"/></sensor></mujoco>"""
    )
    times, names = 0.01 * np.arange(100), ["place", "turn"]
    turn = np.column_stack([np.cos(times), np.sin(times), 0.0 * times, 0.0 * times])
    poses = []
    for scale in (1.0, 1.0, 2.0):
        place = scale * np.column_stack([times, 0.0 * times, times**2])
        series = TimeSeries.from_names(times, np.hstack([place, turn]), model, names)
        poses.append(measured_poses(model, series, 30.0)[0])
    assert poses[1].position is poses[0].position
    assert poses[2].position is not poses[0].position
    assert poses[2].position is not None
    assert poses[2].position.values(0.5)[0] == pytest.approx(1.0)
