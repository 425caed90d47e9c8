# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Repairs that a simulation may believe."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.simulated.simulated_entries import Simulated

FINGER = """<mujoco><worldbody><body>
  <joint name="tip" range="{low} {high}" limited="true"/><geom size=".1" mass="1"/>
  </body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("low", "high", "believed"),
    [(-90.0, 0.0, True), (0.0, 90.0, False), (-20.0, 0.0, True)],
    ids=["within its range", "beyond it with any scale", "beyond it as recorded alone"],
)
def test_the_scale_of_a_joint_that_stays_beyond_its_stops_is_not_believed(
    low: float, high: float, believed: bool
) -> None:
    """A tip that mimics its finger backwards, of which the model's stop holds it off."""
    times = np.arange(0.0, 10.0, 0.01)
    measured = Samples(times, -0.4 - 0.35 * np.sin(times))
    model = mujoco.MjModel.from_xml_string(FINGER.format(low=low, high=high))
    whole = Recorded(model, ({"tip_qpos": measured},), ({},), {0: "tip_qpos"}, {}, {}, {})
    change = Change(FindingKind.SCALE, scale={"tip_qpos": 0.4})
    assert Simulated(whole, {"tip_qpos": "/joint_states"}).matters(change, 0.4) is believed
