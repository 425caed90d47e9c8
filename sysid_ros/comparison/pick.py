# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simplest model that predicts no worse than the best one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sysid_ros.comparison.paired import LEVEL, HeldOut


@dataclass(frozen=True)
class Pick:
    """The chosen structure and the grounds of the choice."""

    chosen: str  # a model; empty where no choice can be made
    best: str  # the one of the smallest held-out error
    rmse: Mapping[str, float]  # held-out error by model, in ``unit``
    # by model, how likely its errors are if it predicts no worse than ``best``
    p_worse: Mapping[str, float]
    unit: str  # of the errors
    reason: str  # in one sentence


def pick(errors: HeldOut, sizes: Mapping[str, int], bic: Mapping[str, float]) -> Pick:
    """Choose among models.

    Args:
      errors: Their held-out errors.
      sizes: Free parameters by model, in the order of preference among equals.
      bic: Decides where there are too few units for a test.

    Returns:
      The simplest model that is not significantly worse than the best.
    """
    best = errors.best(errors.models)
    p_worse = {model: errors.p_worse(model, best) for model in errors.models}
    p_worse[best] = 1.0
    rmse = {model: errors.rmse(model) for model in errors.models}
    simplest_first = sorted(
        (model for model in sizes if model in errors.models), key=lambda model: sizes[model]
    )
    if any(math.isnan(p) for p in p_worse.values()):
        chosen = min(simplest_first, key=lambda model: bic[model])
        reason = f"{errors.units} are too few for a test; {chosen} has the lowest BIC"
        return Pick(chosen, best, rmse, p_worse, errors.unit, reason)
    chosen = next(model for model in simplest_first if p_worse[model] >= LEVEL)
    return Pick(
        chosen, best, rmse, p_worse, errors.unit, _reason(chosen, best, p_worse, sizes, errors)
    )


def no_choice(found: Pick, unfinished: Mapping[str, str]) -> Pick:
    """Take a choice back, because some of the fits have not converged.

    Args:
      found: What would be chosen.
      unfinished: By model how its fit ended, and what to do about it.
    """
    ends = "; ".join(f"{model}: {message}" for model, message in unfinished.items())
    reason = f"models can be told apart only by fits that have converged ({ends})"
    return replace(found, chosen="", reason=reason)


def _reason(
    chosen: str, best: str, p_worse: Mapping[str, float], sizes: Mapping[str, int], errors: HeldOut
) -> str:
    simpler = [model for model in p_worse if sizes[model] < sizes[chosen]]
    rejected = f"; simpler ones are worse at the {LEVEL:.0%} level" if simpler else ""
    if chosen == best:
        return f"{chosen} predicts {errors.units} best{_not_least(best, errors)}{rejected}"
    return (
        f"{chosen} is the simplest model that predicts {errors.units} not significantly worse "
        f"than {best} (p = {p_worse[chosen]:.2g}){_not_least(best, errors)}{rejected}"
    )


def _not_least(best: str, errors: HeldOut) -> str:
    """Say which model the root mean square of the errors prefers, where it is another."""
    least = min(errors.models, key=errors.rmse)
    if errors.rmse(best) <= errors.rmse(least):
        return ""
    return f" (by the geometric mean of their errors; by their root mean square {least} does)"
