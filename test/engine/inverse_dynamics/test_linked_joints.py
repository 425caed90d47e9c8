# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What torque does not tell of joints that an equality constraint links is left open."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from simulated_arms import coloured

from sysid_ros.engine.inverse_dynamics import Motion, Recording, Regressor, fit_inverse_dynamics
from sysid_ros.engine.inverse_dynamics.statistics import jackknife

LINKED = """<mujoco><worldbody>
<body><joint name="a" axis="0 1 0" armature="0.5" damping="1" frictionloss="1"/>
<inertial mass="2" pos="0.1 0.01 0.1" diaginertia="0.04 0.05 0.04"/></body>
<body pos="1 0 0"><joint name="b" axis="0 1 0" armature="0.3" damping="2" frictionloss="0.5"/>
<inertial mass="1" pos="-0.05 0 0.05" diaginertia="0.02 0.02 0.01"/></body></worldbody>
<equality><joint joint1="a" joint2="b" polycoef="0 -1 0 0 0"/></equality></mujoco>"""


def test_noise_between_linked_joints_does_not_split_what_they_have_together() -> None:
    pytest.importorskip("clarabel", reason="the convex solver is not installed")
    model = mujoco.MjModel.from_xml_string(LINKED)
    times, truth = np.arange(0.0, 12.0, 0.005), Regressor(model, sharp_friction=True)
    waves = [(0.6, 1.3, 0.0), (0.4, 3.1, 0.7), (0.2, 5.3, 2.0)]  # rad, rad/s, rad
    moved = (
        np.sum([s * w**n * np.sin(w * times + p + n * np.pi / 2.0) for s, w, p in waves], axis=0)
        for n in range(3)
    )
    motion = truth.coupled(Motion(*(np.column_stack([x, x]) for x in moved)))
    rng = np.random.default_rng(0)
    torque = truth.rows(motion) @ truth.columns.nominal
    torque += coloured(rng, torque.shape, 200.0, 0.03, 0.02)
    qpos = motion.qpos + 1e-3 * rng.standard_normal(motion.qpos.shape)
    bare = mujoco.MjSpec.from_string(LINKED)
    for joint in bare.joints:
        joint.armature, joint.damping, joint.frictionloss = 0.0, np.zeros(3), 0.0
    fit = fit_inverse_dynamics(bare.compile(), [Recording(times, qpos, torque)])
    known = dict(zip(truth.columns.names, truth.columns.nominal, strict=True))
    for kind, together in (("armature", None), ("damping", 3.0), ("frictionloss", 1.5)):
        places = [fit.free.names.index(f"{joint}.{kind}") for joint in "ab"]
        off = fit.x[places] - [known[fit.free.names[i]] for i in places]
        assert np.all(fit.uncertainty.information[places] < 0.6)
        assert np.all(np.abs(off) < fit.uncertainty.standard_errors[places])
        if together is not None:
            assert fit.x[places].sum() == pytest.approx(together, abs=0.05)


def test_a_bound_tells_nothing_of_a_parameter_beside_the_one_that_it_holds() -> None:
    blocks, prior = 8, np.diag([0.1, 0.1, 0.1])
    together = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    hessians = np.tile(100.0 * together, (blocks, 1, 1))
    x, held = np.array([0.0, 1.5, 0.0]), np.array([True, False, True])
    found = jackknife(x, hessians, hessians @ x, prior, held)
    assert found.information[:2] == pytest.approx(0.5, abs=0.01)
    assert np.all(found.standard_errors[:2] > 1.0)
    assert found.standard_errors[2] == 0.0  # data tell it, and that it is on its bound
