# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An estimate whose models promise what simulations do not keep."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pendulum_experiment import write_pendulum_experiment

from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings, moving_horizon
from sysid_ros.engine.moving_horizon.held_estimate import ROUGH, HeldEstimate
from sysid_ros.engine.parameters import Bounds
from sysid_ros.engine.uncertainty import no_covariance
from sysid_ros.experiment import SequenceConfig, load_experiment
from sysid_ros.live_estimation import estimates_of_bag


def test_searches_do_not_go_on_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    searches = []

    def counted(*given: Any) -> Any:
        searches.append(given)
        return search(*given)

    search = moving_horizon.HorizonSearch
    monkeypatch.setattr(moving_horizon, "FAR", (0.0, 0.0))  # no model holds
    monkeypatch.setattr(moving_horizon, "HorizonSearch", counted)
    experiment = load_experiment(write_pendulum_experiment(tmp_path, duration=3.25))
    bag = SequenceConfig("bags/first")
    made = [one.estimate for one in estimates_of_bag(experiment, bag, HorizonSettings(length=2.0))]
    found = [one for one in made if one is not None]
    assert len(found) > 15
    assert len(searches) <= 2 + moving_horizon.ROUNDS  # with 1 and 2 windows, and at the end
    assert ROUGH in found[-2].unexplained
    assert not found[-2].settled


def test_estimates_go_on_during_a_search(tmp_path: Path):
    experiment = load_experiment(write_pendulum_experiment(tmp_path, duration=3.25))
    bag = SequenceConfig("bags/first")

    def followed(search_time: float) -> list[HorizonEstimate]:
        settings = HorizonSettings(search_time=search_time)
        made = [one.estimate for one in estimates_of_bag(experiment, bag, settings)]
        return [one for one in made if one is not None]

    at_once, in_pieces = followed(math.inf), followed(0.0)
    assert [one.time for one in in_pieces] == [one.time for one in at_once]
    searching = [one.searching for one in in_pieces]
    assert 5 < sum(searching) < 0.8 * len(searching)
    assert not any(one.searching for one in at_once)
    assert not any(one.settled for one in in_pieces if one.searching)
    for found, expected in zip(in_pieces[-1].parameters, at_once[-1].parameters, strict=True):
        assert expected.standard_error is not None
        assert found.value == pytest.approx(expected.value, abs=0.1 * expected.standard_error)


def test_it_stays_near_and_its_interval_reaches_to_what_is_promised():
    bounds = Bounds.of(np.zeros(2), np.full(2, 10.0), np.ones(2))
    held, errors = HeldEstimate(), np.full(2, 0.1)
    promised = np.array([3.0, 1.05])
    gram = np.zeros((3, 3))  # of a cost whose minimum is there, at the point where it rests
    gram[:2, :2] = 100.0 * np.eye(2)
    gram[:2, 2] = gram[2, :2] = 100.0 * (np.ones(2) - promised)
    assert held.near(bounds, gram, promised, errors) is promised
    held.begin(np.ones(2), windows=3)
    assert held.rests(5)
    assert not held.rests(6)
    found = held.near(bounds, gram, promised, errors)
    assert found == pytest.approx([1.1, 1.05])
    covariance = no_covariance(2)
    plain = np.diag(errors**2)
    widened = held.widened(replace(covariance, errors=errors, matrix=plain))
    assert widened.errors == pytest.approx([np.hypot(0.1, 1.9), 0.1])
    assert np.sqrt(np.diag(widened.matrix)) == pytest.approx(widened.errors)
    held.begin(np.array([1.0, 1.2]), windows=6)  # another search has led elsewhere
    again = held.widened(replace(covariance, errors=errors, matrix=plain))
    assert again.errors == pytest.approx([np.hypot(0.1, 1.9), np.hypot(0.1, 0.2)])
    held.end()
    assert held.widened(widened) is widened
