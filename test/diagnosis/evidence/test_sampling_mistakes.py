# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How much motion is enough."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.diagnosis import recorded, still_joints
from sysid_ros.diagnosis.evidence.sampling_mistakes import stuck_limit

STAGE = """
<mujoco>
  <worldbody><body>
    <joint name="stage" type="slide" axis="1 0 0" {}/><geom size="0.01" mass="0.1"/>
  </body></worldbody>
  <sensor><jointpos name="place" joint="stage"/></sensor>
</mujoco>
"""


@pytest.mark.parametrize(
    ("limits", "still"),
    [("", {"stage"}), ('range="-0.5 0.5"', {"stage"}), ('range="-5e-4 5e-4"', set())],
    ids=["no limits", "a lift", "a stage of a millimetre"],
)
def test_half_a_millimetre_is_motion_of_what_has_one(limits: str, still: set[str]) -> None:
    spec = mujoco.MjSpec.from_string(STAGE.format(limits))
    model = spec.compile()
    times = np.arange(0.0, 4.0, 0.005)
    places = 2.5e-4 * np.sin(2.0 * np.pi * times)
    control = sysid.TimeSeries(times, np.empty((len(times), 0)), {})
    measured = sysid.TimeSeries.from_names(times, places[:, None], model)
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    group = sysid.ModelSequences("robot", spec, "run", start, control, measured)
    assert still_joints(recorded([group])) == still


@pytest.mark.parametrize(("largest", "told"), [("-8 8", False), ("-20 20", True)])
def test_a_command_at_the_end_of_what_its_actuator_takes_is_not_cut_off(
    largest: str, told: bool
) -> None:
    """The model cuts it off at the same value."""
    motor = f'<actuator><motor name="push" joint="stage" ctrlrange="{largest}"/></actuator><sensor>'
    spec = mujoco.MjSpec.from_string(STAGE.format("").replace("<sensor>", motor))
    model = spec.compile()
    times = np.arange(0.0, 20.0, 0.01)
    random = 0.1 * np.random.default_rng(0).standard_normal(len(times))
    force = np.minimum(10.0 * np.sin(2.0 * times) + random, 8.0)
    push = {"push": (sysid.SignalType.MjCtrl, np.array([0]))}
    control = sysid.TimeSeries(times, force[:, None], push)
    measured = sysid.TimeSeries.from_names(times, np.sin(2.0 * times)[:, None], model)
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    group = sysid.ModelSequences("robot", spec, "run", start, control, measured)
    assert (stuck_limit(recorded([group]), "push") is not None) == told


@pytest.mark.parametrize(("farthest", "told"), [(0.8, False), (1.0, True)])
def test_a_joint_that_waits_where_its_servo_was_asked_to_is_not_cut_off(
    farthest: float, told: bool
) -> None:
    """A servo that is asked for more says that the sensor has an end there."""
    servo = '<actuator><position name="hold" joint="stage" kp="900"/></actuator><sensor>'
    spec = mujoco.MjSpec.from_string(STAGE.format("").replace("<sensor>", servo))
    model = spec.compile()
    times = np.arange(0.0, 20.0, 0.01)
    asked = np.minimum(np.sin(2.0 * times), farthest)
    places = np.round(np.minimum(np.sin(2.0 * times), 0.8) / 1e-3) * 1e-3
    control = sysid.TimeSeries(
        times, asked[:, None], {"hold": (sysid.SignalType.MjCtrl, np.array([0]))}
    )
    measured = sysid.TimeSeries.from_names(times, places[:, None], model)
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    group = sysid.ModelSequences("robot", spec, "run", start, control, measured)
    assert (stuck_limit(recorded([group]), "place") is not None) == told
