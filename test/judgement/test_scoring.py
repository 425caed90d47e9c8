# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Errors of windows are the same whether they were simulated for another cut or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pendulum
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitSettings, fit
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.judgement.scoring import ScoringSettings, WindowErrors, open_loop_errors


def counted_rollouts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rollouts of each call from now on."""
    simulated: list[int] = []
    original = RolloutPool.run_batches

    def counted(pool: RolloutPool, batches: list[Any]) -> list[Any]:
        simulated.append(sum(len(batch.steps) for batch in batches))
        return original(pool, batches)

    monkeypatch.setattr(RolloutPool, "run_batches", counted)
    return simulated


def test_windows_known_from_another_cut_are_not_simulated_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recording = pendulum.sequences(*pendulum.recording(duration=3.3, noise=1e-3))
    params = pendulum.parameters()
    fitted = np.array(list(pendulum.TRUTH.values()))
    simulated = counted_rollouts(monkeypatch)

    def errors(overlap: float, known: tuple[WindowErrors, ...] = ()) -> tuple[WindowErrors, ...]:
        settings = ScoringSettings(1.0, overlap, 20.0, 1)
        return open_loop_errors([recording], params, fitted, settings, known=known)

    overlapping, apart = errors(0.5), errors(0.0)
    simulated.clear()
    again = errors(0.0, overlapping)
    assert sum(simulated) < 2 * len(apart)  # initial and fitted parameters
    assert len(again) == len(apart)
    simulated.clear()
    assert len(errors(0.0, apart)) == len(apart)
    assert not simulated
    for one, other in zip(again, apart, strict=True):
        assert one.window.window.start == pytest.approx(other.window.window.start)
        np.testing.assert_allclose(one.initial, other.initial, atol=1e-9)
        np.testing.assert_allclose(one.fitted, other.fitted, atol=1e-9)


def test_recordings_that_share_their_start_and_name_keep_their_own_errors() -> None:
    one, other = (
        pendulum.sequences(*pendulum.recording(duration=2.2, noise=1e-2, seed=seed))
        for seed in (1, 2)
    )
    both = ModelSequences(
        one.name, one.spec, [*one.sequence_name] * 2, [one.initial_state[0]] * 2,
        [*one.control, *other.control], [*one.sensordata, *other.sensordata],
    )  # fmt: skip
    params = pendulum.parameters()
    fitted = np.array(list(pendulum.TRUTH.values()))

    def errors(overlap: float, known: tuple[WindowErrors, ...] = ()) -> list[FloatArray]:
        settings = ScoringSettings(1.0, overlap, 20.0, 1)
        found = open_loop_errors([both, one], params, fitted, settings, known=known)
        return [each.fitted for each in found]

    settings = ScoringSettings(1.0, 0.5, 20.0, 1)
    known = open_loop_errors([both, one], params, fitted, settings)
    alone, again = errors(0.0), errors(0.0, known)
    assert len(alone) == len(again) == 6
    for a, b in zip(alone, again, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    assert not np.allclose(again[0], again[2], atol=1e-3)


def test_what_a_fit_simulates_first_is_scored_and_not_simulated_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recording = pendulum.sequences(*pendulum.recording(duration=3.3, noise=1e-3))
    params = pendulum.parameters()
    settings = ScoringSettings(1.0, 0.0, 20.0, 1)
    result = fit([recording], params, FitSettings(window_length=1.0, velocity_filter=20.0))

    def errors(first: Mapping[Any, FloatArray]) -> tuple[WindowErrors, ...]:
        return open_loop_errors([recording], params, result.values, settings, first=first)

    plain = errors({})
    simulated = counted_rollouts(monkeypatch)
    known = errors(result.first_errors)
    assert sum(simulated) == len(plain) == len(result.first_errors)  # the fitted parameters alone
    for one, other in zip(known, plain, strict=True):
        np.testing.assert_array_equal(one.initial, other.initial)
        np.testing.assert_array_equal(one.fitted, other.fitted)


def test_a_fit_from_elsewhere_tells_no_errors_of_the_initial_parameters() -> None:
    recording = pendulum.sequences(*pendulum.recording(duration=3.3, noise=1e-3))
    params = pendulum.parameters()
    elsewhere = np.array(list(pendulum.TRUTH.values()))
    settings = FitSettings(window_length=1.0, velocity_filter=20.0)
    assert not fit([recording], params, settings, start=elsewhere).first_errors
