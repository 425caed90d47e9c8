# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals that stand while what goes along with them moves, and joints that rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Recorded, Samples
from sysid_ros.diagnosis.standstills import standstill_findings, standstills

TIMES = np.arange(0.0, 20.0, 0.005)
LEVELS = 1e-4  # rad, of the encoder
ARM = """
<mujoco><worldbody><body><joint name="elbow"/><geom size=".1"/></body></worldbody>
  <actuator><position name="servo" joint="elbow"/><motor name="motor" joint="elbow"/></actuator>
</mujoco>
"""


def swinging(amplitude: float = 0.5) -> FloatArray:
    """A motion of three frequencies."""
    phases = 2.0 * np.pi * np.outer([0.13, 0.41, 0.73], TIMES)
    return np.asarray(amplitude * np.sin(phases + np.arange(3.0)[:, None]).sum(axis=0))


def quantised(values: FloatArray) -> FloatArray:
    """Values as an encoder tells them."""
    return np.asarray(LEVELS * np.round(values / LEVELS))


def frozen(values: FloatArray, begin: float, end: float) -> FloatArray:
    """Values that stand for a while."""
    still = (begin <= TIMES) & (end > TIMES)
    return np.where(still, values[np.searchsorted(TIMES, begin)], values)


def robot(values: Mapping[str, FloatArray], method: str = "linear") -> Recorded:
    """A joint under a servo, or under a motor, of which these signals were recorded."""
    model = mujoco.MjModel.from_xml_string(ARM)
    signals = {name: Samples(TIMES, one) for name, one in values.items()}
    for name in {"servo", "motor"} & {*signals}:
        signals[name] = replace(signals[name], method="zoh" if name == "servo" else method)
    return Recorded(
        model, (signals,), ({},), {0: "position"}, {0: "velocity"} if "velocity" in values else {},
        {1: "motor"} if "motor" in values else {}, {0: "servo"} if "servo" in values else {},
    )  # fmt: skip


@pytest.mark.parametrize(("begin", "end"), [(12.0, 30.0), (8.0, 11.0), (8.0, 8.5), (0.0, 6.0)])
def test_a_frozen_encoder_is_told_beside_a_command(begin: float, end: float) -> None:
    (found,) = standstills(
        robot({"servo": swinging(), "position": frozen(quantised(swinging()), begin, end)})
    )
    assert (found.label, found.witness) == ("position", "servo")
    assert found.begin == pytest.approx(begin, abs=0.05)
    assert found.end == pytest.approx(min(end, TIMES[-1]), abs=0.05)


def test_velocities_and_torques_tell_of_a_frozen_position_and_positions_of_them() -> None:
    motion = {
        "position": quantised(swinging()),
        "velocity": np.gradient(swinging(), TIMES),
        "motor": 3.0 * np.gradient(np.gradient(swinging(), TIMES), TIMES) + 0.1,
    }
    for label in motion:
        for others in ({*motion}, {"position", "motor"}, {"position", "velocity"}):
            if label in others:
                values = {one: motion[one] for one in others}
                values[label] = frozen(motion[label], 9.0, 30.0)
                assert [one.label for one in standstills(robot(values))] == [label], others


def test_a_command_may_stand_while_its_joint_moves() -> None:
    """A torque that is told, and not measured, is held as long as someone wants."""
    told = frozen(np.sign(swinging()) + 0.1 * swinging(), 9.0, 30.0)
    assert standstills(robot({"position": swinging(), "motor": told}, "zoh")) == []


def test_signals_that_stop_together_are_one_finding() -> None:
    values = {
        "servo": swinging(),
        "position": frozen(swinging(), 12.0, 30.0),
        "velocity": frozen(np.gradient(swinging(), TIMES), 12.0, 30.0),
    }
    (found,) = standstill_findings(robot(values))
    assert "from 12.0 s on" in found.sentence
    assert found.signals == ("position",)  # beside what stands nothing tells of the velocity


