# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Comparison of many recordings with their simulations, those with the same instants together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from sysid_ros.engine.residuals import Compared, against_together
from sysid_ros.engine.signals import SystemTrajectory
from sysid_ros.engine.simulation.candidate import Candidate
from sysid_ros.engine.simulation.portions import portions
from sysid_ros.engine.simulation.recorded_run import RecordedRun

_MAX_BYTES = 8 << 20  # of simulated sensors that are copied side by side


def compared_runs(
    runs: Sequence[RecordedRun], candidate: Candidate, simulated: Sequence[SystemTrajectory]
) -> list[Compared]:
    """The comparison of each run with its simulation, as by :meth:`RecordedRun.compared`."""
    done: list[Compared] = []
    for part in portions([each.sensordata.data.nbytes for each in simulated], _MAX_BYTES):
        done += _of_part(runs[part], candidate, simulated[part])
    return done


def _of_part(
    runs: Sequence[RecordedRun], candidate: Candidate, simulated: Sequence[SystemTrajectory]
) -> Iterator[Compared]:
    if len(runs) == 1 or runs[0].is_modified:
        for run, own in zip(runs, simulated, strict=True):
            yield run.compared(candidate, own)
        return
    prepared = [
        (run, run.prepared(candidate, own.sensordata), own)
        for run, own in zip(runs, simulated, strict=True)
    ]
    for alike, members in groupby(prepared, lambda one: one[1].is_stackable and id(one[1].frame)):
        if not alike:
            yield from (run.compared(candidate, own) for run, _, own in members)
            continue
        own_runs, ready, done = zip(*members, strict=True)
        predicted = [one.sensordata for one in done]
        found = against_together(ready, predicted, candidate.model)
        yield from map(RecordedRun.noted, own_runs, ready, predicted, found)
