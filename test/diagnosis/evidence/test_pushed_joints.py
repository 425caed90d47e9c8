# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that cannot follow as bodies touch, where some positions follow from others."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis.evidence import Recorded, Samples, is_pushed

FINGER = """<body pos="{0} 0 0"><joint name="j{1}" axis="0 1 0"/>
  <geom type="capsule" size=".01" fromto="0 0 0 0 0 .1" mass=".1"/></body>"""
TIED = '<equality><joint joint1="j1" joint2="j0" polycoef="0 -1 0 0 0"/></equality>'


@pytest.mark.parametrize(("tie", "pushed"), [(TIED, True), ("", False)])
def test_a_finger_that_is_tied_to_a_measured_one_pushes_it_and_an_unknown_one_does_not(
    tie: str, pushed: bool
) -> None:
    fingers = "".join(FINGER.format(0.05 * k, k) for k in range(2))
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{fingers}</worldbody>{tie}</mujoco>"
    )
    times = np.linspace(0.0, 1.0, 101)
    closes = {"measured": Samples(times, np.where(times < 0.5, 0.0, 0.4))}
    seen = Recorded(model, (closes,), (), {0: "measured"}, {}, {}, {})
    assert is_pushed(seen, 0) == pushed
    opens = {"measured": Samples(times, np.where(times < 0.5, 0.0, -0.4))}
    assert not is_pushed(Recorded(model, (opens,), (), {0: "measured"}, {}, {}, {}), 0)