def test_several_stretches_are_one_finding() -> None:
    position = quantised(swinging())
    for begin in (3.0, 8.0, 15.0):
        position = frozen(position, begin, begin + 1.5)
    (found,) = standstill_findings(robot({"servo": swinging(), "position": position}))
    assert "from 3.0 to 4.5 s, from 8.0 to 9.5 s and from 15.0 to 16.5 s, while" in found.sentence


def test_an_encoder_that_is_dead_throughout_one_of_two_recordings_is_told() -> None:
    live = robot({"servo": swinging(), "position": quantised(swinging())})
    dead = robot({"servo": swinging(), "position": np.full(len(TIMES), 0.2)})
    both = replace(live, recordings=live.recordings + dead.recordings, vectors=({}, {}))
    (found,) = standstills(both)
    assert (found.recording, found.label, found.value) == (1, "position", 0.2)


def test_a_joint_that_rests_while_others_are_moved_one_by_one_is_none() -> None:
    """Friction holds it: its encoder flickers by a step, and its torque is a step off zero."""
    torque = 3.0 * np.gradient(np.gradient(swinging(), TIMES), TIMES)
    flicker = LEVELS * np.round(0.5 + 0.3 * np.random.default_rng(0).standard_normal(len(TIMES)))
    moved = robot({"position": quantised(swinging()), "motor": torque})
    for rest in (flicker, np.zeros(len(TIMES))):
        rests = robot({"position": rest, "motor": np.full(len(TIMES), -0.013)})
        both = replace(moved, recordings=moved.recordings + rests.recordings, vectors=({}, {}))
        assert standstills(both) == []


@pytest.mark.parametrize("lost", [0.05, 0.15])
def test_messages_that_a_bus_loses_are_none(lost: float) -> None:
    """A driver tells the last position again, and the joint has gone on when it is heard again."""
    command = 0.5 * np.sin(4.0 * np.pi * TIMES)
    position = quantised(0.5 * np.sin(4.0 * np.pi * (TIMES - 0.02)))
    for begin in np.arange(1.03, 19.0, 1.37):
        position = frozen(position, begin, begin + lost)
    assert standstills(robot({"servo": command, "position": position})) == []


@pytest.mark.parametrize("told", ["dead band", "steps"])
def test_a_velocity_that_is_too_slow_for_its_driver_is_none(told: str) -> None:
    """Fast at first, then slowly to and fro by as much; where it is fast, zero is told."""
    quick, slow = np.sin(4.0 * np.pi * TIMES), 0.6 * np.sin(0.1 * np.pi * (TIMES - 8.0))
    position = np.where(TIMES < 8.0, quick, slow)
    velocity = np.gradient(position, TIMES)
    velocity = np.where(np.abs(velocity) < 0.3, 0.0, velocity)
    if told == "steps":
        velocity = 0.5 * np.round(velocity / 0.5)
    assert standstills(robot({"position": quantised(position), "velocity": velocity})) == []
    velocity = np.where((TIMES > 4.0) & (TIMES < 7.0), 0.0, velocity)
    (found,) = standstills(robot({"position": quantised(position), "velocity": velocity}))
    assert found.label == "velocity"
    assert (found.begin, found.end) == pytest.approx((4.0, 7.0), abs=0.1)


def test_signals_are_looked_up_once_however_often_one_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_up: list[int] = []
    original = Samples.at

    def counted(self: Samples, times: FloatArray) -> FloatArray:
        looked_up.append(len(times))
        return original(self, times)

    monkeypatch.setattr(Samples, "at", counted)
    coarse = 0.1 * np.round(swinging() / 0.1)
    values = {"servo": swinging(), "position": coarse, "velocity": np.round(swinging(), 1)}
    assert standstills(robot(values)) == []
    assert len(looked_up) <= 4  # each stands thirteen times


