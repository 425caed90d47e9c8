# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that nothing drives, of which one has a servo's name, and joints that are reversed."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis import tracking
from sysid_ros.diagnosis.evidence import Change, Explanation, FindingKind, Recorded, Samples
from sysid_ros.diagnosis.fits import body_torques
from sysid_ros.diagnosis.servo_exchanges import exchanged, reversed_joints, signs_together
from sysid_ros.diagnosis.tracking import Tracking

PASSIVE = 6
BODY = """<body pos="{k} 0 0"><joint name="j{k}" axis="0 1 0"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass="1" contype="0"/></body>"""
BODIES = "".join(BODY.format(k=k) for k in range(1 + PASSIVE))
ARMS = f"""<mujoco><worldbody>{BODIES}</worldbody>
  <actuator><position name="servo" joint="j0" kp="500" kv="5"/></actuator></mujoco>"""


def swung(rate: float) -> Samples:
    times = np.linspace(0.0, 20.0, 2001)
    return Samples(times, np.sin(rate * times) + 0.3 * np.sin(3.1 * rate * times))


@pytest.fixture
def instants(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """At how many instants torques of bodies were computed, time after time."""
    found: list[int] = []

    def computed(*arguments: np.ndarray) -> np.ndarray:
        found.append(len(arguments[1]))
        return np.array(body_torques(*arguments))

    monkeypatch.setattr(tracking, "body_torques", computed)
    return found


@pytest.mark.parametrize("named", [None, 4])
def test_a_servo_s_joint_is_looked_for_among_undriven_ones_at_a_glance(
    instants: list[int], named: int | None
) -> None:
    signals = {f"p{k}": swung(1.0 + 0.37 * k) for k in range(1 + PASSIVE)}
    signals["u"] = signals["p5"] if named is None else signals[f"p{named}"]
    if named is None:  # what moves as the servo is asked to is no joint of this robot
        signals["p5"] = swung(0.7)
    model, positions = mujoco.MjModel.from_xml_string(ARMS), {k: f"p{k}" for k in range(7)}
    seen = Recorded(model, (signals,), (), positions, {}, {}, {0: "u"})
    test = Tracking.of(seen)
    assert test is not None
    found = exchanged(seen, test, [0])
    pairs = [one.change.exchange for explained, _ in found for one in explained]
    assert pairs == ([] if named is None else [(("p0", f"p{named}"),)])
    glances, whole = [150] * PASSIVE, [len(test.data.block)]
    assert sorted(instants) == [*glances, *(2 * whole if named else whole)]  # as recorded, and so


TWO = """<mujoco><compiler angle="radian"/><worldbody><body><joint name="shoulder" axis="0 1 0"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" mass="{upper}" contype="0"/>
  <body pos=".4 0 0"><joint name="elbow" axis="0 {way} 0"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass="1" contype="0"/></body></body>
  </worldbody><actuator><position name="a" joint="shoulder" kp="800" kv="9"/>
  <position name="b" joint="elbow" kp="800" kv="9"/></actuator></mujoco>"""


def followed(truth: mujoco.MjModel, zero: float) -> dict[str, Samples]:
    """What servos are asked for so that they make a motion, with a zero of the second command."""
    times = np.linspace(0.0, 20.0, 4001)
    moves = np.array([0.4, 0.9]) + np.stack(
        [0.6 * np.sin(1.3 * times), 0.7 * np.sin(1.9 * times + 1.0)], axis=1
    )
    rates, data = np.gradient(moves, times, axis=0), mujoco.MjData(truth)
    second, torques = np.gradient(rates, times, axis=0), np.empty_like(moves)
    for k in range(len(times)):
        data.qpos[:], data.qvel[:], data.qacc[:] = moves[k], rates[k], second[k]
        mujoco.mj_inverse(truth, data)
        torques[k] = data.qfrc_inverse
    asked = moves + (torques + 9.0 * rates) / 800.0 + np.array([0.0, zero])
    columns = {"p": moves[:, 0], "q": moves[:, 1], "u": asked[:, 0], "v": asked[:, 1]}
    return {name: Samples(times, values) for name, values in columns.items()}


@pytest.mark.parametrize(
    ("way", "upper", "zero", "told"),
    [
        (-1, 2.0, 0.0, {"q", "v"}),
        (-1, 3.0, 0.01, {"q", "v"}),  # whatever the first link weighs and where the command is zero
        (1, 3.0, 0.0, set()),
        (1, 2.0, 0.03, set()),
    ],
)
def test_a_joint_that_the_model_turns_the_other_way_sags_to_the_other_side(
    way: int, upper: float, zero: float, told: set[str]
) -> None:
    signals = followed(mujoco.MjModel.from_xml_string(TWO.format(upper=upper, way=way)), zero)
    model = mujoco.MjModel.from_xml_string(TWO.format(upper=2.0, way=1))
    seen = Recorded(model, (signals,), (), {0: "p", 1: "q"}, {}, {}, {0: "u", 1: "v"})
    found = reversed_joints(seen, Tracking.of(seen))
    assert {label for one in found for label in one.change.signals} == told
    model.opt.gravity[:] = 0.0  # nothing tells then
    assert not reversed_joints(seen, Tracking.of(seen))


def test_joints_that_are_right_are_turned_at_a_glance(instants: list[int]) -> None:
    model = mujoco.MjModel.from_xml_string(TWO.format(upper=2.0, way=1))
    signals = followed(model, 0.0)
    asked = signals["v"]  # of what else the elbow is asked for, it does nothing
    signals["v"] = Samples(asked.times, asked.values + 0.05 * np.sin(4.3 * asked.times))
    seen = Recorded(model, (signals,), (), {0: "p", 1: "q"}, {}, {}, {0: "u", 1: "v"})
    test = Tracking.of(seen)
    assert test is not None
    assert not reversed_joints(seen, test)
    assert sorted(instants) == [150, 150, 150, len(test.data.block)]  # as recorded, and each turned


def test_a_robot_that_hangs_has_no_reversed_joint() -> None:
    """Level bars sag upwards either way; how the robot is mounted is asked later."""
    bars = "".join(BODY.format(k=k) for k in range(2))
    servos = "".join(f'<position joint="j{k}" kp="800" kv="9"/>' for k in range(2))
    text = f"<mujoco><worldbody>{bars}</worldbody><actuator>{servos}</actuator></mujoco>"
    truth, model = (mujoco.MjModel.from_xml_string(text) for _ in range(2))
    truth.opt.gravity[:] = -model.opt.gravity
    signals = followed(truth, 0.0)
    seen = Recorded(model, (signals,), (), {0: "p", 1: "q"}, {}, {}, {0: "u", 1: "v"})
    assert not reversed_joints(seen, Tracking.of(seen))
    turned = {name: Samples(one.times, -one.values) for name, one in signals.items()}
    seen = Recorded(truth, (turned,), (), {0: "p", 1: "q"}, {}, {}, {0: "u", 1: "v"})
    assert not reversed_joints(seen, Tracking.of(seen))  # whichever of them is the model's


@pytest.mark.parametrize(
    ("wrong", "told"), [(("p", "q"), [("p", "q")]), (("u", "v"), [("u", "v")])]
)
def test_ranges_tell_exchanged_positions_from_exchanged_commands(
    wrong: tuple[str, str], told: list[tuple[str, str]]
) -> None:
    """Without a load they look alike, but for a gripper that would open by minus a radian."""
    text = TWO.format(upper=1e-6, way=1).replace('mass="1"', 'mass="1e-6"')
    text = text.replace('"shoulder" axis', '"shoulder" armature="1" range="-.4 1.2" axis')
    model = mujoco.MjModel.from_xml_string(
        text.replace('"elbow" axis', '"elbow" armature="1" range="0 2" axis')
    )
    signals = followed(model, 0.0)
    one, other = wrong
    signals[one], signals[other] = signals[other], signals[one]
    seen = Recorded(model, (signals,), (), {0: "p", 1: "q"}, {}, {}, {0: "u", 1: "v"})
    test = Tracking.of(seen)
    assert test is not None
    ((explained, _),) = exchanged(seen, test, [0, 1])
    found = [(one.change, *one.alternatives) for one in explained]
    assert [[change.exchange[0] for change in each] for each in found] == [told]


@pytest.mark.parametrize("wrong", [("p", "q"), ("u", "v"), ("p", "v")])
def test_two_signs_are_attributed_together(wrong: tuple[str, str]) -> None:
    """The load on either servo depends on both positions; alone, each was its command's."""
    model = mujoco.MjModel.from_xml_string(TWO.format(upper=2.0, way=1))
    signals = followed(model, 0.0)
    for label in wrong:
        signals[label] = Samples(signals[label].times, -signals[label].values)
    seen = Recorded(model, (signals,), (), {0: "p", 1: "q"}, {}, {}, {0: "u", 1: "v"})
    test = Tracking.of(seen)
    assert test is not None
    commands = [Change(FindingKind.SIGN, scale={label: -1.0}) for label in ("u", "v")]
    alone = [Explanation(one, 0.0, 1.0, 0.0) for one in commands]
    told = signs_together(seen, test, alone)
    assert [one.change.signals for one in told] == [(label,) for label in wrong]
    assert signs_together(seen, test, alone[:1]) == alone[:1]


@pytest.mark.parametrize("before", [("p", "q"), ("u", "v"), ("u", "q")])
def test_two_signs_that_no_load_tells_stay_where_they_were(before: tuple[str, str]) -> None:
    """What told them was another thing, such as the joints' ranges."""
    text = TWO.format(upper=1e-6, way=1).replace('mass="1"', 'mass="1e-6"')
    text = text.replace('"shoulder" axis', '"shoulder" armature="1" axis')
    model = mujoco.MjModel.from_xml_string(
        text.replace('"elbow" axis', '"elbow" armature="1" axis')
    )
    signals = followed(model, 0.0)
    for label in ("p", "q"):
        signals[label] = Samples(signals[label].times, -signals[label].values)
    seen = Recorded(model, (signals,), (), {0: "p", 1: "q"}, {}, {}, {0: "u", 1: "v"})
    test = Tracking.of(seen)
    assert test is not None
    changes = [Change(FindingKind.SIGN, scale={label: -1.0}) for label in before]
    told = signs_together(seen, test, [Explanation(one, 0.0, 1.0, 0.0) for one in changes])
    assert [one.change.signals[0] for one in told] == [*before]
