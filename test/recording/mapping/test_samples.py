# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Usual steps of a topic's samples."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.recording.mapping.samples import _usual_steps


@pytest.mark.parametrize("count", [3, 100, 199, 257, 400])
def test_a_usual_step_is_the_median_of_about_a_hundred(count: int) -> None:
    steps = np.random.default_rng(count).normal(size=count)
    blocks = np.array_split(steps, max(1, count // 100))
    wanted = np.concatenate([np.full(len(one), np.median(one)) for one in blocks])
    np.testing.assert_array_equal(_usual_steps(steps), wanted)
