# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A score as the rows of a table, for the terminal and for the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sysid_ros.judgement.outcome import JointTorque, Score
from sysid_ros.judgement.scoring import in_units_of_noise


@dataclass(frozen=True)
class PredictionError:
    """The error of one signal, or of several, in ``unit``; NaN where it is not known."""

    name: str  # of what it is the error
    unit: str  # of the errors
    initial: float  # of the initial parameters
    fitted: float  # of the identified ones
    still: float  # of a robot that stands still; of a torque its own size


def prediction_errors(
    score: Score, noise: Mapping[str, float], torques: Sequence[JointTorque]
) -> list[PredictionError]:
    """One row per signal, one of all together, one in units of noise, one per joint's torque.

    Args:
      score: Of one set of recordings.
      noise: Noise level by signal; the row in its units needs several signals.
      torques: What inverse dynamics says of the torque at each joint.
    """
    tables = (score.rmse_initial, score.rmse, score.rmse_still)
    overall = (score.rmse_all_initial, score.rmse_all, score.rmse_still_all)
    pooled = [in_units_of_noise(rmse, noise) for rmse in tables]
    rows = [
        PredictionError(name, score.units.get(name, ""), *(t.get(name, math.nan) for t in tables))
        for name in score.rmse
    ]
    rows.append(PredictionError("all together", score.unit_all, *overall))
    if len(score.rmse) > 1 and not math.isnan(pooled[1]):
        rows.append(PredictionError("all signals", "times their noise level", *pooled))
    return rows + [
        PredictionError(
            f"torque asked for at {one.joint}", one.unit, one.rmse_initial, one.rmse, one.measured
        )
        for one in torques
    ]
