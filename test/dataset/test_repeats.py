# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that are copies of others are found, and recordings of like motions are not."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import Repeat, repeated_recordings
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries

MODEL = """<mujoco><worldbody><body><joint name="a"/><geom size=".1"/></body></worldbody>
  <sensor><jointpos name="p" joint="a"/></sensor></mujoco>"""


def sequences(**angles: FloatArray) -> ModelSequences:
    """One recording of a joint's angle by name."""
    spec = mujoco.MjSpec.from_string(MODEL)
    mapping = {"p": (SignalType.MjSensor, np.array([0]))}
    series = [
        TimeSeries(0.01 * np.arange(len(angle)), angle[:, None], mapping)
        for angle in angles.values()
    ]
    still = [TimeSeries(one.times, np.zeros((len(one.times), 0)), {}) for one in series]
    return ModelSequences(
        "m", spec, list(angles), [np.zeros(3) for _ in series], still, series, True
    )


def measured(seed: int, *, quantum: float = 1e-3) -> FloatArray:
    """The same motion, with other noise, (2000,) rad."""
    noise = 1e-3 * np.random.default_rng(seed).standard_normal(2000)
    moved = np.sin(0.02 * np.arange(2000)) + noise
    return np.round(moved / quantum) * quantum


@pytest.mark.parametrize("part", [slice(None), slice(517, 1700), slice(0, 900)])
def test_a_copy_is_found_even_of_a_part(part: slice) -> None:
    whole = measured(1)
    (found,) = repeated_recordings([sequences(first=whole, copy=whole[part])])
    assert found == Repeat("copy", "first", 1.0)


def test_overlapping_parts_are_found() -> None:
    whole = measured(1)
    groups = [sequences(first=whole[:1200]), sequences(second=whole[900:])]
    (found,) = repeated_recordings(groups)
    assert found.share == pytest.approx(300 / 1100, abs=0.1)


def test_neither_the_same_motion_nor_rest_is_a_copy() -> None:
    still = np.full(2000, 0.5)
    again = {f"take_{k}": measured(k, quantum=4e-3) for k in range(5)}
    assert repeated_recordings([sequences(rest=still, also=still, **again)]) == ()
    assert repeated_recordings([]) == ()
