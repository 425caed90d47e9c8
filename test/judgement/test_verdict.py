# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a fit was good for, by its scores and by what it could determine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from outcomes import fit_result, score

from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.judgement.verdict import Judgement, judge, result_warnings, verdict


def result(*, opened: bool) -> FitResult:
    made = fit_result(np.random.default_rng(0))
    if opened:
        return made
    return replace(made, parameters=tuple(replace(p, flags=()) for p in made.parameters))


@pytest.mark.parametrize(
    ("training", "validation", "opened", "judgement", "words"),
    [
        ((1.0, 0.5), (1.0, 0.6), False, Judgement.IMPROVED, "falls from 1 to 0.6 rad (40 % less)."),
        ((1.0, 0.5), None, False, Judgement.IMPROVED, "nothing was held out to confirm it"),
        ((1.0, 0.5), (1.0, 0.97), False, Judgement.NO_IMPROVEMENT, "1 to 0.97 rad"),
        ((1.0, 0.99), (1.0, 1.2), False, Judgement.NO_IMPROVEMENT, "1 to 1.2 rad"),
        ((1.0, 0.5), (1.0, 1.2), False, Judgement.OVERFIT, "training error falls from 1 to 0.5"),
        ((1.0, 0.5), (1.0, 0.6), True, Judgement.NOT_IDENTIFIABLE, "link2_mass"),
    ],
)
def test_every_judgement_has_its_reason(
    training: tuple[float, float],
    validation: tuple[float, float] | None,
    opened: bool,
    judgement: Judgement,
    words: str,
) -> None:
    held_out = score(*validation) if validation else None
    fit = result(opened=opened)
    assert judge(fit, score(*training), held_out) is judgement
    sentence = verdict(fit, score(*training), held_out)
    assert words in sentence
    assert sentence.startswith(judgement.value.replace("_", " ").capitalize())


def test_nothing_scored_is_not_judged() -> None:
    assert judge(result(opened=False), None, None) is None


def test_many_warnings_of_one_kind_become_one_line_with_their_number() -> None:
    made = result(opened=False)
    at_bounds = replace(
        made, parameters=tuple(replace(p, flags=("at lower bound",)) for p in made.parameters)
    )
    (line,) = result_warnings(replace(at_bounds, unidentifiable=()))
    assert line.startswith(
        f"{len(made.parameters)} parameters are at a bound ({made.parameters[0].name}"
    )
    open_ones = replace(made, unidentifiable=tuple(f"only {i} is determined" for i in range(14)))
    (line,) = result_warnings(open_ones)
    assert line.startswith("14 combinations of parameters are left open by the data")
