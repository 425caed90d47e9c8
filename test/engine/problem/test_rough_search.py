# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The first steps of a search on some of the recordings."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from sysid_problems import SPRING_MASS, record, record_spring_mass

from sysid_ros import sysid
from sysid_ros.engine.problem import objective


def recordings(*masses: float) -> Any:
    """A residual of as many noisy recordings of the same motion, of a ball of these masses."""
    plain, spec = record_spring_mass(0.2), mujoco.MjSpec.from_string(SPRING_MASS)
    series = []
    for k, mass in enumerate(masses):
        spec.body("ball").mass = mass
        own = record(spec, lambda t: plain.control[: len(t)], 0.2).sensordata
        noise = np.random.default_rng(k).normal(scale=1e-4, size=own.shape)
        series.append(sysid.TimeSeries.from_names(plain.times, own + noise, plain.model))
    n = len(masses)
    names, starts = [str(k) for k in range(n)], [plain.initial_state] * n
    model = sysid.ModelSequences("ball", plain.spec, names, starts, [plain.commanded] * n, series)
    return sysid.build_residual_fn(models_sequences=[model])


def searched(function: Any, start: float, **options: Any) -> tuple[Any, list[sysid.Iteration]]:
    params = sysid.ParameterDict()
    params.add(
        sysid.Parameter(
            "mass", start, 0.2, 9.0,
            modifier=lambda spec, p: setattr(spec.body("ball"), "mass", p.value[0]),
        )
    )  # fmt: skip
    steps: list[sysid.Iteration] = []
    _, result = sysid.optimize(params, function, verbose=False, callback=steps.append, **options)
    assert [step.iteration for step in steps] == list(range(result.iterations + 1))
    assert steps[0].values == [start]
    return result, steps


def without_parts(function: Any) -> Any:
    class Whole(SimpleNamespace):
        def __call__(self, x: Any, params: Any) -> Any:
            return function(x, params)

    return Whole(jacobian=function.jacobian)


def test_the_minimum_of_all_recordings_is_found_with_fewer_jacobians_of_them() -> None:
    function = recordings(*[1.0] * 9)
    result, steps = searched(function, 6.0)
    whole, _ = searched(without_parts(recordings(*[1.0] * 9)), 6.0)
    assert result.cost == pytest.approx(whole.cost, rel=1e-9)
    np.testing.assert_allclose(result.x, whole.x, rtol=1e-6)
    assert result.jacobians < whole.jacobians
    # The first step is the whole way on the part: so much is left that noise moved it.
    assert abs(steps[1].values[0] - result.x[0]) < 0.01
    assert np.isnan(steps[0].gradient_norm) and np.isfinite(steps[1].gradient_norm)


def test_a_part_that_leads_astray_is_left_out() -> None:
    masses = [1.0] * 9
    masses[4] = 8.0  # the one that stands for all
    best = float(searched(without_parts(recordings(*masses)), 1.1)[0].x[0])
    result, steps = searched(recordings(*masses), 1.05 * best)
    whole, alone = searched(without_parts(recordings(*masses)), 1.05 * best)
    assert [step.cost for step in steps] == pytest.approx([step.cost for step in alone])
    np.testing.assert_allclose(result.x, whole.x, rtol=1e-9)


def test_a_part_leaves_time_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()  # one second for whatever asks for the time
    monkeypatch.setattr(objective, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    for limit in (6.0, 9.0, 12.0):
        result, steps = searched(recordings(*[1.0] * 8), 6.0, time_limit=limit)
        assert result.status is sysid.FitStatus.TIME_LIMIT
        assert result.cost < steps[0].cost


@pytest.mark.parametrize("asked", [4, 8])
def test_a_canceled_search_on_a_part_counts(asked: int) -> None:
    looks = itertools.count()
    result, steps = searched(recordings(*[1.0] * 8), 6.0, should_stop=lambda: next(looks) >= asked)
    assert result.status is sysid.FitStatus.CANCELED
    assert result.cost < steps[0].cost


def test_few_recordings_have_no_part() -> None:
    assert recordings(*[1.0] * 7).part() is None
    assert recordings(*[1.0] * 8).part() is not None
    assert sysid.build_residual_fn(models_sequences=()).part() is None
