# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands that hold, as checks and inverse dynamics read them."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.diagnosis.evidence.recorded import recorded
from sysid_ros.engine.measured_torque.rows.sequence_recordings import (
    sequence_recording,
    torque_sources,
)

MOTOR = """
<mujoco>
  <worldbody><body>
    <joint name="arm" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/>
  </body></worldbody>
  <actuator><motor name="drive" joint="arm"/></actuator>
  <sensor><jointpos name="angle" joint="arm"/></sensor>
</mujoco>
"""
TICKS = np.arange(8) * 0.02


def driven(method: str) -> sysid.ModelSequences:
    """A motor that is commanded every 20 ms and whose angle is measured every 10 ms."""
    spec = mujoco.MjSpec.from_string(MOTOR)
    model = spec.compile()
    times = np.arange(15) * 0.01
    measured = sysid.TimeSeries.from_names(times, np.sin(times)[:, None], model)
    mapping = {"drive": (sysid.SignalType.MjCtrl, np.array([0]))}
    control = sysid.TimeSeries(TICKS, np.arange(8.0)[:, None], mapping, (method,))
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    return sysid.ModelSequences("robot", spec, "run", start, control, measured)


@pytest.mark.parametrize("method", ["zoh", "zero_order_hold"])
def test_a_command_holds_under_either_name(method):
    group = driven(method)
    model = group.spec.compile()
    recording = sequence_recording(model, group, 0, torque_sources(model, group), {})
    np.testing.assert_array_equal(recording.torque[:, 0], np.repeat(np.arange(8.0), 2)[:15])
    command = recorded([group]).recordings[0]["drive"]
    np.testing.assert_array_equal(command.at(TICKS + 0.015), np.arange(8.0))
