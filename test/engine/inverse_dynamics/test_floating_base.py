# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A floating base gives six more rows, which determine its mass."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.inverse_dynamics import Motion, Recording, Regressor, fit_inverse_dynamics
from sysid_ros.errors import DataError

pytest.importorskip("clarabel", reason="the convex solver is not installed")

XML = """
<mujoco><worldbody><body name="base"><freejoint name="root"/>
<inertial mass="{base}" pos="0.02 0.01 0" diaginertia="0.1 0.12 0.08"/>
<body name="leg" pos="0.2 0 0"><joint name="hip" axis="0 1 0" armature="0.02" damping="0.1"/>
<inertial mass="{leg}" pos="0 0 -0.2" diaginertia="0.03 0.03 0.004"/></body></body></worldbody>
</mujoco>
"""
RATE = 500.0  # Hz


def model(base: float, leg: float) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(XML.format(base=base, leg=leg))


def flight(truth: mujoco.MjModel, seed: int) -> Recording:
    """Swinging about, held by a wrench that is measured, with noise."""
    rng = np.random.default_rng(seed)
    times = np.arange(0.0, 15.0, 1.0 / RATE)
    qpos, qvel = np.tile(truth.qpos0, (len(times), 1)), np.zeros((len(times), truth.nv))
    qacc = np.zeros_like(qvel)
    size, phase = rng.normal(size=(3, truth.nv)), rng.uniform(0.0, 6.0, (3, truth.nv))
    omega = 2.0 * np.pi * np.array([0.4, 0.7, 1.1])[:, None]
    for i, t in enumerate(times):
        qvel[i] = np.sum(size * np.sin(omega * t + phase), axis=0)
        qacc[i] = np.sum(size * omega * np.cos(omega * t + phase), axis=0)
        if i:
            middle = np.sum(size * np.sin(omega * (t - 0.5 / RATE) + phase), axis=0)
            qpos[i] = qpos[i - 1]
            mujoco.mj_integratePos(truth, qpos[i], middle, 1.0 / RATE)
    regressor = Regressor(truth)
    torque = regressor.rows(Motion(qpos, qvel, qacc)) @ regressor.columns.nominal
    return Recording(times, qpos, torque + 0.05 * rng.standard_normal(torque.shape))


def test_masses_centres_and_inertias_of_a_floating_robot_are_found():
    fit = fit_inverse_dynamics(model(4.0, 2.5), [flight(model(5.0, 2.0), 0)])
    errors = dict(zip(fit.free.names, fit.uncertainty.standard_errors, strict=True))
    truth = {"base.m": 5.0, "leg.m": 2.0, "base.mx": 0.1, "leg.mz": -0.4, "hip.damping": 0.1}
    for name, value in truth.items():
        assert abs(fit.values[name] - value) < 4.0 * errors[name], name
    total = fit.values["base.m"] + fit.values["leg.m"]
    assert total == pytest.approx(7.0, rel=0.01)


def test_a_robot_that_does_not_move_is_refused():
    recording = flight(model(5.0, 2.0), 0)
    still = Recording(
        recording.times, np.tile(recording.qpos[:1], (len(recording.times), 1)), recording.torque
    )
    with pytest.raises(DataError, match="no joint moves"):
        fit_inverse_dynamics(model(5.0, 2.0), [still])


SWINGING = """
<mujoco><option timestep="0.001" gravity="0 0 {gravity}" integrator="RK4">
<flag contact="disable"/></option><worldbody>
<body name="base"><{root}/>
<inertial mass="5" pos="0.02 0.01 -0.1" diaginertia="0.1 0.12 0.08"/>
<body name="leg" pos="0.2 0 0"><joint name="hip" axis="0 1 0" armature="0.02" damping="0.1"/>
<inertial mass="2" pos="0 0 -0.2" diaginertia="0.03 0.03 0.004"/></body></body></worldbody>
</mujoco>
"""


@pytest.mark.parametrize(
    ("root", "gravity"),
    [('freejoint name="root"', 0.0), ('joint name="root" type="ball" damping="0.3"', -9.81)],
    ids=["flies", "hangs from a ball"],
)
def test_rows_on_which_nothing_acts_do_not_draw_all_masses_to_nothing(root, gravity):
    truth = mujoco.MjModel.from_xml_string(SWINGING.format(root=root, gravity=gravity))
    nominal = mujoco.MjModel.from_xml_string(SWINGING.format(root=root, gravity=gravity))
    nominal.body_mass *= 1.3
    nominal.body_inertia *= 1.3
    nominal.dof_damping[:] = nominal.dof_armature[:] = 0.0
    data, rng = mujoco.MjData(truth), np.random.default_rng(0)
    qpos, torque = np.empty((2500, truth.nq)), np.zeros((2500, truth.nv))
    for i in range(4 * len(qpos)):
        t = data.time
        wanted = 0.8 * np.sin(3.0 * t) + 0.5 * np.sin(7.0 * t)
        data.qfrc_applied[-1] = 60.0 * (wanted - data.qpos[-1]) - 3.0 * data.qvel[-1]
        if i % 4 == 0:
            qpos[i // 4], torque[i // 4, -1] = data.qpos, data.qfrc_applied[-1]
        mujoco.mj_step(truth, data)
    torque[:, -1] += 0.02 * rng.standard_normal(len(torque))
    qpos[:, -1] += 1e-6 * rng.standard_normal(len(qpos))
    fit = fit_inverse_dynamics(nominal, [Recording(0.004 * np.arange(len(qpos)), qpos, torque)])
    assert fit.values["hip.armature"] == pytest.approx(0.02, abs=0.01)
    assert fit.values["hip.damping"] == pytest.approx(0.1, rel=0.1)
    assert fit.values["leg.mz"] == pytest.approx(-0.4, rel=0.1)
    assert fit.values["base.m"] > 2.0
    if gravity:
        assert fit.values["root.damping"] == pytest.approx(0.3, rel=0.1)
