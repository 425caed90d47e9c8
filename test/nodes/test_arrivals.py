# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whom a recorder waits for when its bag is to end."""

from __future__ import annotations

import time

import pytest

from sysid_ros.nodes.recorder.arrivals import Arrivals

SECOND = 10**9
START = 1_700_000_000 * SECOND
STOP = START + 10 * SECOND


def heard(until: float, *, period: float = 0.01, ahead: float = 0.0, delay: float = 0.001):
    """Of one publisher until so many s before the stop, whose clock is so many s ahead."""
    arrivals = Arrivals()
    for k in reversed(range(20)):
        received = STOP - round(SECOND * (until + k * period))
        sent = received - round(SECOND * (delay - ahead))
        arrivals.add(b"arm", {"received_timestamp": received, "source_timestamp": sent})
    return arrivals


@pytest.mark.parametrize("ahead", [0.0, 3.0, -3.0])
def test_a_regular_publisher_is_awaited_until_it_is_heard_after_the_stop(ahead: float):
    assert heard(0.4, ahead=ahead).lack([b"arm"], STOP)
    assert heard(0.001, ahead=ahead).lack([b"arm"], STOP)
    assert not heard(-0.001, ahead=ahead).lack([b"arm"], STOP)


def test_nobody_is_awaited_who_cannot_come_or_need_not():
    assert not heard(0.4).lack([], STOP)  # the publisher is gone, or sends nothing again
    assert not heard(0.4).lack([b"other"], STOP)
    assert not heard(0.4, period=1.0).lack([b"arm"], STOP)  # who knows when the next is due


def test_whoever_is_silent_for_longer_than_any_repetition_has_ended():
    arrivals, now = heard(0.4), time.monotonic()
    for k in range(30):
        arrivals.look(now + 0.1 * k)
    assert arrivals.lack([b"arm"], STOP)
    arrivals.look(now + 100.0)  # held up, it heard nobody
    assert arrivals.lack([b"arm"], STOP)
    for k in range(10):
        arrivals.look(now + 100.0 + 0.1 * k)
    assert not arrivals.lack([b"arm"], STOP)


def test_messages_without_times_tell_nothing():
    arrivals = Arrivals()
    for k in range(20):
        arrivals.add(b"arm", {"received_timestamp": 0, "source_timestamp": k})
    assert not arrivals.lack([b"arm"], STOP)
