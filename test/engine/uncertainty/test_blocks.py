# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Blocks inside windows as clusters: their shares add up, and few windows lead to them."""

from __future__ import annotations

import sys

import numpy as np
import pendulum
import pytest

from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.least_squares.gauss_newton import eliminate_starts, without_starts
from sysid_ros.engine.least_squares.losses import loss_named
from sysid_ros.engine.problem.windowed_problem import WindowedProblem
from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.engine.uncertainty import uncertainty_of
from sysid_ros.engine.uncertainty.blocks import BLOCKS, block_numbers, by_block, grams_of_blocks
from sysid_ros.engine.windows.model_group import model_group
from sysid_ros.errors import StopRequestedError


@pytest.mark.parametrize("estimate", [True, False])
def test_shares_of_blocks_add_up_to_the_windows(estimate):
    control, measured = pendulum.recording(duration=3.0, noise=1e-3)
    params = pendulum.parameters()
    group = model_group(
        pendulum.sequences(control, measured),
        params,
        window_length=1.5,
        estimate_starts=estimate,
        velocity_filter=30.0,
    )
    with RolloutPool(1) as rollouts:
        problem = WindowedProblem(
            [group], params, rollouts, loss=loss_named("linear"), noise={"angle": 1e-3}
        )
        point = problem.initial_point()
        system = eliminate_starts(problem.linearize(point))
        rows = [*problem.window_rows(point)]
        blocks = by_block(problem, point, system, grams_of_blocks(problem, rows))
    assert len(blocks.window_hessians) >= BLOCKS
    np.testing.assert_allclose(
        blocks.window_hessians.sum(axis=0), system.window_hessians.sum(axis=0), rtol=1e-6
    )
    np.testing.assert_allclose(
        blocks.window_gradients.sum(axis=0), system.window_gradients.sum(axis=0), rtol=1e-6
    )
    count = len(blocks.window_hessians) // len(rows)
    for window, own in enumerate(rows):
        number = block_numbers(group.windows[window].window.samples.times, count, len(own))
        alone = without_starts(own, params.size)  # by an orthogonal basis of the start's columns
        for k in range(count):
            part = alone[number == k]
            place = window * count + k
            np.testing.assert_allclose(blocks.window_hessians[place], part.T @ part, rtol=1e-6)
            np.testing.assert_allclose(
                blocks.window_gradients[place], part.T @ own[number == k, -1], rtol=1e-6, atol=1e-6
            )


@pytest.mark.parametrize(("length", "method"), [(0.5, "clustered"), (None, "blocks")])
def test_few_windows_are_split(length, method):
    control, measured = pendulum.recording(duration=6.0, noise=1e-2)
    result = fit(
        [pendulum.sequences(control, measured)],
        pendulum.parameters(),
        FitSettings(window_length=length),
    )
    assert result.interval_method == method
    for name, truth in pendulum.TRUTH.items():
        low, high = result[name].interval(0.999)
        assert low < truth < high


def test_a_stopped_fit_claims_nothing_it_could_not_compute(monkeypatch):
    def stopped(*_):
        raise StopRequestedError

    monkeypatch.setattr(sys.modules[uncertainty_of.__module__], "by_block", stopped)
    control, measured = pendulum.recording(duration=4.0, noise=1e-2)
    steps = []
    result = fit(
        [pendulum.sequences(control, measured)],
        pendulum.parameters(),
        FitSettings(window_length=None, loss="huber"),
        on_iteration=steps.append,
        should_stop=lambda: len(steps) >= 2,
    )
    assert result.status.value == "CANCELED"
    assert all(parameter.interval() is None for parameter in result.parameters)
