# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Torques of a model are combinations of what may act on its bodies."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis.fits import body_motion, regressor

CHAIN = """<mujoco><option {}/><worldbody><body><joint axis="0 1 0"/>
<geom type="box" size=".1 .05 .2" pos=".1 0 .3"/><body pos="0 0 .5"><joint axis="1 1 0"/>
<geom type="box" size=".05 .1 .2" pos="0 .2 .2"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("medium", ["", 'density="1000"', 'viscosity="500"'])
def test_the_model_itself_explains_its_torques_in_any_medium(medium: str) -> None:
    model = mujoco.MjModel.from_xml_string(CHAIN.format(medium))
    data = mujoco.MjData(model)
    random = np.random.default_rng(0)
    qpos, qvel, qacc = random.uniform(-2.0, 2.0, (3, 60, model.nv))
    torque = np.zeros_like(qpos)
    for place in range(len(torque)):
        data.qpos[:], data.qvel[:], data.qacc[:] = qpos[place], qvel[place], qacc[place]
        mujoco.mj_inverse(model, data)
        torque[place] = data.qfrc_inverse
    columns = regressor(model, body_motion(model, qpos, qvel, qacc))
    matrix = columns.reshape(-1, columns.shape[2])
    left = torque.ravel() - matrix @ np.linalg.lstsq(matrix, torque.ravel(), rcond=1e-10)[0]
    assert np.abs(left).max() < 1e-8 * np.abs(torque).max()


def test_motion_under_another_gravity_is_that_of_a_model_that_has_it() -> None:
    model = mujoco.MjModel.from_xml_string(CHAIN.format(""))
    model.body_gravcomp[:] = (0.0, 1.0, 0.3)  # kept from it whole, and in part
    motion = body_motion(model, *np.random.default_rng(0).uniform(-2.0, 2.0, (3, 5, model.nv)))
    more = np.array([9.0, 1.0, 12.0])
    under = motion.under(more, model)
    model.opt.gravity += more
    np.testing.assert_allclose(
        under.acceleration, body_motion(model, *motion.joints).acceleration, atol=1e-12
    )
