# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints at rest on their stops, and joints that no stop of the model would let be there."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Recorded, Samples, leaves_range

ARM = """<mujoco><compiler angle="radian"/><worldbody><body>
  <joint name="elbow" axis="0 1 0" range="-.5 .5" damping=".02" {stop}/>
  <geom type="capsule" fromto="0 0 0 .1 0 0" size=".01" mass=".1"/></body></worldbody></mujoco>"""
BEYOND = 0.3  # rad


@pytest.mark.parametrize(
    "stop",
    [
        "",
        'solimplimit="0 .99 .01"',  # stops of dm_control's robots, that begin without any force
        'solreflimit=".2 1"',
        'solreflimit="-200 -10" solimplimit=".5 .9 .1"',
        'stiffness="2" springref="2"',
        'stiffness="2" springref="2" solimplimit="0 .99 .01" solreflimit=".05 1"',
    ],
)
def test_what_presses_a_joint_to_its_stop_says_how_far_it_gives_way(stop: str) -> None:
    model = mujoco.MjModel.from_xml_string(ARM.format(stop=stop))
    data, times, places = mujoco.MjData(model), np.arange(0.0, 6.0, 0.002), []
    data.qpos[0] = model.jnt_range[0, 1]
    for _ in times:
        places.append(float(data.qpos[0]))
        mujoco.mj_step(model, data)
    assert places[-1] > model.jnt_range[0, 1] + 0.002  # the stop bears it
    assert not leaves_range(_recorded(model, times, np.array(places)), 0)


@pytest.mark.parametrize("stop", ["", 'solimplimit="0 .99 .01"'])
def test_a_joint_that_moves_freely_beyond_its_range_left_it(stop: str) -> None:
    model = mujoco.MjModel.from_xml_string(ARM.format(stop=stop))
    times = np.arange(0.0, 6.0, 0.002)
    assert leaves_range(_recorded(model, times, (0.5 + BEYOND) * np.sin(2.0 * times)), 0)


def _recorded(model: mujoco.MjModel, times: FloatArray, places: FloatArray) -> Recorded:
    signals = {"elbow_qpos": Samples(times, places)}
    return Recorded(model, (signals,), ({},), {0: "elbow_qpos"}, {}, {}, {})
