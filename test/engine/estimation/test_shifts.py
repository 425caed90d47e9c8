# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What changes over recordings is told from what to what, and flagged."""

from __future__ import annotations

import numpy as np
from outcomes import fit_result

from sysid_ros.engine.estimation import model_error_sentences
from sysid_ros.engine.estimation.shifts import ModelError, with_model_error
from sysid_ros.engine.parameters import DRIFTS
from sysid_ros.engine.uncertainty import Drift


def test_a_parameter_that_changes_over_recordings_is_told_from_what_to_what() -> None:
    parameters = fit_result(np.random.default_rng(0)).parameters
    first, count = parameters[0], len(parameters)
    found = ModelError(np.ones(count), np.ones(count), (), (Drift(0, -0.4 * first.value),))
    ends = f"{1.2 * first.value:.3g} to {0.8 * first.value:.3g} {first.unit}".rstrip()
    (said,) = model_error_sentences(parameters, found)
    assert f"of the recordings {first.name} falls from {ends}: the robot warmed up" in said
    told = with_model_error(parameters, found)
    assert [one.name for one in told if DRIFTS in one.flags] == [first.name]
