# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The errors of estimates from other windows, on what the fit itself is scored on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sysid_ros.dataset import FitInputs
from sysid_ros.engine.estimation import WindowCheck, WindowEstimate
from sysid_ros.errors import StopRequestedError
from sysid_ros.judgement.scored_fit import window_errors
from sysid_ros.judgement.scoring import score


def scored_windows(
    inputs: FitInputs, check: WindowCheck, should_stop: Callable[[], bool] | None
) -> WindowCheck:
    """The check with the open-loop error of each estimate; as it is where that was stopped."""
    dataset = inputs.dataset
    used = dataset.validation if dataset.validation else dataset.training
    unit = ""
    found: list[WindowEstimate] = []
    for each in check.estimates:
        if not each.problem:
            try:
                scored, _ = window_errors(inputs, used, each.values, should_stop)
            except StopRequestedError:
                return check
            total = score(scored)
            each, unit = replace(each, error=total.rmse_all), total.unit_all
        found.append(each)
    scored_on = "held out" if dataset.validation else "training"
    return replace(check, estimates=tuple(found), unit=unit, scored_on=scored_on)
