# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A test of servos keeps little, however many repairs it tries."""

from __future__ import annotations

import weakref

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis import tracking
from sysid_ros.diagnosis.evidence import Change, FindingKind, Recorded, Samples
from sysid_ros.diagnosis.fits import body_torques
from sysid_ros.diagnosis.tracking import Tracking

ARM = """<mujoco><worldbody><body><joint name="elbow" axis="0 1 0"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass="1"/></body></worldbody>
  <actuator><position name="servo" joint="elbow" kp="50" kv="5"/></actuator></mujoco>"""


def test_loads_of_positions_that_were_tried_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    times = np.linspace(0.0, 8.0, 801)
    told = Samples(times, np.sin(2.0 * times) + 0.3 * np.sin(7.0 * times))
    seen = Recorded(
        mujoco.MjModel.from_xml_string(ARM), ({"position": told, "command": told},), (),
        {0: "position"}, {}, {}, {0: "command"},
    )  # fmt: skip
    made: list[weakref.ref[np.ndarray]] = []

    def computed(*arguments: object) -> np.ndarray:
        found = np.array(body_torques(*arguments))  # type: ignore[arg-type]
        made.append(weakref.ref(found))
        return found

    monkeypatch.setattr(tracking, "body_torques", computed)
    test = Tracking.of(seen)
    assert test is not None
    for offset in np.linspace(0.0, 0.3, 20):
        change = Change(FindingKind.OFFSET, offset={"position": float(offset)})
        once = test.misfit((0,), change).share
        assert test.misfit((0,), change).share == once
        test.misfit((0,))
    assert len(made) == 21  # each once, and those of what was recorded
    assert sum(one() is not None for one in made) <= 4
