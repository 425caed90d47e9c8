# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows begin where every command in force was recorded."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np
import pytest

from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.engine.parameters.modifiers import SignalModifier
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.engine.windows import model_group

SWING = """<mujoco><option timestep="0.002"/><worldbody><body>
  <joint name="swing" axis="0 1 0" damping="0.1"/><geom size="0.05" pos="0 0 -0.3" mass="0.5"/>
  </body></worldbody><actuator><position name="servo" joint="swing" kp="20" kv="1"/></actuator>
  <sensor><jointpos name="angle" joint="swing"/></sensor></mujoco>"""


def first_window(begun: float, most: float, duration: float = 3.0) -> float:
    """When the first window begins if commands move from an instant on, delayed by 50 ms at most.

    Both in seconds.
    """
    model = mujoco.MjModel.from_xml_string(SWING)
    times = 0.002 * np.arange(round(duration / 0.002))
    command = np.sin(3.0 * np.maximum(times - begun, 0.0))[:, None]
    start = create_initial_state(model, model.qpos0, np.zeros(model.nv))
    _, seen = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], command[None])
    recorded = ModelSequences(
        "swing", mujoco.MjSpec.from_string(SWING), "recording", start,
        TimeSeries(times, command, {"servo": (SignalType.MjCtrl, np.array([0]))}),
        TimeSeries(times, seen[0], {"angle": (SignalType.MjSensor, np.array([0]))}),
    )  # fmt: skip
    params = ParameterDict()
    params.add(Parameter("late", 0.01, 0.0, most, modifier=SignalModifier("servo", "delay")))
    group = model_group(
        recorded, params, window_length=1.0, estimate_starts=True, velocity_filter=30.0, gaps={}
    )
    return float(group.windows[0].window.start)


def test_a_robot_that_is_recorded_in_motion_is_driven_by_what_was_sent_before() -> None:
    assert first_window(0.0, 0.05) == pytest.approx(0.05, abs=3e-3)
    assert first_window(-1.0, 0.05) == pytest.approx(0.05, abs=3e-3)


def test_commands_that_rest_at_first_stand_for_those_before() -> None:
    assert first_window(0.5, 0.05) == pytest.approx(0.0, abs=3e-3)


def test_no_window_is_given_up_for_it() -> None:
    assert first_window(0.0, 0.05, duration=1.02) == pytest.approx(0.0, abs=3e-3)
