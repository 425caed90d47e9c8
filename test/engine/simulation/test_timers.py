# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's timers rest while a pool simulates, and only then."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
import pendulum
import pytest

from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.engine.simulation.timers import timers_at_rest


@pytest.fixture
def asked() -> Iterator[list[int]]:
    """A clock of MuJoCo's that counts how often it is asked."""
    times = [0]

    def clock() -> float:
        times[0] += 1
        return float(times[0])

    mujoco.set_mjcb_time(clock)
    yield times
    mujoco.set_mjcb_time(None)


def test_a_pool_does_not_ask_for_the_time(asked: list[int]) -> None:
    model = pendulum.spec().compile()  # which asks as well
    before = asked[0]
    with RolloutPool(1) as pool:
        pool.rollout([model], [np.array([0.0, 0.1, 0.0])], [np.zeros((5, 1))])
    assert asked[0] == before


def test_the_clock_is_back_after_the_last_block(asked: list[int]) -> None:
    model = pendulum.spec().compile()
    data = mujoco.MjData(model)
    before = asked[0]
    with timers_at_rest():
        with timers_at_rest():
            mujoco.mj_step(model, data)
        mujoco.mj_step(model, data)
        assert asked[0] == before
    mujoco.mj_step(model, data)
    assert asked[0] > before
