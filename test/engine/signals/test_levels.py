# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals that are cut off, and signals that only look like it."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.signals import saturation

TIMES = np.arange(0.0, 10.0, 0.01)
WAVE = np.sin(2.0 * TIMES)


def noise(size: float) -> np.ndarray:
    return size * np.random.default_rng(0).standard_normal(len(TIMES))


def test_a_wave_that_is_cut_off_again_and_again() -> None:
    for signal in (np.clip(WAVE, -0.7, 0.7), np.round(np.clip(WAVE, -0.7, 0.7), 3)):
        found = saturation([signal])
        assert found is not None
        assert abs(found.limit) == pytest.approx(0.7)
        assert found.times >= 5


def test_one_long_run_is_enough_where_noise_repeats_nothing() -> None:
    once = np.where((TIMES > 1.0) & (TIMES < 2.0), 1.5, WAVE + noise(1e-3))
    found = saturation([once])
    assert found is not None
    assert (found.limit, found.times) == (1.5, 1)


# A motion that turns once at either end, within three equal samples of an encoder.
RISE, TURN = [7, 7, 7, 7, 6, 1, 0, 3] * 20, [5, 3, 2, 0, 0, -2, -3, -5]
FALL = [-step for step in RISE]
ONE_TURN_EACH = np.cumsum([*RISE, *TURN, *FALL, *FALL, *(-step for step in TURN), *RISE])
# A slow turn, where an encoder flickers between two levels.
FLICKER = [1, 0, 0, 0, -1] * 4
SLOW_TURN = np.cumsum([*[3, 2, 3, 2, 3, 2, 0] * 30, *FLICKER, *[-2, -3] * 20])


# A second of a motion that hardly repeats a value but where it turns.
SHORT = np.arange(0.0, 1.25, 0.005)
LONG_TURNS = np.round(500.0 * np.sin(1.2 * np.pi * SHORT) + 150.0 * SHORT)
# Turns that an encoder's noise holds for three samples, as often as a cut.
COUNT = np.arange(1000.0)
SHORT_TURNS = np.round(100.0 * np.sin(0.1 * COUNT) + 0.3 * np.sin(7.3 * COUNT))


@pytest.mark.parametrize(
    "signal",
    [
        WAVE,
        WAVE + noise(1e-3),
        np.round(WAVE + noise(1e-3), 2),
        np.sign(WAVE),
        np.minimum(1.0, 0.2 * TIMES) ** 2,
        1e-4 * ONE_TURN_EACH,
        1e-4 * SLOW_TURN,
        1e-4 * LONG_TURNS,
        1e-4 * SHORT_TURNS,
    ],
    ids=[
        "wave",
        "noise",
        "levels",
        "switched",
        "arrives",
        "turns once",
        "flickers",
        "long turns",
        "short turns",
    ],
)
def test_no_limit_is_seen_where_there_is_none(signal: np.ndarray) -> None:
    assert saturation([signal]) is None


def test_a_turn_that_is_left_faster_than_it_came_about_is_no_limit() -> None:
    """Five equal samples of a coarse encoder; a signal that is cut off is so on both sides."""
    turn = [17, 11, 7, 4, 3, 1, 0, 0, 0, 0, 0, 3, 7, 11, 16, 25, 33, 43, 56, 69]
    times = np.arange(640)
    motion = 4000.0 + 3800.0 * np.sin(0.0173 * times + 0.011 * np.sin(5.0 * times))
    signal = np.concatenate([np.round(motion), np.linspace(4000.0, 17.0, 60).round(), turn])
    assert saturation([1e-4 * signal]) is None
