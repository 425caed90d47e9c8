# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings as they would be after a repair, or under another gravity."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.finding import Change
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples


def repaired(before: Recorded, change: Change) -> Recorded:
    """The recordings as they would be after a repair."""

    def one(signals: Mapping[str, Samples], label: str) -> Samples:
        samples = signals[change.source(label)]
        scale, offset = change.scale.get(label, 1.0), change.offset.get(label, 0.0)
        delay = change.delay.get(label, 0.0)
        return Samples(samples.times + delay, scale * samples.values + offset, samples.method)

    recordings = tuple(
        {label: one(signals, label) for label in signals if change.source(label) in signals}
        for signals in before.recordings
    )
    return replace(before, recordings=recordings)


def under_gravity(before: Recorded, gravity: FloatArray) -> Recorded:
    """The recordings, as those of a model with another gravity, (3,) m/s^2."""
    model = copy.copy(before.model)
    model.opt.gravity[:] = gravity
    return replace(before, model=model)
