# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Repairs that are shown to work: a check of the repaired experiment finds nothing.

Where a repair gives back what a right experiment has, value by value, only the right one is
checked, once for all mistakes in it: the check of an experiment without mistakes takes the longest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sysid_ros.dataset import Dataset, load_dataset
from sysid_ros.diagnosis import check_experiment
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.experiment import Experiment

_RIGHT: set[tuple[str, ...]] = set()  # hashes of recordings and models of right experiments


def assert_repaired(experiment: Experiment, right: Experiment) -> None:
    """A check finds nothing in an experiment with all repairs.

    Args:
      experiment: The repaired one.
      right: One that had no mistake.
    """
    (read, of_right) = (load_dataset(each, None) for each in (experiment, right))
    own = {name: getattr(right, name) for name in ("signals", "path", "overrides")}
    same_else = replace(experiment, **own) == right
    if not (same_else and _alike(read, of_right)):
        assert check_experiment(experiment, None) == ()
        return
    key = (repr(replace(right, path=None)), *of_right.hashes.values())
    if key not in _RIGHT:
        assert check_experiment(right, None) == ()
        _RIGHT.add(key)


def _alike(one: Dataset, other: Dataset) -> bool:
    """Whether two experiments have the same model and the same signals."""
    return all(
        mine.spec.to_xml() == theirs.spec.to_xml()
        and all(map(_same, mine.control, theirs.control))
        and all(map(_same, mine.sensordata, theirs.sensordata))
        and np.allclose(mine.initial_state, theirs.initial_state, rtol=1e-9, atol=1e-12)
        for mine, theirs in zip(one.training, other.training, strict=True)
    )


def _same(mine: TimeSeries, theirs: TimeSeries) -> bool:
    """Whether signals have the same names, times, values and ways between their samples."""
    if mine.signal_mapping.keys() != theirs.signal_mapping.keys():
        return False
    places = [
        [place for name in mine.signal_mapping for place in series.signal_mapping[name][1]]
        for series in (mine, theirs)
    ]
    columns = [series.data[:, own] for series, own in zip((mine, theirs), places, strict=True)]
    ways = [
        [series.method_of(place) for place in own]
        for series, own in zip((mine, theirs), places, strict=True)
    ]
    return (
        np.array_equal(mine.times, theirs.times)
        and ways[0] == ways[1]
        and np.allclose(*columns, rtol=1e-9, atol=1e-12, equal_nan=True)
    )
