# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Angles that are told modulo one turn are joined, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.recording.mapping.turns import joined_turns

TIMES = np.arange(0.0, 10.0, 0.01)
TURN = 2.0 * np.pi


@pytest.mark.parametrize("low", [-np.pi, 0.0])
def test_a_turntable_that_turns_both_ways(low: float) -> None:
    angle = 9.0 * np.sin(TIMES) + np.random.default_rng(0).normal(0.0, 1e-3, len(TIMES))
    told = (angle - low) % TURN + low
    told[300:310] = np.nan
    joined, jumps = joined_turns(told)
    assert jumps == np.count_nonzero(np.abs(np.diff(told[np.isfinite(told)])) > np.pi) > 4
    np.testing.assert_allclose((joined - angle - (joined - angle)[0])[:300], 0.0, atol=1e-9)
    np.testing.assert_allclose((joined - angle - (joined - angle)[0])[310:], 0.0, atol=1e-9)
    assert np.isnan(joined[300:310]).all()
    assert joined[0] == told[0]


def test_degrees_that_nobody_said_to_be_any() -> None:
    angle = np.degrees(9.0 * np.sin(TIMES))
    joined, jumps = joined_turns(angle % 360.0)
    assert jumps > 4
    np.testing.assert_allclose(joined, angle, atol=1e-9)


@pytest.mark.parametrize(
    "values",
    [
        3.0 * np.sin(TIMES),  # a joint that stays within one turn
        9.0 * np.sin(TIMES),  # one that is told with its turns
        np.where(TIMES > 5.0, 4.0, 0.0),  # a force that jumps
        (40.0 * TIMES**2) % TURN,  # too fast in the end for anyone to say which way it went
        np.full(5, np.nan),
    ],
)
def test_what_stays_as_it_is(values: np.ndarray) -> None:
    joined, jumps = joined_turns(values)
    assert jumps == 0
    assert joined is values
