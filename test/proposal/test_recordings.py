# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is told seldom has gaps of its own, and what nothing holds has short windows."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal.recordings import divide, longest_gap, proposed_window
from sysid_ros.proposal.signals import Channel, Line, Mapping


@pytest.mark.parametrize(
    ("intervals", "found"),
    [
        ([], None),
        ([0.005, 0.05], None),
        ([0.005, 0.1], 0.25),
        ([0.2, 0.1], 0.5),
        ([0.01, 0.0, np.inf], None),
    ],
)
def test_the_slowest_signal_decides(intervals: list[float], found: float | None) -> None:
    assert longest_gap(intervals) == found


MODEL = """<mujoco><worldbody><site name="a"/><body><joint name="held"/><geom size=".1"/>
  <body><joint name="loose"/><geom size=".1"/><site name="b" pos=".1 0 0"/>
  </body></body></worldbody>
  <tendon><spatial name="cable"><site site="a"/><site site="b"/></spatial></tendon>
  <actuator><position name="servo" joint="held"/>{}</actuator></mujoco>"""


@pytest.mark.parametrize(
    ("other", "longest"),
    [
        ("", True),
        ('<motor name="other" joint="held"/>', True),  # it pushes what a servo holds
        ('<position name="other" joint="loose"/>', True),
        ('<motor name="other" joint="loose"/>', False),
        ('<motor name="other" tendon="cable"/>', False),
        ('<adhesion name="other" body="world" ctrlrange="0 1"/>', True),
    ],
)
def test_a_servo_holds_no_other_joint(other: str, longest: bool) -> None:
    """An elbow on cables ran away in 1 s, the window of a servo elsewhere."""
    times = np.arange(0.0, 20.0, 0.01)

    def channel(field: str) -> Channel:
        values = (np.sin(10.0 * times),)
        return Channel("/t", "m/msg/M", field, "", "", 0, False, (times,), values)

    names = ["servo", "other"] if other else ["servo"]
    inputs = [Line("actuator", name, channel(name)) for name in names]
    lines = (Line("qpos", "held", channel("held")), *inputs)
    mapping = Mapping(lines, (), (), ("held",))
    window = proposed_window(mujoco.MjModel.from_xml_string(MODEL.format(other)), mapping)
    assert window is not None
    assert (window == 1.0) == longest


@pytest.mark.parametrize(
    ("hip", "knee", "held_out"),
    [
        ([0.5, 0.4, 0.6, 0.5], [0.3, 0.3, 0.5, 0.3], ("c",)),
        ([0.5, 0.5, 0.0, 0.5], [0.0, 0.01, 0.5, 0.0], ()),  # the knee is moved in the third alone
        ([0.5, 0.0, 0.5, 0.0], [0.0, 0.5, 0.0, 0.5], ("c",)),  # each one twice
        ([0.5, 0.5], [0.5, 0.5], ()),
    ],
)
def test_what_judges_a_fit_moves_joints_that_the_fit_saw_moving(
    hip: list[float], knee: list[float], held_out: tuple[str, ...]
) -> None:
    times = np.arange(0.0, 2.0, 0.01)

    def line(joint: str, amplitudes: list[float]) -> Line:
        values = tuple(amplitude * np.sin(7.0 * times) for amplitude in amplitudes)
        stamps = (times,) * len(values)
        return Line(
            "qpos", joint, Channel("/t", "m/msg/M", joint, "", "", 0, False, stamps, values)
        )

    mapping = Mapping((line("hip", hip), line("knee", knee)), (), (), ("hip", "knee"))
    bags = [Path(name) for name in "abcd"[: len(hip)]]
    found = divide(bags, Path("experiment.yaml"), mapping)
    assert found.held_out == held_out
    assert found.fraction == (None if held_out else 0.2)
    assert len(found.fitted) == len(bags) - len(held_out)


def test_a_wheel_that_is_driven_for_longer_does_not_rest_in_the_others() -> None:
    stamps = [np.arange(0.0, end, 0.01) for end in (5.0, 5.0, 30.0)]
    turned = tuple(4.0 * one for one in stamps)
    wheel = Channel("/t", "m/msg/M", "wheel", "", "", 0, False, tuple(stamps), turned)
    mapping = Mapping((Line("qpos", "wheel", wheel),), (), (), ("wheel",))
    found = divide([Path(name) for name in "abc"], Path("experiment.yaml"), mapping)
    assert found.held_out == ("c",)
