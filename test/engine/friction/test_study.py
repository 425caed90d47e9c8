# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The right model is found, and intervals cover: sixty experiments with known friction.

Every experiment has six recordings of three seconds to fit and twelve to predict, with position
noise of 2e-4 rad; see friction_bench for the sizes of the effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from friction_bench import NOISE, parameters, record, true_frictions

from sysid_ros.comparison.paired import held_out
from sysid_ros.comparison.pick import Pick, pick
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.friction import FrictionParameters
from sysid_ros.engine.friction.models import MODELS
from sysid_ros.engine.signals.trajectory import ModelSequences
from sysid_ros.judgement.outcome import SequenceFit
from sysid_ros.judgement.scoring import ScoringSettings, open_loop_errors, traces

REPETITIONS = 10  # of each model
TRAINING, HELD_OUT = 6, 12  # recordings
DURATION = 3.0  # s
ARMATURE = 0.01  # kg m^2
# The robot takes the model's own steps, so that noise alone is at work.
SETTINGS = FitSettings(window_length=1.0, threads=2, max_iterations=80, model_error=False)
KNOWN = SignalNoise({"angle": NOISE})


@dataclass(frozen=True)
class Repetition:
    """One experiment: what was chosen, and which intervals of the right model cover."""

    choice: Pick
    covered: tuple[bool, ...]


def repeat(friction: FrictionParameters, seed: int) -> Repetition:
    """Record, fit every model, predict, choose."""
    name = friction.model
    first = 1000 * seed
    training = record(friction, range(first, first + TRAINING), duration=DURATION)
    tests = record(
        friction, range(first + TRAINING, first + TRAINING + HELD_OUT), duration=DURATION
    )
    fits: dict[str, FitResult] = {}
    for model in MODELS:
        fits[model] = _fitted(model, training, fits)
    errors = held_out({model: _predicted(model, fits[model], tests) for model in MODELS})
    assert errors is not None
    sizes = {model: len(result.parameters) for model, result in fits.items()}
    choice = pick(errors, sizes, {model: result.cost_final for model, result in fits.items()})
    return Repetition(choice, tuple(_coverage(fits[name], friction)))


def _fitted(
    model: str, training: Sequence[ModelSequences], fits: dict[str, FitResult]
) -> FitResult:
    """A fit that starts at the best simpler one inside it, as those of ``compare`` do."""
    params = parameters(model)
    inside = [other for other in fits if set(MODELS[other]) < set(MODELS[model])]
    if inside:
        best = min(inside, key=lambda other: fits[other].cost_final)
        for estimate in fits[best].parameters:
            params[estimate.name].value = estimate.value
    return fit(training, params, SETTINGS, known=KNOWN)


def _predicted(
    model: str, result: FitResult, tests: Sequence[ModelSequences]
) -> tuple[SequenceFit, ...]:
    values = np.array([estimate.value for estimate in result.parameters])
    settings = ScoringSettings(length=None, overlap=0.0, velocity_filter=30.0, threads=2)
    errors = open_loop_errors(tests, parameters(model), values, settings)
    return traces(errors, "validation")


def _coverage(result: FitResult, friction: FrictionParameters) -> list[bool]:
    """By parameter that an interval is claimed for, whether it holds the truth."""
    covered = []
    for estimate in result.parameters:
        interval = estimate.interval(0.95)
        if interval is not None and not estimate.flags:
            true = ARMATURE if estimate.name == "armature" else getattr(friction, estimate.name)
            covered.append(interval[0] <= true <= interval[1])
    return covered


def test_a_clear_case_is_decided() -> None:
    """One repetition with two of the models, for every run of the tests."""
    friction = true_frictions()["m3"]
    training, tests = record(friction, range(4)), record(friction, range(4, 16))
    fits = {
        model: fit(training, parameters(model), SETTINGS, known=KNOWN) for model in ("m1", "m3")
    }
    errors = held_out({model: _predicted(model, fits[model], tests) for model in fits})
    assert errors is not None
    choice = pick(errors, {"m1": 3, "m3": 4}, {"m1": 0.0, "m3": 0.0})
    assert choice.chosen == "m3"
    assert choice.p_worse["m1"] < 1e-4


@pytest.mark.slow
def test_the_right_model_is_chosen_and_intervals_cover() -> None:
    chosen: dict[str, list[str]] = {}
    covered: list[bool] = []
    for name, friction in true_frictions().items():
        for seed in range(REPETITIONS):
            repetition = repeat(friction, seed)
            chosen.setdefault(name, []).append(repetition.choice.chosen)
            covered += repetition.covered
    right = sum(found.count(name) for name, found in chosen.items())
    share = float(np.mean(covered))
    print(f"right: {right} of {6 * REPETITIONS}; covered: {share:.1%} of {len(covered)}; {chosen}")
    assert right >= 0.9 * 6 * REPETITIONS
    assert 0.90 <= share <= 0.99
