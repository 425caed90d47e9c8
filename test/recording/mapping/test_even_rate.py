# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Times of receipt without the scatter of the way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mapped_signals import COMMAND, SHOULDER, mapped

from sysid_ros.recording.mapping import at_even_rate
from sysid_ros.recording.messages import Clock

from ..conftest import START_NS, Entry

TICK = 10_000_000  # ns


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 2e-3), st.floats(-1e-4, 1e-4))
def test_what_a_timer_sends_is_where_it_is_received_on_average(seed, most, drift) -> None:
    random = np.random.default_rng(seed)
    numbers = np.flatnonzero(random.random(1000) > 0.02)  # some are lost
    sent = START_NS + np.rint(numbers * TICK * (1.0 + drift)).astype(np.int64)
    late = np.rint(1e9 * random.uniform(0.0, most, len(sent))).astype(np.int64)
    late[::97] *= 2  # some are held up
    even = at_even_rate(sent + late)
    assert np.all(np.diff(even) > 0)
    assert np.abs(even - sent - np.median(late)).max() < 0.1 * 1e9 * most + 2.0


def test_commands_without_an_even_rate_stay_where_they_are() -> None:
    random = np.random.default_rng(1)
    slept = START_NS + np.cumsum(TICK + random.exponential(3e5, 2000)).astype(np.int64)
    changed = START_NS + np.cumsum(random.exponential(1e7, 500)).astype(np.int64)
    for received in (slept, changed, changed[:3], changed[:0]):
        assert at_even_rate(received) is received


def test_a_signal_is_dated_so_where_it_is_asked_for(arm, write_bag, multi_array) -> None:
    states = [entry for entry in arm if entry.topic == "/joint_states"]
    count = (states[-1].log_ns - START_NS) // TICK
    late = np.random.default_rng(2).uniform(5e5, 2e6, count).astype(np.int64)
    commands = [
        Entry("/command", int(START_NS + k * TICK + late[k]), multi_array(float(k)))
        for k in range(count)
    ]
    bag = write_bag([*commands, *states])
    recording = mapped(bag, replace(COMMAND, clock=Clock.EVEN), SHOULDER)
    (control,) = recording.controls
    assert np.ptp(np.diff(control.times)) < 1e-8
    took = control.times * 1e9 + recording.start_ns - START_NS - TICK * np.arange(count)
    assert np.abs(took - np.mean(late)).max() < 3e5
