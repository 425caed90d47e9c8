# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Paired tests over held-out units, and what is picked by them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sysid_ros.comparison.paired import HeldOut, held_out, joints_of, p_positive
from sysid_ros.comparison.pick import pick
from sysid_ros.judgement.outcome import SequenceFit, SignalFit


def prediction(name: str, error: float, joint: str = "elbow", unit: str = "rad") -> SignalFit:
    times = np.linspace(0.0, 10.0, 1001)
    measured = np.sin(times)
    return SignalFit(name, unit, times, measured, measured, measured + error, joint)


def recording(*signals: SignalFit, windows: int = 1) -> SequenceFit:
    return SequenceFit("a", "validation", signals, np.linspace(0.0, 10.0, windows, endpoint=False))


def errors_of(spread: dict[str, np.ndarray], *, blocks: bool = False) -> HeldOut:
    errors = np.stack(list(spread.values()))
    return HeldOut(tuple(spread), errors, f"{errors.shape[1]} held-out recordings", blocks, "rad")


def test_the_test_keeps_its_level() -> None:
    rng = np.random.default_rng(0)
    rejected = [p_positive(rng.standard_normal(10), correlated=False) < 0.05 for _ in range(2000)]
    assert 0.035 < np.mean(rejected) < 0.065


def test_correlated_neighbours_count_for_less() -> None:
    rng = np.random.default_rng(1)
    rejected = {False: 0, True: 0}
    for _ in range(1000):
        noise = np.convolve(rng.standard_normal(40), np.ones(5), "valid")
        for correlated in rejected:
            rejected[correlated] += p_positive(noise, correlated=correlated) < 0.01
    assert rejected[False] > 100
    assert rejected[True] < 0.3 * rejected[False]


def test_too_few_units_leave_the_choice_to_the_bic() -> None:
    errors = errors_of({"a": np.array([2.0, 2.0]), "b": np.array([1.0, 1.1])})
    assert math.isnan(errors.p_worse("a", "b"))
    found = pick(errors, {"a": 1, "b": 2}, {"a": 5.0, "b": 3.0})
    assert found.chosen == "b"
    assert "too few for a test; b has the lowest BIC" in found.reason


def test_models_are_compared_where_all_of_them_predict() -> None:
    """The windows of a model whose delays may be longer can begin later."""
    whole, late = prediction("elbow_pos", 0.1), prediction("elbow_pos", 0.2)
    for name in ("times", "measured", "initial", "fitted"):
        late = replace(late, **{name: getattr(late, name)[10:]})
    whole.fitted[:10] += 5.0
    found = held_out({"a": [recording(whole)], "b": [recording(late)]})
    assert found is not None
    np.testing.assert_allclose(found.errors[0], 0.1, rtol=1e-12)
    np.testing.assert_allclose(found.errors[1], 0.2, rtol=1e-12)


def test_the_simplest_of_equals_is_picked() -> None:
    rng = np.random.default_rng(2)
    base = rng.uniform(1.0, 3.0, 20)
    errors = errors_of(
        {
            "rich": base * 0.999 * rng.uniform(0.99, 1.01, 20),
            "poor": 2.0 * base,
            "right": base * rng.uniform(0.99, 1.01, 20),
        }
    )
    sizes = {"rich": 9, "poor": 1, "right": 4}
    found = pick(errors, sizes, dict.fromkeys(sizes, 0.0))
    assert found.chosen == "right"
    assert found.best == errors.best(sizes)
    assert found.p_worse["poor"] < 1e-6


def test_a_best_model_that_has_not_the_least_rmse_is_explained() -> None:
    calm = np.linspace(1.0, 1.1, 20)
    lively = np.where(np.arange(20) == 19, 5.0, calm)
    sizes = {"a": 1, "b": 2}
    found = pick(errors_of({"a": 0.9 * lively, "b": calm}), sizes, dict.fromkeys(sizes, 0.0))
    assert (found.chosen, found.best) == ("a", "a")
    assert found.reason.endswith(
        "best (by the geometric mean of their errors; by their root mean square b does)"
    )
    alike = pick(errors_of({"a": calm, "b": lively}), sizes, dict.fromkeys(sizes, 0.0))
    assert alike.reason.endswith("best")


def test_few_recordings_are_cut_into_blocks_at_window_starts() -> None:
    models = {
        "a": [recording(prediction("q", 0.1), windows=50)],
        "b": [recording(prediction("q", 0.2), windows=50)],
    }
    found = held_out(models)
    assert found is not None
    assert found.blocks
    assert found.errors.shape == (2, 12)
    assert found.rmse("b") == pytest.approx(0.2)
    assert found.p_worse("b", "a") == 0.0
    many = {name: fits * 12 for name, fits in models.items()}
    whole = held_out(many)
    assert whole is not None
    assert not whole.blocks
    assert whole.units == "12 held-out recordings"


def test_joints_are_judged_by_their_own_positions() -> None:
    signals = (
        prediction("elbow_pos", 0.1),
        prediction("elbow_vel", 5.0, unit="rad/s"),
        prediction("wrist_vel", 0.3, joint="wrist", unit="rad/s"),
        prediction("imu", 9.0, joint="", unit="m/s^2"),
    )
    models = {"a": [recording(*signals)], "b": [recording(*signals)]}
    assert joints_of(models["a"]) == ("elbow", "wrist")
    for joint, error, unit in (("elbow", 0.1, "rad"), ("wrist", 0.3, "rad/s"), (None, 0.1, "rad")):
        found = held_out(models, joint)
        assert found is not None
        assert found.rmse("a") == pytest.approx(error)
        assert found.unit == unit


def test_a_prediction_that_breaks_off_is_worst() -> None:
    broken = prediction("q", 0.01)
    broken.fitted[600:] = np.nan
    found = held_out({"a": [recording(prediction("q", 0.5))], "b": [recording(broken)]})
    assert found is not None
    assert found.rmse("b") > 1e3 * found.rmse("a")
