# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A prior that was widened for what is gone is no wider than what is there needs."""

from __future__ import annotations

import numpy as np
from torque_arm import moved, true_spec

from sysid_ros.engine.inverse_dynamics import (
    Recording,
    Regressor,
    Settings,
    free_parameters,
    gather,
    mujoco_torque,
    without_effect,
)
from sysid_ros.engine.inverse_dynamics.estimate import estimate


def test_the_spread_of_live_estimates_comes_back() -> None:
    model, heavy = true_spec().compile(), true_spec()
    for body in heavy.bodies[1:]:
        body.mass, body.fullinertia = 30.0 * body.mass, 30.0 * np.array(body.fullinertia)
    times, motion, _ = moved(model, duration=5.0)
    regressor, settings = Regressor(model), Settings()
    free = free_parameters(
        regressor.columns, frozen=without_effect(regressor.columns), conditions=[""]
    )
    rng = np.random.default_rng(0)
    found = None
    spreads = []
    for robot in (heavy.compile(), model, model):
        torque = mujoco_torque(robot, motion) + 0.01 * rng.normal(size=(len(times), model.nv))
        grams = gather(regressor, [Recording(times, motion.qpos, torque)], settings).grams
        found = estimate(model, free, grams, settings, before=found)
        spreads.append(found.prior.spread)
    assert spreads[0] > 3.0
    assert spreads[-1] < 1.5
