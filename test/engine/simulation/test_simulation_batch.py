# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Batches of simulations against MuJoCo's own stepping."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros import sysid
from sysid_ros.errors import SignalError

XML = """<mujoco><option timestep="0.004" integrator="implicitfast"/><worldbody>
  <body name="target" mocap="true" pos="0 0 2"/>
  <body name="box" pos="0 0 1"><freejoint/><geom size=".1 .05 .03" type="box" mass="1"/></body>
  <body name="arm" pos="1 0 0"><joint name="hinge" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".4"/></body></worldbody>
  <actuator><motor name="motor" joint="hinge"/>
    <general name="lag" joint="hinge" dyntype="filter" dynprm="0.1"/></actuator>
  <sensor><jointpos name="angle" joint="hinge"/><framepos name="where" objtype="xbody"
    objname="target"/></sensor>
  <keyframe><key name="up" qpos="0 0 1 1 0 0 0 3.0"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def model():
    return mujoco.MjModel.from_xml_string(XML)


@pytest.fixture(scope="module")
def pool():
    with sysid.RolloutPool(2) as pool:
        yield pool


def stepped(model, controls, substeps, angle=0.0):
    data = mujoco.MjData(model)
    data.qpos[7] = angle
    for control in controls:
        data.ctrl[:] = control
        mujoco.mj_step(model, data, nstep=substeps)
    return data


def test_steps_and_substeps_equal_mujocos(model, pool):
    batch = pool.batch(model, 3)
    angles = np.array([0.1, 0.2, 0.3])
    batch.set_state(qpos=np.hstack([np.tile(model.qpos0[:7], (3, 1)), angles[:, None]]))
    controls = np.random.default_rng(0).normal(size=(3, 5, 2))
    sensors = batch.step(controls, substeps=4)
    state = batch.get_state()
    assert sensors.shape == (3, 5, model.nsensordata)
    np.testing.assert_allclose(sensors[:, 0, 0], angles)
    for i in range(3):
        expected = stepped(model, controls[i], 4, angles[i])
        np.testing.assert_allclose(state.qpos[i], expected.qpos, atol=1e-9)
        np.testing.assert_allclose(state.qvel[i], expected.qvel, atol=1e-9)
        np.testing.assert_allclose(state.act[i], expected.act, atol=1e-12)
        assert state.time[i] == pytest.approx(20 * 0.004)


def test_parts_of_a_batch_are_stepped_set_and_reset_alone(model, pool):
    batch = pool.batch(model, 4)
    batch.step([1.0, 0.0], substeps=10, rows=[1, 3])
    time = batch.get_state().time
    np.testing.assert_allclose(time, [0.0, 0.04, 0.0, 0.04])
    before = batch.get_flattened()
    batch.reset(rows=np.array([False, True, False, False]))
    np.testing.assert_array_equal(batch.get_flattened(slice(1, 2)), before[:1])
    np.testing.assert_array_equal(batch.get_flattened([3]), before[3:])
    batch.reset([0], keyframe="up")
    assert batch.get_state([0]).qpos[0, 7] == 3.0
    batch.set_state(time=5.0, qvel=np.ones(model.nv), act=[0.5], rows=[2])
    changed = batch.get_state(rows=2)
    assert (changed.time[0], changed.act[0, 0], changed.qvel[0, 3]) == (5.0, 0.5, 1.0)
    assert len(batch) == 4


def test_forward_reads_sensors_and_moves_nothing(model, pool):
    batch = pool.batch(model, 3)
    batch.set_state(qpos=np.r_[model.qpos0[:7], 0.7], rows=slice(0, 2))
    before = batch.get_flattened()
    sensors = batch.forward(rows=[0, 2])
    np.testing.assert_allclose(sensors[:, 0], [0.7, 0.0])
    np.testing.assert_array_equal(batch.get_flattened(), before)


def test_applied_forces_and_mocap_bodies_are_inputs(model, pool):
    batch = pool.batch(model, 2)
    spec = int(mujoco.mjtState.mjSTATE_XFRC_APPLIED)
    forces = np.zeros((model.nbody, 6))
    forces[model.body("box").id, 2] = 9.81  # carries the box's weight
    batch.step(np.stack([forces.ravel(), 0.0 * forces.ravel()]), substeps=50, control_spec=spec)
    heights = batch.get_state().qpos[:, 2]
    assert heights[0] == pytest.approx(1.0, abs=1e-9)
    assert heights[1] < 0.85
    spec = int(mujoco.mjtState.mjSTATE_MOCAP_POS)
    sensors = batch.forward([0.3, 0.2, 0.1], control_spec=spec)
    np.testing.assert_allclose(sensors[:, 1:4], np.tile([0.3, 0.2, 0.1], (2, 1)))


def test_a_divergence_is_seen_and_can_be_reset(model, pool):
    batch = pool.batch(model, 2)
    batch.set_state(qvel=np.full(model.nv, 1e12), rows=[1])
    batch.step(np.zeros(2), substeps=5)
    assert batch.diverged.tolist() == [False, True]
    assert any("unstable" in warning for warning in pool.warnings)
    batch.reset(batch.diverged)
    assert not batch.diverged.any()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=17, max_size=17), st.integers(0, 3))
def test_states_come_back_as_they_were_set(model, pool, values, row):
    batch = pool.batch(model, 4)
    given_state = np.zeros(batch.get_flattened().shape[1])
    given_state[:17] = values
    batch.set_flattened(given_state, rows=row)
    np.testing.assert_array_equal(batch.get_flattened(row)[0], given_state)
    state = batch.get_state(row)
    again = pool.batch(model, 1)
    again.set_state(time=state.time, qpos=state.qpos, qvel=state.qvel, act=state.act)
    np.testing.assert_array_equal(again.get_flattened()[0, :17], given_state[:17])


def test_mistakes_are_named(model, pool):
    batch = pool.batch(model, 2)
    with pytest.raises(SignalError, match=r"qpos has shape \(3,\), expected \(2, 8\)"):
        batch.set_state(qpos=np.zeros(3))
    with pytest.raises(SignalError, match="up"):
        batch.reset(keyframe="upp")
    with pytest.raises(SignalError, match="controls"):
        batch.step(np.zeros(5))
    with pytest.raises(SignalError, match="substeps"):
        batch.step(np.zeros(2), substeps=0)
    other = mujoco.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(SignalError, match="same elements"):
        pool.batch([model, other])
    with pytest.raises(SignalError, match="expected"):
        pool.rollout([model], [batch.get_flattened(0)[0]], [np.zeros((3, 1))])
