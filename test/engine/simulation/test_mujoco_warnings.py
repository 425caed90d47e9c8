# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A diverging simulation warns in a list and leaves no file."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pendulum
import pytest

from sysid_ros.engine.simulation.rollout_pool import RolloutPool


def test_warnings_are_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = pendulum.spec().compile()
    model.jnt_stiffness[:] = -1e6
    start, control = np.array([0.0, 0.1, 0.0]), np.zeros((200, 1))
    with RolloutPool(2) as pool:
        assert all(
            rollout.diverged for rollout in pool.rollout([model] * 3, [start] * 3, [control] * 3)
        )
        assert pool.warnings
        assert "unstable" in pool.warnings[0]
        model.jnt_stiffness[:] = 0.0
        pool.rollout([model], [start], [control])
        assert pool.warnings == []
    assert list(tmp_path.iterdir()) == []
    assert mujoco.get_mju_user_warning() is None
