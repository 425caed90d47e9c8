# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trajectories, sequences, start states, rollouts."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from sysid_problems import record_cart, record_spring_mass

from sysid_ros import sysid
from sysid_ros.errors import ModelError, SysidError


def simulated(recording) -> sysid.SystemTrajectory:
    data = mujoco.MjData(recording.model)
    start = recording.initial_state
    return sysid.sysid_rollout(recording.model, data, recording.commanded, start)[0]


def test_rollouts_of_unequal_lengths_and_models_equal_single_ones():
    recordings = [record_cart(), record_cart(1.0), record_cart()]
    lengths = [300, 120, 7]
    controls = [
        sysid.TimeSeries(r.control_times[:n], r.control[:n])
        for r, n in zip(recordings, lengths, strict=True)
    ]
    models = [recording.model for recording in recordings]
    starts = [recording.initial_state for recording in recordings]
    with sysid.RolloutPool(2) as pool:
        together = pool.rollout(models, starts, [control.data[:-1] for control in controls])
    for i, n in enumerate(lengths):
        state, sensors = mujoco.rollout.rollout(
            models[i], mujoco.MjData(models[i]), starts[i], controls[i].data[:-1]
        )
        assert len(together[i].states) == n - 1
        np.testing.assert_array_equal(together[i].states, state[0])
        np.testing.assert_array_equal(together[i].sensordata, sensors[0])
        assert not together[i].diverged


def test_diverged_rollout_is_nan_from_there_and_keeps_its_times():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="0.01"/><worldbody><body><joint type="slide" stiffness="1e7"/>'
        '<geom size=".1"/></body></worldbody><sensor><clock/></sensor></mujoco>'
    )
    start = sysid.create_initial_state(model, [1.0])
    with sysid.RolloutPool(1) as pool:
        (rollout,) = pool.rollout([model], [start], [np.empty((100, 0))])
    assert rollout.diverged
    assert 0 < rollout.valid < 100
    assert np.isfinite(rollout.states[: rollout.valid]).all()
    assert np.isnan(rollout.states[rollout.valid :, 1:]).all()
    assert np.isfinite(rollout.sensordata[: rollout.valid]).all()
    assert np.isnan(rollout.sensordata[rollout.valid :]).all()
    np.testing.assert_allclose(rollout.states[:, 0], 0.01 * np.arange(1, 101))


def test_controls_may_include_forces_on_bodies():
    recording = record_cart()
    spec = mujoco.mjtState.mjSTATE_CTRL | mujoco.mjtState.mjSTATE_XFRC_APPLIED
    control = np.zeros((50, 1 + 6 * recording.model.nbody))
    control[:, 1 + 6] = 8.0  # force along x on the cart of 2 kg
    with sysid.RolloutPool(1) as pool:
        (rollout,) = pool.rollout(
            [recording.model], [recording.initial_state], [control], control_spec=int(spec)
        )
    assert rollout.states[-1, 2] == pytest.approx(8.0 / 2.0 * 0.1)


def test_trajectory_comes_back_from_disk(tmp_path):
    recording = record_spring_mass(0.2)
    original = simulated(recording)
    original.save_to_disk(tmp_path / "run.npz")
    loaded = sysid.SystemTrajectory.load_from_disk(tmp_path / "run.npz", recording.model)
    for name in ("control", "sensordata", "state"):
        a, b = getattr(loaded, name), getattr(original, name)
        np.testing.assert_array_equal(a.times, b.times)
        np.testing.assert_array_equal(a.data, b.data)
        assert list(a.signal_mapping) == list(b.signal_mapping)
    np.testing.assert_array_equal(loaded.initial_state, original.initial_state)


def test_pieces_start_where_the_last_one_ended():
    recording = record_spring_mass(0.2)
    run = simulated(recording)
    pieces = run.split(30)
    assert len(pieces) == 3
    np.testing.assert_array_equal(pieces[1].initial_state, run.state.data[29])
    again = mujoco.rollout.rollout(
        recording.model,
        mujoco.MjData(recording.model),
        pieces[1].initial_state,
        pieces[1].control.data,
    )[0][0]
    np.testing.assert_allclose(again, pieces[1].state.data, atol=1e-14)
    with pytest.raises(SysidError, match="at least one sample"):
        run.split(0)
    with pytest.raises(SysidError, match="missing state"):
        run.replace(state=None).split(3)


def test_sensor_columns_by_type():
    run = simulated(record_spring_mass(0.2))
    np.testing.assert_array_equal(
        run.get_sensordata_slice("joint_vel")[:, 0], run.sensordata.data[:, 1]
    )
    with pytest.raises(SysidError, match="has no joint_torque"):
        run.get_sensordata_slice("joint_torque")
    with pytest.raises(SysidError, match="nearest: 'joint_pos'"):
        run.get_sensordata_slice("joint_poss")


