# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The bias check: nothing moves where the model is right, and what is wrong is found."""

from __future__ import annotations

import numpy as np
import pendulum
import pytest

from sysid_ros.engine.estimation.bias_check import bias_check, flagged
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.least_squares.search_progress import FitStatus
from sysid_ros.engine.signals.timeseries import TimeSeries

CHANGES = ["half the time step", "windows of 0.5 s", "a velocity filter of 15 Hz"]


def check(measured: TimeSeries, control: TimeSeries, settings: FitSettings, **options):
    sequences = [pendulum.sequences(control, measured)]
    result = fit(sequences, pendulum.parameters(), settings)
    return result, bias_check(sequences, pendulum.parameters(), result, settings, **options)


def test_nothing_moves_where_the_model_is_right():
    control, measured = pendulum.recording(duration=10.0, noise=1e-2, seed=1)
    told: list[str] = []
    result, found = check(measured, control, FitSettings(window_length=1.0), on_refit=told.append)
    assert [refit.change for refit in found.refits] == CHANGES == told
    assert all(refit.status is FitStatus.CONVERGED for refit in found.refits)
    assert not found.sentences()
    assert flagged(result, found).parameters == result.parameters
    assert all(np.any(refit.values != found.values) for refit in found.refits[:2])


def test_a_time_step_that_is_too_long_for_the_precision_is_found():
    control, measured = pendulum.recording(duration=10.0, noise=5e-4)
    _, found = check(measured, control, FitSettings(window_length=1.0))
    assert "armature" in found.moved(found.refits[0])
    assert "half the time step" in found.sentences()[0]


def test_a_slow_effect_that_the_model_lacks_moves_estimates_with_the_window():
    """A drifting encoder zero: long windows make damping and friction explain it."""
    control, measured = pendulum.recording(duration=10.0, noise=2e-4)
    drift = 0.1 * np.sin(0.9 * measured.times)[:, None]
    drifting = TimeSeries(measured.times, measured.data + drift, measured.signal_mapping)
    result, found = check(drifting, control, FitSettings(window_length=2.0, intervals="white"))
    windows = next(refit for refit in found.refits if refit.change == "windows of 1 s")
    moved = found.moved(windows)
    assert moved
    assert any(
        "windows of 1 s" in sentence and moved[0] in sentence for sentence in found.sentences()
    )
    assert "moves with windows of 1 s" in flagged(result, found)[moved[0]].flags


def test_a_stop_leaves_out_what_is_not_finished():
    control, measured = pendulum.recording(duration=2.0, noise=2e-3)
    _, found = check(measured, control, FitSettings(window_length=1.0), should_stop=lambda: True)
    assert found.refits == ()
    assert found.values == pytest.approx(list(pendulum.TRUTH.values()), rel=0.3)


def test_a_refit_that_is_not_possible_is_named():
    control, measured = pendulum.recording(duration=2.0, noise=2e-3)
    data = [pendulum.sequences(control, measured)]
    result = fit(data, pendulum.parameters(), FitSettings())
    found = bias_check(data, pendulum.parameters(), result, FitSettings(loss="hubr"))
    assert all(refit.problem for refit in found.refits)
    assert "was not possible" in found.sentences()[0]
    assert not any(found.moved(refit) for refit in found.refits)