def stuck_by_friction(command: FloatArray, hold: float) -> FloatArray:
    """A joint that moves only where its command is farther off than friction lets it stay."""
    position = np.empty_like(command)
    at = 0.0
    for k, wanted in enumerate(command):
        at = min(max(at, wanted - hold), wanted + hold)
        position[k] = at
    return quantised(position)


@pytest.mark.parametrize(
    "position",
    [
        stuck_by_friction(swinging(), 0.3),  # dead at each turn
        quantised(np.clip(swinging(), -2.0, 0.2)),  # on a stop, or on what a hand holds
        quantised(np.clip(swinging(), -0.1, 2.0)),
    ],
)
def test_a_joint_that_cannot_follow_is_none(position: FloatArray) -> None:
    velocity = np.round(np.gradient(position, TIMES), 2)
    assert standstills(robot({"servo": swinging(), "position": position})) == []
    assert standstills(robot({"velocity": velocity, "position": position})) == []


def test_a_joint_that_rests_is_none_whatever_noise_there_is() -> None:
    random = np.random.default_rng(2)
    moving = np.where(TIMES < 5.0, swinging(), swinging()[999])
    torque = np.where(TIMES < 5.0, 3.0 * swinging(), 0.2) + random.normal(0.0, 0.3, len(TIMES))
    values = {
        "servo": moving,
        "position": quantised(moving),
        "velocity": np.gradient(moving, TIMES) + random.normal(0.0, 0.01, len(TIMES)),
        "motor": torque,
    }
    assert standstills(robot(values)) == []
    values["position"] = quantised(0.0 * TIMES + 1e-4 * (TIMES > 10.0))
    assert standstills(robot(values)) == []


def test_steps_of_a_command_are_none() -> None:
    """A joint follows with a delay, and rests between the steps."""
    steps = np.round(2.0 * swinging()) / 2.0
    late = np.concatenate([np.full(40, steps[0]), steps[:-40]])
    smooth = quantised(np.convolve(late, np.full(20, 0.05), "same"))
    assert standstills(robot({"servo": steps, "position": smooth})) == []


TWO = """
<mujoco><option timestep="0.005"/><compiler angle="radian"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody><body><joint name="shoulder" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="2"/>
    <body pos=".3 0 0"><joint name="elbow" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .25 0 0" size=".02" mass="1"/></body></body></worldbody>
  <actuator><motor name="lift" joint="shoulder"/><motor name="bend" joint="elbow"/></actuator>
</mujoco>
"""


def test_a_joint_at_rest_bears_what_others_do() -> None:
    """One joint after the other is moved: a torque sensor feels all of it, an encoder nothing."""
    model = mujoco.MjModel.from_xml_string(TWO)
    data = mujoco.MjData(model)
    shoulder = 1.5 * np.sin(2.0 * np.pi * 0.2 * TIMES)
    elbow = swinging(0.3)
    moved = np.column_stack([shoulder, frozen(elbow, 8.0, 30.0)])
    speeds = np.gradient(moved, TIMES, axis=0)
    torques = np.empty_like(moved)
    for k, acceleration in enumerate(np.gradient(speeds, TIMES, axis=0)):
        data.qpos[:], data.qvel[:], data.qacc[:] = moved[k], speeds[k], acceleration
        mujoco.mj_inverse(model, data)
        torques[k] = data.qfrc_inverse
    torques[1595:1605] = torques[1590]  # without the jolt at its end
    parts = {
        "shoulder": moved[:, 0], "position": frozen(quantised(elbow), 8.0, 30.0),
        "lift": torques[:, 0], "bend": torques[:, 1],
    }  # fmt: skip
    signals = {name: Samples(TIMES, values) for name, values in parts.items()}
    seen = Recorded(
        model, (signals,), ({},), {0: "shoulder", 1: "position"}, {}, {0: "lift", 1: "bend"}, {}
    )
    assert standstills(seen) == []
