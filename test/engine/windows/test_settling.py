# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows of floating bodies that begin on a floor are compared once they rest on it."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.signals import SignalType, TimeSeries
from sysid_ros.engine.windows.cutting import cut, signal_columns
from sysid_ros.engine.windows.settling import settling_times

BOX = """<mujoco><worldbody><geom type="plane" size="0 0 1" solref=".03 1"/>
  <body pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
    <body pos="0 0 .3"><joint name="lid" axis="0 1 0"/><geom size=".05" mass=".1"/></body>
  </body></worldbody></mujoco>"""
FIXED = BOX.replace("<freejoint/>", '<joint name="lift" type="slide" axis="0 0 1"/>')


def starts(model: mujoco.MjModel, heights: list[float]) -> np.ndarray:
    """States with the box that high above the floor, its own height included."""
    data = mujoco.MjData(model)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states = np.zeros((len(heights), size))
    for row, height in zip(states, heights, strict=True):
        data.qpos[2 if model.nq > 2 else 0] = height
        mujoco.mj_getState(model, data, row, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    return states


def test_what_is_placed_about_a_floor_settles_and_what_flies_does_not() -> None:
    model = mujoco.MjModel.from_xml_string(BOX)
    times = settling_times(model, starts(model, [0.099, 0.102, 0.5]))
    # MuJoCo mixes the two geoms' time constants of 30 and 20 ms.
    assert times == pytest.approx([0.125, 0.125, 0.0])


def test_joints_with_encoders_need_no_time_to_settle() -> None:
    model = mujoco.MjModel.from_xml_string(FIXED)
    assert not settling_times(model, starts(model, [-0.901, -0.5])).any()


def test_nothing_settles_without_contacts() -> None:
    model = mujoco.MjModel.from_xml_string(BOX)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    assert not settling_times(model, starts(model, [0.1])).any()


def test_of_what_settles_only_poses_count_and_half_of_a_window_at_least() -> None:
    sensors = """<sensor><jointpos joint="lid" name="lid"/>
      <framepos objtype="body" objname="box" name="place"/></sensor></mujoco>"""
    named = BOX.replace('<body pos="0 0 1">', '<body name="box" pos="0 0 1">')
    model = mujoco.MjModel.from_xml_string(named.replace("</mujoco>", sensors))
    times = np.arange(0.0, 1.0, 0.01)
    kinds = {"lid": np.array([0]), "place": np.array([1, 2, 3])}
    mapping = {name: (SignalType.MjSensor, columns) for name, columns in kinds.items()}
    measured = TimeSeries(times, np.tile(times[:, None], 4), mapping)
    columns = signal_columns(model, measured)
    windows = cut(model, measured, columns, [(0.0, 0.5), (0.5, 0.6)], [0.1, 0.1])
    firsts = [
        [window.samples.times[window.samples.signals == signal][0] for signal in (0, 1)]
        for window in windows
    ]
    assert np.allclose(firsts, [[0.1, 0.0], [0.05, 0.0]])
    assert [window.start for window in windows] == [0.0, 0.5]
