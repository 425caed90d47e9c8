# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The order in which structures are fitted, and which of them are fitted again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from outcomes import outcome as synthetic

from sysid_ros.comparison import model_fits
from sysid_ros.comparison.model_fits import (
    BY_CHANCE,
    _attempt,
    _joined,
    led_astray,
    levels,
    misfits,
)
from sysid_ros.engine.friction.models import MODELS, parameters_of
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.uncertainty.residual_size import ResidualSize
from sysid_ros.errors import DataError, OutputError, SysidError
from sysid_ros.judgement.outcome import Outcome
from sysid_ros.pipeline import FitTask, with_folds


def fitted(names: str, rms: float) -> Outcome:
    """An outcome with parameters of one letter each and a residual."""
    made = synthetic(sequences=1)
    template = made.fit.parameters[0]
    parameters = tuple(replace(template, name=name) for name in names)
    residuals = {"angle": ResidualSize(rms, 1000, 500.0)}
    return replace(made, fit=replace(made.fit, parameters=parameters, residuals=residuals))


def test_simple_friction_models_come_before_those_that_contain_them() -> None:
    order = levels({model: frozenset(parameters_of(model)) for model in MODELS})
    place = {model: i for i, level in enumerate(order) for model in level}
    assert sorted(place) == sorted(MODELS)
    assert place["m1"] < min(place["m2"], place["m3"])
    assert max(place["m2"], place["m3"]) < place["m4"]
    assert place["m2"] < place["m5"] < place["m6"]


def test_structures_that_are_no_part_of_each_other_are_fitted_together() -> None:
    names = {"a": frozenset("xy"), "b": frozenset("yz"), "c": frozenset(), "d": frozenset("xy")}
    assert levels(names) == [["a", "b", "c", "d"]]


def test_a_model_that_fits_worse_than_one_inside_it_was_led_astray() -> None:
    outcomes = {"a": fitted("x", 1.0), "b": fitted("xy", 1.1), "c": fitted("z", 9.0)}
    assert list(led_astray(outcomes)) == ["b"]
    sizes = misfits(outcomes)
    assert sizes["a"] < sizes["b"] < sizes["c"]


def test_a_model_that_fits_as_well_as_one_inside_it_but_for_chance_is_not_fitted_again() -> None:
    outcomes = {"a": fitted("x", 1.0), "b": fitted("xy", 1.0009), "c": fitted("xz", 1.0011)}
    sizes = misfits(outcomes)
    assert sizes["a"] < sizes["b"] < sizes["a"] + BY_CHANCE < sizes["c"]
    assert list(led_astray(outcomes)) == ["c"]


def test_a_model_is_compared_only_by_all_its_folds() -> None:
    scored = synthetic(sequences=2)
    assert scored.validation is not None
    unscored = replace(scored, validation=None, sequences=())
    assert "not scored" in str(_joined([scored, scored, unscored]))
    assert isinstance(_joined([scored, scored, scored]), Outcome)


def test_a_model_that_was_not_scored_is_not_compared() -> None:
    whole = synthetic(sequences=2)
    assert "not scored" in str(_joined([replace(whole, validation=None, sequences=())]))
    assert _joined([whole]) is whole


def test_a_fold_that_has_not_converged_is_told() -> None:
    whole = synthetic(sequences=2)
    whole = replace(whole, fit=replace(whole.fit, status=FitStatus.CONVERGED))
    ended = replace(whole.fit, status=FitStatus.TIME_LIMIT, message="the time limit has passed")
    found = _joined([whole, whole, replace(whole, fit=ended)])
    assert isinstance(found, Outcome)
    assert found.fit.status is FitStatus.TIME_LIMIT
    assert "fold" in found.fit.message
    assert any("1 of 2 folds did not converge" in sentence for sentence in found.warnings)


def test_folds_that_are_not_scored_hold_nothing_out() -> None:
    whole = synthetic(sequences=2)
    unscored = replace(whole, validation=None, sequences=())
    found = with_folds(whole, [unscored, unscored])
    assert found.validation is None
    assert any("2 of 2 folds were not scored" in sentence for sentence in found.warnings)


def test_what_concerns_no_model_alone_ends_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is not a reason for which one model has no outcome."""

    def fails(error: SysidError) -> Any:
        raise error

    monkeypatch.setattr(model_fits, "run_fit_task", fails)
    assert _attempt(cast(FitTask, DataError("no motion"))) == "no motion"
    with pytest.raises(OutputError, match="no space"):
        _attempt(cast(FitTask, OutputError("no space")))
