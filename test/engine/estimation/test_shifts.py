# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What changes over recordings is told from what to what, and flagged."""

from __future__ import annotations

import numpy as np
from outcomes import fit_result

from sysid_ros.engine.estimation import model_error_sentences
from sysid_ros.engine.estimation.shifts import ModelError, with_model_error
from sysid_ros.engine.estimation.window_sample import Place
from sysid_ros.engine.parameters import CHANGES_AT_ONCE, DRIFTS
from sysid_ros.engine.uncertainty import Drift


def test_a_parameter_that_changes_over_recordings_is_told_from_what_to_what() -> None:
    parameters = fit_result(np.random.default_rng(0)).parameters
    first, count = parameters[0], len(parameters)
    found = ModelError(
        np.ones(count), np.ones(count), (), (Drift(0, 0.2 * first.value, -0.2 * first.value),)
    )
    ends = f"{1.2 * first.value:.3g} to {0.8 * first.value:.3g} {first.unit}".rstrip()
    (said,) = model_error_sentences(parameters, found)
    assert f"of the recordings {first.name} falls from {ends}: the robot warmed up" in said
    told = with_model_error(parameters, found)
    assert [one.name for one in told if DRIFTS in one.flags] == [first.name]


def test_what_changes_in_mid_recording_is_told_with_the_instant_and_recording() -> None:
    parameters = fit_result(np.random.default_rng(0)).parameters
    first, count = parameters[0], len(parameters)
    drift = Drift(0, -0.1 * first.value, 0.3 * first.value, 7)
    one = np.ones(count)
    found = ModelError(one, one, (), (drift,), Place((0, "day_two"), 8.0))
    ends = f"{0.9 * first.value:.3g} to {1.3 * first.value:.3g} {first.unit}".rstrip()
    (said,) = model_error_sentences(parameters, found)
    assert f"on estimates are others in 'day_two' ({first.name} rises from {ends})" in said
    assert said.startswith("From about 8 s on ")
    told = with_model_error(parameters, found)
    assert [one.name for one in told if CHANGES_AT_ONCE in one.flags] == [first.name]
    assert not any(DRIFTS in one.flags for one in told)
