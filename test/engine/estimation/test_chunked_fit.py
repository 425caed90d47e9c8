# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A fit in chunks of recordings gives the answer of a fit of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pendulum
import pytest

from sysid_ros.engine.estimation import FitSettings, fit, fit_in_chunks, survey_of
from sysid_ros.engine.estimation.alternatives import groups_of
from sysid_ros.engine.estimation.chunked_fit import sums_at
from sysid_ros.engine.estimation.fit_settings import NOTHING_KNOWN
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.problem import ChunkPoint, ChunkSums, ChunkSurvey
from sysid_ros.errors import DataError, ExperimentError, StopRequestedError

SETTINGS = FitSettings(model_error=False, threads=1)
DATA = [
    pendulum.sequences(*pendulum.recording(duration=4.0, noise=1e-3, seed=seed))
    for seed in range(3)
]
CHUNKS = [groups_of([each], pendulum.parameters(), SETTINGS) for each in DATA]


def _answers(points: Sequence[ChunkPoint]) -> list[ChunkSums]:
    return [
        sums_at(groups, pendulum.parameters(), SETTINGS, here)
        for groups, here in zip(CHUNKS, points, strict=True)
    ]


def _surveys() -> list[ChunkSurvey]:
    return [survey_of(each, pendulum.parameters(), SETTINGS, NOTHING_KNOWN) for each in CHUNKS]


def test_the_answer_is_that_of_a_fit_of_all() -> None:
    whole = fit(DATA, pendulum.parameters(), SETTINGS)
    parts = fit_in_chunks(_surveys(), _answers, pendulum.parameters(), SETTINGS, NOTHING_KNOWN)
    assert parts.status is FitStatus.CONVERGED
    np.testing.assert_allclose(parts.values, whole.values, rtol=1e-9)
    np.testing.assert_allclose(parts.covariance, whole.covariance, rtol=1e-9, atol=1e-18)
    assert parts.cost_initial == pytest.approx(whole.cost_initial, rel=1e-9)
    assert parts.interval_method == whole.interval_method == "clustered"
    assert parts.derivatives == whole.derivatives


def test_a_fit_that_is_stopped_keeps_its_best_point() -> None:
    asked = 0

    def evaluate(points: Sequence[ChunkPoint]) -> list[ChunkSums]:
        nonlocal asked
        asked += 1
        if asked > 3:
            raise StopRequestedError
        return _answers(points)

    stopped = fit_in_chunks(_surveys(), evaluate, pendulum.parameters(), SETTINGS, NOTHING_KNOWN)
    assert stopped.status is FitStatus.CANCELED
    assert stopped.cost_final < stopped.trace[0].cost


def test_what_needs_all_residuals_is_refused() -> None:
    params = pendulum.parameters()
    robust = replace(SETTINGS, loss="huber")
    with pytest.raises(ExperimentError, match=r"fit.loss: linear only, not huber"):
        fit_in_chunks(_surveys(), _answers, params, robust, NOTHING_KNOWN)
    with pytest.raises(DataError, match="4 windows are too few"):
        fit_in_chunks(_surveys()[:1], _answers, params, SETTINGS, NOTHING_KNOWN)
