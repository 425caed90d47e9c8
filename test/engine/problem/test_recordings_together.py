# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that are compared together, as windows300 of the benchmark are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from sysid_problems import record_spring_mass

from sysid_ros import sysid
from sysid_ros.engine.problem.residual_function import ResidualFunction
from sysid_ros.engine.residuals import ResidualOptions, discrepancy
from sysid_ros.engine.signals import Stamping
from sysid_ros.engine.simulation import recorded_runs


@pytest.mark.parametrize("stamping", ["notebook", "true"])
def test_recordings_with_the_same_instants_are_compared_together(
    monkeypatch: pytest.MonkeyPatch, stamping: Stamping
) -> None:
    """And give what each gives alone, beside others that end earlier, lack samples or differ."""
    counted = []
    frame = discrepancy._frame
    monkeypatch.setattr(
        discrepancy, "_frame", lambda *given: counted.append(given) or frame(*given)
    )
    recording = record_spring_mass(0.3)
    sequences = recording.sequences()
    first = sequences.measured_rollout[0]
    data = recording.sensordata + np.sin(recording.times[:, None] * [3.0, 5.0])
    lacking, names = data.copy(), ["velocity", "position"]
    lacking[7:12, 1] = np.nan
    made = sysid.TimeSeries.from_names
    others = [
        made(recording.times, data, recording.model),
        made(recording.times, lacking, recording.model),
        made(recording.times, 2.0 * data, recording.model),
        made(recording.times[:49], data[:49], recording.model),
        made(recording.times, data[:, ::-1], recording.model, names),
    ]
    runs = [first, *(first.replace(sensordata=each) for each in others)]
    params, x = sysid.ParameterDict(), np.array([1.2])
    modifier = sysid.AttributeModifier("body", "ball", "mass")
    params.add(sysid.Parameter("mass", 1.0, 0.3, 3.0, modifier=modifier))

    def function(some: Sequence[sysid.SystemTrajectory]) -> ResidualFunction:
        own = sysid.ModelSequences(
            "ball",
            recording.spec,
            [f"run{k}" for k in range(len(some))],
            [run.initial_state for run in some],
            [run.control for run in some],
            [run.sensordata for run in some],
        )
        return sysid.build_residual_fn(models_sequences=[own], stamping=stamping)

    together = function(runs)
    parts, predicted, measured = together(x, params)
    assert len(counted) == 3
    exact = together.jacobian(x, params)
    jacobians = []
    for k, run in enumerate(runs):
        alone = function([run])
        (part,), (own_predicted,), (own_measured,) = alone(x, params)
        np.testing.assert_array_equal(part, parts[k])
        np.testing.assert_array_equal(own_predicted[0].data, predicted[k][0].data)
        np.testing.assert_array_equal(own_measured[0].data, measured[k][0].data)
        jacobians.append(alone.jacobian(x, params))
    np.testing.assert_allclose(exact, np.vstack(jacobians), rtol=1e-12, atol=1e-15)


def test_any_number_of_recordings_knows_what_those_before_have() -> None:
    first = record_spring_mass(0.1).sequences().measured_rollout[0]
    options = ResidualOptions((), lambda *given: None)
    assert recorded_runs([first] * 1200, options)[-1].is_linear  # beyond Python's recursion