def test_sequences_hold_lists_and_give_parts():
    recording = record_spring_mass(0.2)
    one = recording.sequences()
    parts = one.initial_state * 3, one.control * 3, one.sensordata * 3
    group = sysid.ModelSequences("ball", recording.spec, ["a", "b", "c"], *parts)
    assert len(group) == 3
    assert group[-1].sequence_name == ["c"]
    assert group[:2].sequence_name == ["a", "b"]
    with pytest.raises(IndexError, match="3 sequences, there is no 5"):
        group[5]
    with pytest.raises(SysidError, match="3 sequence_name, 3 initial_state, 2 control"):
        sysid.ModelSequences(
            "ball", recording.spec, ["a", "b", "c"], parts[0], parts[1][:2], parts[2]
        )


def test_recordings_that_do_not_fit_the_model_are_refused():
    recording = record_spring_mass(0.1)
    good = simulated(recording)

    def check(**changes):
        good.replace(**changes).check_compatible()

    times = recording.times
    check()
    with pytest.raises(SysidError, match="Sensor data dimension 3 does not match"):
        check(sensordata=sysid.TimeSeries(times, np.zeros((len(times), 3))))
    with pytest.raises(SysidError, match="Control data dimension 2 does not match"):
        check(control=sysid.TimeSeries(times, np.zeros((len(times), 2))))
    with pytest.raises(SysidError, match="Initial state dimension 4"):
        check(initial_state=np.zeros(4))
    with pytest.raises(SysidError, match="nearest: 'position'"):
        check(
            sensordata=sysid.TimeSeries.from_custom_map(
                times, np.zeros((len(times), 1)), [("positon", 1, sysid.SignalType.MjSensor)]
            )
        )
    with pytest.raises(SysidError, match="has 2 columns, the model's 1"):
        check(
            sensordata=sysid.TimeSeries.from_custom_map(
                times, np.zeros((len(times), 2)), [("position", 2, sysid.SignalType.MjSensor)]
            )
        )
    with pytest.raises(SysidError, match="unknown control 'pull'"):
        check(
            control=sysid.TimeSeries.from_custom_map(
                times, np.zeros((len(times), 1)), [("pull", 1, sysid.SignalType.MjCtrl)]
            )
        )


def test_model_that_does_not_compile_is_a_model_error():
    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>"
    )
    series = sysid.TimeSeries(np.arange(2.0), np.zeros((2, 0)))
    with pytest.raises(ModelError, match="does not compile"):
        sysid.ModelSequences("m", spec, "run", np.zeros(1), series, series)


def test_start_states_by_name_and_their_mistakes():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="box"><freejoint/><geom size=".1"/><body><joint name="h"/>'
        '<geom size=".1"/></body></body></worldbody><actuator><position name="p" joint="h" '
        'timeconst="1"/></actuator></mujoco>'
    )
    state = sysid.create_initial_state(
        model, [0.3], [0.1] * 6, [0.7], qpos_names=["h"], qvel_names=["box_qvel"], act_names=["p"]
    )
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS.value)
    np.testing.assert_array_equal(data.qpos[:7], model.qpos0[:7])
    assert data.qpos[7] == 0.3
    np.testing.assert_array_equal(data.qvel, [0.1] * 6 + [0.0])
    assert data.act[0] == 0.7
    with pytest.raises(SysidError, match=r"unknown qpos name 'hh'.*'h_qpos'"):
        sysid.create_initial_state(model, [0.3], qpos_names=["hh"])
    with pytest.raises(SysidError, match="Expected qpos to have shape 7 for box, got 1"):
        sysid.create_initial_state(model, [0.3], qpos_names=["box"])
    with pytest.raises(SysidError, match="Expected qvel to not be None"):
        sysid.create_initial_state(model, model.qpos0, qvel_names=["h"])


def test_lists_of_unequal_length_are_refused():
    recording = record_cart()
    with pytest.raises(SysidError, match="there are 2 initial states for 3 simulations"):
        sysid.sysid_rollout(
            recording.model,
            mujoco.MjData(recording.model),
            [recording.commanded] * 3,
            [recording.initial_state] * 2,
        )


def test_models_whose_data_is_laid_out_differently_do_not_share_it():
    """A centred free body has a diagonal inertia matrix, one off its centre has not."""
    models = [
        mujoco.MjModel.from_xml_string(
            f'<mujoco><worldbody><body><freejoint/><inertial pos="{x} 0 0" mass="1" '
            'diaginertia=".1 .2 .25"/></body></worldbody></mujoco>'
        )
        for x in (0.0, 0.05, 0.0, 0.1)
    ]
    start = sysid.create_initial_state(models[0], models[0].qpos0, np.arange(6.0))
    with sysid.RolloutPool(2) as pool:
        together = pool.rollout(models, [start] * 4, [np.zeros((20, 0))] * 4)
    for model, rollout in zip(models, together, strict=True):
        alone, _ = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], nstep=20)
        np.testing.assert_array_equal(rollout.states, alone[0])
