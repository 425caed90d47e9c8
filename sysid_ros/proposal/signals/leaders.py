# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""States of a leader's joints, which a follower of the same joints is asked for by teleoperation.

Both publish joint states, and nothing else asks the follower for anything.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.correlations import decisive
from sysid_ros.time_intervals import level_starts

_LAGS = np.arange(0.01, 0.3, 0.005)  # s, by which a follower may be behind
_MOST_INSTANTS = 2000
_RELAYED = 0.9  # of a relay's changing values, that are those of another topic
_SHARE = 0.75  # of the joints that follow

_Source = list[Channel]


def with_leaders_asking(channels: Sequence[Channel]) -> tuple[list[Channel], list[str]]:
    """The channels, positions of leaders as commands, and a sentence about each leader.

    Topics of one name in two namespaces have the joints of both robots. A second encoder, or what
    a filter publishes, is no leader: it is not behind, or has a name of its own. Nor is who is
    repeated digit by digit: that is a relay.
    """
    channels = list(channels)
    if any(one.command and one.moves for one in channels):
        return channels, []
    told = [one for one in channels if one.quantity == "position" and one.name and not one.command]
    sources: dict[str, _Source] = {}
    for one in told:
        sources.setdefault(one.topic, []).append(one)
    leaders = {
        leader: follower
        for leader, follower in itertools.permutations(sources, 2)
        if _own_name(leader) == _own_name(follower)
        and sources[leader][0].msgtype == sources[follower][0].msgtype
        and _follows(sources[follower], sources[leader])
    }
    asking = [
        replace(one, command=True) if one.topic in leaders else one
        for one in channels
        if one.topic not in leaders or one in told
    ]
    return asking, [
        f"{follower} is behind {leader}, and nothing else asks for anything; is that its leader?"
        for leader, follower in leaders.items()
    ]


def _own_name(topic: str) -> str:
    return topic.rpartition("/")[2]


def _follows(follower: _Source, leader: _Source) -> bool:
    """Tell whether the joints of a robot are where those of another one were before."""
    asked = {one.name: one for one in leader if one.moves}
    if asked.keys() != {one.name for one in follower if one.moves}:
        return False
    behind = [_is_behind(one, asked[one.name]) for one in follower if one.moves]
    return sum(behind) >= _SHARE * max(len(behind), 1)


def _is_behind(one: Channel, other: Channel) -> bool:
    """Tell whether a position is decisively what another was before rather than what it is."""
    left: FloatArray = np.zeros(1 + len(_LAGS))
    parts = zip(one.times, one.values, strict=True), zip(other.times, other.values, strict=True)
    for (own, values), (then, asked_for) in itertools.product(*map(list, parts)):
        if len(own) < 2 or len(then) < 2:
            continue
        first, last = max(own[0], then[0]) + _LAGS[-1], min(own[-1], then[-1])
        times = np.linspace(first, last, _MOST_INSTANTS)
        if last > first:
            if _repeats(own, values, then, asked_for):
                return False
            reached = np.interp(times, own, values)
            before = [np.interp(times - lag, then, asked_for) for lag in (0.0, *_LAGS)]
            left += [_unexplained(reached, asked) for asked in before]
    return bool(left.any()) and decisive(float(left[1:].min()), float(left[0]))


def _repeats(own: FloatArray, values: FloatArray, then: FloatArray, others: FloatArray) -> bool:
    """Tell whether changing values (n,) are those of another at about one lag, digit by digit."""
    moved = level_starts(values)[1:]
    told, asked = values[moved].astype(np.float32), others.astype(np.float32)
    for lag in (0.0, *_LAGS):
        places = np.searchsorted(then, own[moved] - lag, side="right") - 1
        near = np.clip(places[:, None] + np.arange(-1, 2), 0, len(then) - 1)
        if np.mean(np.any(asked[near] == told[:, None], axis=1)) > _RELAYED:
            return True
    return False


def _unexplained(reached: FloatArray, asked: FloatArray) -> float:
    """The share of a motion that another one leaves, 1 - r^2."""
    if np.ptp(reached) == 0.0 or np.ptp(asked) == 0.0:
        return 1.0
    return 1.0 - float(np.corrcoef(reached, asked)[0, 1]) ** 2
