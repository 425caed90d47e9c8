# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A base whose pose is measured to a millimetre starts where its weight is carried."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from unseen_kinds import BALANCER

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.windows.base_placement import place_bases

TABLE = """
<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="0 0 .05"/>
  <body pos="0 0 .3"><freejoint/>
    <geom type="box" size=".2 .15 .02" mass="5"/>
    <body pos=".1 0 0"><joint name="arm" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 .05 0 0 .3" size=".02" mass=".5"/></body>
    <geom type="sphere" size=".02" pos=".2 .15 -.28"/>
    <geom type="sphere" size=".02" pos="-.2 .15 -.28"/>
    <geom type="sphere" size=".02" pos=".2 -.15 -.28"/>
    <geom type="sphere" size=".02" pos="-.2 -.15 -.28"/>
  </body></worldbody></mujoco>"""


def starts(model: mujoco.MjModel, *rows: FloatArray) -> FloatArray:
    states = np.zeros((len(rows), 1 + model.nq + model.nv))
    for state, qpos in zip(states, rows, strict=True):
        state[1 : 1 + model.nq] = qpos
    return states


def moved(model: mujoco.MjModel, height: float, turn: tuple[float, float, float]) -> FloatArray:
    """The model's own posture, raised and turned."""
    qpos = np.array(model.qpos0)
    qpos[2] += height
    mujoco.mju_quatIntegrate(qpos[3:7], np.array(turn), 1.0)
    return qpos


def test_a_table_stands_on_its_feet_whatever_was_measured() -> None:
    model = mujoco.MjModel.from_xml_string(TABLE)
    states = starts(
        model, moved(model, 1e-3, (1e-3, -1e-3, 0.0)), moved(model, -1.5e-3, (-1e-3, 5e-4, 0.2))
    )
    before = states.copy()
    place_bases(model, states)
    data = mujoco.MjData(model)
    for state, measured in zip(states, before, strict=True):
        data.qpos[:] = state[1 : 1 + model.nq]
        mujoco.mj_forward(model, data)
        assert data.ncon == 4
        carried = sum(force[0] for force in _forces(model, data))
        assert carried == pytest.approx(9.81 * model.body_mass.sum(), rel=0.05)
        assert state[1:3] == pytest.approx(measured[1:3])  # the place stays
        assert state[8] == measured[8]  # and so do joints


def _forces(model: mujoco.MjModel, data: mujoco.MjData) -> list[FloatArray]:
    found = []
    for contact in range(data.ncon):
        force = np.zeros(6)
        mujoco.mj_contactForce(model, data, contact, force)
        found.append(force)
    return found


def test_what_flies_or_would_fall_far_stays() -> None:
    model = mujoco.MjModel.from_xml_string(TABLE)
    states = starts(
        model, moved(model, 0.1, (0.0, 0.0, 0.0)), moved(model, 4.9e-3, (0.0, 0.0, 0.0))
    )
    before = states.copy()
    place_bases(model, states)
    assert np.array_equal(states, before)


def test_what_would_tip_over_is_lowered_only() -> None:
    model = mujoco.MjModel.from_xml_string(BALANCER)
    states = starts(model, moved(model, 1e-3, (0.0, 0.03, 0.0)))
    before = states.copy()
    place_bases(model, states)
    assert states[0, 3] < before[0, 3] - 5e-4
    assert states[0, 4:8] == pytest.approx(before[0, 4:8])


def test_wheels_roll_from_the_start() -> None:
    model = mujoco.MjModel.from_xml_string(BALANCER)
    states = starts(model, moved(model, 5e-4, (0.0, 0.0, 0.0)))
    rates = states[0, 1 + model.nq :]
    rates[:3] = 0.28, 0.01, 0.01  # as an odometry has it, 0.02 m/s too slow
    rates[6:] = 0.3 / 0.08
    place_bases(model, states)
    assert rates[0] == pytest.approx(0.3, abs=2e-3)
    assert np.abs(rates[1:3]).max() < 1e-3
    assert np.array_equal(rates[6:], [0.3 / 0.08] * 2)
