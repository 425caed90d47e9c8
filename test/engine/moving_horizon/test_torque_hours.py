# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A torque horizon that runs for hours keeps no more than one that has run for a minute."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest
from kept_objects import kept_objects
from torque_arm import JOINT_EXPERIMENT, OFFSETS, moved, noisy, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitSettings, TorqueSettings
from sysid_ros.engine.moving_horizon import (
    HorizonEstimate,
    HorizonSettings,
    TorqueHorizon,
    torque_blocks,
)
from sysid_ros.engine.signals import TimeSeries
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

RATE, PASS, EVERY = 125.0, 20.0, 1.0  # Hz, s of a motion that repeats, s between updates
BLOCKS = 12  # that are kept apart, so that they are full soon
SLACK = 60  # objects: a block more would be about fifty, and there are forty in a pass
SETTINGS = FitSettings(
    method="inverse_dynamics", torque=TorqueSettings(motion_cutoff=12.0, row_cutoff=4.0)
)


def _passes(count: int) -> Iterator[tuple[TorqueHorizon, HorizonEstimate]]:
    """The horizon and its estimate after each pass through one motion, which repeats smoothly."""
    times, motion, torque = moved(true_spec().compile(), PASS, RATE)
    whole = torque_sequences(true_spec(), times, *noisy(motion.qpos, torque - OFFSETS, RATE))
    params = build_parameters(parse_experiment(JOINT_EXPERIMENT), whole.spec)
    horizon = TorqueHorizon(params, SETTINGS, HorizonSettings(traced=True))
    made = None
    for now in np.arange(EVERY, count * PASS, EVERY):
        first = 0.0 if np.isnan(horizon.needed_from) else max(horizon.needed_from, 0.0)
        numbers = np.arange(np.ceil(first * RATE), np.floor(now * RATE) + 1).astype(np.intp)
        part = copy.copy(whole)
        for kind in ("control", "sensordata"):
            (series,) = getattr(whole, kind)
            data = series.data[numbers % len(times)]
            setattr(part, kind, [TimeSeries(numbers / RATE, data, series.signal_mapping)])
        made = horizon.update(part, float(now)) or made
        if np.isclose(now % PASS, PASS - EVERY) and made is not None:
            yield horizon, made


def _assert_flat(passes: int) -> None:
    kept = [(*kept_objects(horizon), made) for horizon, made in _passes(passes)]
    half = (len(kept) + 1) // 2
    for place, slack in ((0, SLACK), (1, 0.01 * kept[0][1])):
        early, late = (max(one[place] for one in part) for part in (kept[1:half], kept[half:]))
        assert late <= early + slack
    last: HorizonEstimate = kept[-1][2]
    truth = {j.name: float(np.ravel(j.damping)[0]) for j in true_spec().joints}
    for one in last.parameters:
        if one.name.endswith("_damping"):
            assert one.value == pytest.approx(truth[one.name.removesuffix("_damping")], rel=0.1)


@pytest.fixture(autouse=True)
def _few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torque_blocks, "MOST_BLOCKS", BLOCKS)


def test_what_is_kept_does_not_grow() -> None:
    _assert_flat(4)


@pytest.mark.slow
def test_what_is_kept_does_not_grow_in_three_hours() -> None:
    _assert_flat(540)
