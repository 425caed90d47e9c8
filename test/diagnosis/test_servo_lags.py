# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One delay of a controller is told once, by all of its servos that tell it."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis import servo_lags
from sysid_ros.diagnosis.evidence import Recorded, Samples

BODY = """<body pos="{0} 0 0"><joint name="j{0}" axis="0 0 1" armature=".01"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass="1" contype="0"/></body>"""
SERVO = '<position joint="j{0}" kp="50000" kv="50"/>'
MODEL = f"""<mujoco><worldbody>{"".join(map(BODY.format, range(2)))}</worldbody>
  <actuator>{"".join(map(SERVO.format, range(2)))}</actuator></mujoco>"""


@pytest.mark.parametrize(("later", "told"), [(0.0, [{"u0", "u1"}]), (0.05, [{"u0"}, {"u1"}])])
def test_a_lag_that_others_do_not_exclude_is_theirs(
    monkeypatch: pytest.MonkeyPatch, later: float, told: list[set[str]]
) -> None:
    """A gripper told the delay to 3 ms, and its arm to 10: one controller's, told as two."""
    times = np.linspace(0.0, 20.0, 4001)
    signals: dict[str, Samples] = {}
    wanders = np.where(np.sin(1.1 * times) > 0.0, 0.05, 0.07)  # s
    for k, lag in enumerate((wanders, np.full(4001, 0.055 + later))):
        for name, instants in ((f"p{k}", times), (f"u{k}", times + lag)):
            rate = 2.0 + 0.1 * k
            values = np.sin(rate * instants) + 0.3 * np.sin(7.1 * rate * instants)
            signals[name] = Samples(times, values)
    model = mujoco.MjModel.from_xml_string(MODEL)
    seen = Recorded(model, (signals,), (), {0: "p0", 1: "p1"}, {}, {}, {0: "u0", 1: "u1"})
    monkeypatch.setattr(servo_lags, "_different", lambda _, group: group[1:])
    found = servo_lags.servo_lags(seen, lambda _: "/controller/commands")
    assert [{*one.change.delay} for one in found] == told
