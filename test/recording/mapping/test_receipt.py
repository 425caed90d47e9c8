# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How late messages are whose receipt alone dates them is told by their even rate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mapped_signals import COMMAND, SHOULDER, mapped

from sysid_ros.recording.mapping.even_rate import late_by
from sysid_ros.recording.messages import Clock

from ..conftest import START_NS, Entry

TICK = 10_000_000  # ns


def received(random, count, least, most, drift=0.0):
    numbers = np.flatnonzero(random.random(count) > 0.02)  # some are lost
    way = random.uniform(least, most, len(numbers))
    return START_NS + (numbers * TICK * (1.0 + drift) + 1e9 * way).astype(np.int64)


@pytest.mark.parametrize("drift", [0.0, 5e-5])
def test_what_is_above_the_least_time_of_the_way_is_seen(drift: float) -> None:
    late = late_by(received(np.random.default_rng(0), 2000, 5e-4, 2e-3, drift))
    assert late is not None
    assert late.mean() == pytest.approx(0.75e-3, abs=0.2e-3)
    assert np.percentile(late, 95) == pytest.approx(1.425e-3, abs=0.2e-3)
    always = late_by(received(np.random.default_rng(0), 2000, 1e-3, 1e-3, drift))
    assert always is not None
    assert always.mean() == pytest.approx(0.0, abs=1e-5)


def test_nothing_is_said_of_commands_that_come_when_they_change() -> None:
    gaps = np.random.default_rng(1).exponential(1e7, 500)
    assert late_by(START_NS + np.cumsum(gaps).astype(np.int64)) is None


def test_nothing_is_said_of_a_loop_that_sleeps_nor_of_commands_that_begin_anew() -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        slept = np.cumsum(TICK + random.exponential(3e5, 2000))
        assert late_by(START_NS + slept.astype(np.int64)) is None
        begun = np.repeat(np.arange(3) * 900 + random.random(3), 700)  # in ticks
        sent = (begun + np.tile(np.arange(700), 3)) * TICK + random.uniform(0.0, 2e5, 2100)
        assert late_by(START_NS + sent.astype(np.int64)) is None


def test_the_reader_of_a_result_is_told_what_a_delay_lacks(arm, write_bag, multi_array) -> None:
    states = [entry for entry in arm if entry.topic == "/joint_states"]
    end = states[-1].log_ns
    times = received(np.random.default_rng(2), (end - START_NS) // TICK, 5e-4, 2e-3)
    commands = [Entry("/command", int(ns), multi_array(float(k))) for k, ns in enumerate(times)]
    bag = write_bag([*commands, *states])
    for clock, dated in ((None, "delay: seen"), (Clock.EVEN, "delay, but for its scatter: seen")):
        said = mapped(bag, replace(COMMAND, clock=clock), SHOULDER).warnings
        (text,) = [text for text in said if "are found that much too short" in text]
        assert dated in text
