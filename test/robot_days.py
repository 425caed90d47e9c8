# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Results of a robot over several days, with known changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
from outcomes import outcome as synthetic

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.judgement import Outcome
from sysid_ros.trend import DatedResult, dated_results

FIRST = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)
_TEMPLATE = synthetic(sequences=1, signals=1, duration=1.0)


def made(
    values: Sequence[float] | FloatArray,
    days: float,
    errors: float | Sequence[float],
    condition: float = 20.0,
) -> Outcome:
    """A result with parameters ``joint0_friction`` and so on, recorded so many days later."""
    estimates = tuple(
        ParameterEstimate(
            f"joint{i}_friction", "N m", 1.0, float(value), 0.0, 10.0, float(error), 40.0
        )
        for i, (value, error) in enumerate(
            zip(values, np.broadcast_to(errors, len(values)), strict=True)
        )
    )
    recording = f"{days}{list(values)}"
    return replace(
        _TEMPLATE,
        fit=replace(
            _TEMPLATE.fit,
            parameters=estimates,
            covariance=np.diag(np.broadcast_to(errors, len(values)) ** 2.0),
        ),
        provenance={
            "recorded trajectory_00": (FIRST + timedelta(days=days)).isoformat(),
            "sha256 trajectory_00": recording,
            "sha256 robot.xml": "ab" * 32,
            "experiment": f"sequences:\n  - {{bag: x, conditions: {{temperature: {condition}}}}}\n",
        },
    )


def robot(
    rng: np.random.Generator,
    *,
    days: int = 10,
    recordings: int = 1,
    parameters: int = 14,
    error: float = 0.02,
    scatter: float = 0.02,
    day_effect: float = 0.0,
    change: float = 0.0,
    changed_from: int = 5,
    drift: float = 0.0,
) -> tuple[DatedResult, ...]:
    """Results of one robot with parameters around one; the first may change or drift.

    Args:
      rng: Of what is drawn.
      days: How many.
      recordings: On each.
      parameters: How many.
      error: Standard error that results state.
      scatter: Standard deviation of recordings.
      day_effect: Standard deviation of what recordings of one day share.
      change: Step of the first parameter.
      changed_from: The first day after it.
      drift: Of the first parameter, per day.
    """
    results = {}
    for day in range(days):
        shared = day_effect * rng.standard_normal(parameters)
        for number in range(recordings):
            values = 1.0 + shared + scatter * rng.standard_normal(parameters)
            values[0] *= 1.0 + change * (day >= changed_from) + drift * day
            results[f"{day}_{number}"] = made(values, day + 0.02 * number, error)
    return dated_results(results)
