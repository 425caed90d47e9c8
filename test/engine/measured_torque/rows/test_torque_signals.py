# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The signals that tell joint torque: each force counts once."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.measured_torque import torque_signals
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries

ARM = """
<mujoco><worldbody>
  <body><joint name='a'/><geom size='.1'/>
    <body pos='1 0 0'><joint name='b'/><geom size='.1'/></body></body></worldbody>
<actuator><motor name='m' joint='a' gear='2'/><motor name='n' joint='b' gear='3'/></actuator>
<sensor><jointactuatorfrc name='whole' joint='a'/><actuatorfrc name='part' actuator='m'/>
  <actuatorfrc name='other' actuator='n'/></sensor></mujoco>
"""


def found(*measured: str) -> dict[str, list[float]]:
    times = np.linspace(0.0, 1.0, 5)
    mapping = {name: (SignalType.MjSensor, np.array([i])) for i, name in enumerate(measured)}
    group = ModelSequences(
        "arm",
        mujoco.MjSpec.from_string(ARM),
        ["run"],
        [np.zeros(5)],
        [TimeSeries(times, np.zeros((5, 2)))],
        [TimeSeries(times, np.zeros((5, len(measured))), mapping)],
        allow_missing_sensors=True,
    )
    signals = torque_signals(group.gt_model, group)
    return {signal.name: signal.moment.tolist() for signal in signals}


@pytest.mark.parametrize("measured", [("whole", "part"), ("part", "whole")])
def test_an_actuator_s_force_is_part_of_its_joint_s(measured: tuple[str, str]) -> None:
    assert found(*measured) == {"whole": [1.0, 0.0], "n": [0.0, 3.0]}


def test_a_sensor_counts_instead_of_the_input_of_the_same_joint() -> None:
    assert found("part", "other") == {"part": [2.0, 0.0], "other": [0.0, 3.0]}
