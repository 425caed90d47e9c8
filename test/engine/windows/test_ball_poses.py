# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ball joints start where orientations behind them, beside measured joints, have them."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import TimeSeries
from sysid_ros.engine.windows.starts import StartReader

MODEL = """
<mujoco>
  <worldbody>
    <body name="base" euler="10 20 30"><freejoint/><geom size=".1"/>
      <body euler="40 0 10"><joint name="turn" axis="1 2 0" ref="20"/><geom size=".1"/>
        <body euler="0 50 10"><joint name="lift" type="slide"/>
          <joint name="near" type="ball"/><geom size=".1"/>
          <body euler="20 0 5" pos=".1 0 0"><joint name="bend" axis="0 1 1"/><geom size=".1"/>
            <site name="shank" euler="0 10 60"/>
            <body name="foot" pos=".1 .1 0"><joint name="far" type="ball"/>
              <geom size=".1" pos=".2 0 0"/></body></body></body></body></body>
  </worldbody>
  <sensor>
    <framepos name="place" objtype="xbody" objname="base"/>
    <framequat name="heading" objtype="xbody" objname="base"/>
    <jointpos name="turn" joint="turn"/><jointpos name="bend" joint="bend"/>
    {last}
    <framequat name="shank" objtype="site" objname="shank"/>
  </sensor>
</mujoco>
"""
FOOT = '<framequat name="foot" objtype="body" objname="foot"/>'


def recording(model: mujoco.MjModel) -> tuple[TimeSeries, FloatArray, FloatArray]:
    """Measurements of a motion, and its qpos (n, nq) and qvel (n, nv)."""
    times: FloatArray = 0.01 * np.arange(200, dtype=np.float64)
    data = mujoco.MjData(model)
    random = np.random.default_rng(1)
    data.qpos[:] += 0.3 * random.normal(size=model.nq)
    mujoco.mj_normalizeQuat(model, data.qpos)
    slow, phases = 4.0 * random.uniform(size=model.nv), random.uniform(size=model.nv)
    read, places, rates = [], [], []
    for t in times:
        data.qvel[:] = 0.8 * np.cos(slow * t + phases)
        mujoco.mj_forward(model, data)
        read.append(data.sensordata.copy())
        places.append(data.qpos.copy())
        rates.append(data.qvel.copy())
        mujoco.mj_integratePos(model, data.qpos, data.qvel, 0.01)
    names = [model.sensor(k).name for k in range(model.nsensor)]
    series = TimeSeries.from_names(times, np.array(read), model, names)
    return series, np.array(places), np.array(rates)


@pytest.mark.parametrize("last", ["", FOOT])
def test_a_ball_joint_is_what_an_orientation_behind_it_leaves_of_measured_joints(last: str) -> None:
    model = mujoco.MjModel.from_xml_string(MODEL.format(last=last))
    series, places, rates = recording(model)
    base = np.concatenate([[0.0], model.qpos0, np.zeros(model.nv)])
    state = StartReader(model, series, base, velocity_filter=50.0).state(1.0, 0.0, {})
    for joint, told in (("near", True), ("far", bool(last))):
        place = int(model.joint(joint).qposadr[0])
        rate = int(model.joint(joint).dofadr[0])
        turned = places[100, place : place + 4]
        found = state[1 + place : 5 + place]
        if told:
            assert found * np.sign(found @ turned) == pytest.approx(turned, abs=1e-3)
            moved = state[1 + model.nq + rate :][:3]
            assert moved == pytest.approx(rates[100, rate : rate + 3], abs=0.02)
        else:
            assert found == pytest.approx([1.0, 0.0, 0.0, 0.0])


def test_a_ball_joint_beside_a_joint_that_nothing_measures_is_not_told() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL.format(last=FOOT))
    series = recording(model)[0]
    kept = TimeSeries.slice_by_name(series, ["place", "heading", "turn", "shank", "foot"])
    reader = StartReader(model, kept, np.zeros(1 + model.nq + model.nv), velocity_filter=50.0)
    assert reader.sensors == ("turn", "place", "heading")
