# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that nothing drives, of which one has the name of a servo's."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis import tracking
from sysid_ros.diagnosis.evidence import Recorded, Samples
from sysid_ros.diagnosis.fits import body_torques
from sysid_ros.diagnosis.servo_exchanges import exchanged
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


@pytest.mark.parametrize("named", [None, 4])
def test_a_servo_s_joint_is_looked_for_among_undriven_ones_at_a_glance(
    monkeypatch: pytest.MonkeyPatch, named: int | None
) -> None:
    signals = {f"p{k}": swung(1.0 + 0.37 * k) for k in range(1 + PASSIVE)}
    signals["u"] = signals["p5"] if named is None else signals[f"p{named}"]
    if named is None:  # what moves as the servo is asked to is no joint of this robot
        signals["p5"] = swung(0.7)
    model, positions = mujoco.MjModel.from_xml_string(ARMS), {k: f"p{k}" for k in range(7)}
    seen = Recorded(model, (signals,), (), positions, {}, {}, {0: "u"})
    test = Tracking.of(seen)
    assert test is not None
    instants: list[int] = []

    def computed(*arguments: np.ndarray) -> np.ndarray:
        instants.append(len(arguments[1]))
        return np.array(body_torques(*arguments))

    monkeypatch.setattr(tracking, "body_torques", computed)
    found = exchanged(seen, test, [0])
    pairs = [one.change.exchange for explained, _ in found for one in explained]
    assert pairs == ([] if named is None else [(("p0", f"p{named}"),)])
    glances, whole = [150] * PASSIVE, [len(test.data.block)]
    assert sorted(instants) == [*glances, *(2 * whole if named else whole)]  # as recorded, and so
