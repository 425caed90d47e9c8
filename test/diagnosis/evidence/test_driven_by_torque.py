# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sensors of joint torque stand for motors where no input is known."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.diagnosis import recorded

ARM = """
<mujoco><worldbody><body name="upper" gravcomp="0.8">
  <joint name="a" axis="0 1 0" actuatorgravcomp="{0}"/><geom size="0.1"/></body></worldbody>
<actuator><position name="servo" joint="a" kp="50"/></actuator>
<sensor><jointpos name="pa" joint="a"/><jointactuatorfrc name="whole" joint="a"/>
  <actuatorfrc name="part" actuator="servo"/></sensor></mujoco>
"""


@pytest.mark.parametrize(("flag", "compensated"), [("true", 0.0), ("false", 0.8)])
def test_torque_on_a_joint_is_all_that_drives_it(flag: str, compensated: float) -> None:
    """Weight that it bears counts once, and what senses the servo goes with it."""
    spec, times = mujoco.MjSpec.from_string(ARM.format(flag)), 0.01 * np.arange(50)
    model = spec.copy().compile()
    sensors = {n: (sysid.SignalType.MjSensor, np.array([k])) for k, n in enumerate(("pa", "whole"))}
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    group = sysid.ModelSequences(
        "arm", spec, ["run"], [start],
        [sysid.TimeSeries(times, np.zeros((len(times), 1)))],
        [sysid.TimeSeries(times, np.zeros((len(times), 2)), sensors)],
        allow_missing_sensors=True,
    )  # fmt: skip
    found = recorded([group])
    assert [found.model.actuator(one).name for one in found.efforts] == ["whole"]
    assert found.model.body_gravcomp[1] == compensated
