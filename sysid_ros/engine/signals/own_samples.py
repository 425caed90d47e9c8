# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Samples of held commands among those of other topics, with which they share their instants.

A series has one axis of time: of two topics a command that holds is told anew whenever the other
has a message. Only where it changes, or another of its own topic does, it has one itself.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.signals.timeseries import TimeSeries

_SHARED = 0.5  # of the instants at which a command changes, that it shares with its topic's others
_USUAL = 1.5  # intervals, within which a topic that goes on has its next message


def own_instants(control: TimeSeries) -> dict[str, FloatArray]:
    """The instants of the samples of each input, s; all of the series where one topic has them.

    Where a command stays as it is, its topic is taken to go on at its usual interval. Of commands
    that step now and then only, nothing tells the topics, which count as one.
    """
    found = {name: control.known(name)[0] for name in control.signal_mapping or {}}
    topics: list[tuple[list[str], BoolArray]] = []
    for name, (_, columns) in (control.signal_mapping or {}).items():
        if len(columns) != 1 or not control.holds(int(columns[0])):
            continue
        changes = np.diff(control.data[:, columns[0]], prepend=np.nan) != 0.0
        changes[0] = False
        for k, (names, known) in enumerate(topics):
            shared = np.sum(changes & known) >= _SHARED * min(changes.sum(), known.sum())
            # Two topics do not both have every instant: these move in turn.
            if shared or _pace(changes) == _pace(known) == 1.0:
                topics[k] = [*names, name], changes | known
                break
        else:
            topics.append(([name], changes))
    if len(topics) > 1 and _pace(np.any([own for _, own in topics], axis=0)) <= len(topics):
        for names, changes in topics:
            found |= dict.fromkeys(names, _going_on(control.times, changes))
    return found


def _pace(changes: BoolArray) -> float:
    """The usual number of instants from one change to the next; infinite where there are no two."""
    places = np.flatnonzero(changes)
    return float(np.median(np.diff(places))) if len(places) > 1 else np.inf


def _going_on(times: FloatArray, changes: BoolArray) -> FloatArray:
    """The instants of changes, (k,), and others between them where they are rare."""
    own = times[np.concatenate([[0], np.flatnonzero(changes)])]
    if len(own) < 3:
        return times
    steps = np.diff(own)
    usual = float(np.median(steps))
    added = [
        begin + usual * np.arange(1, round(step / usual))
        for begin, step in zip(own[:-1], steps, strict=True)
        if step > _USUAL * usual
    ]
    return np.unique(np.concatenate([own, *added]))
