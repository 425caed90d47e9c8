# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Initial states as nuisance parameters of a library fit."""

from __future__ import annotations

import mujoco
import numpy as np
import pendulum
import pytest
from sysid_problems import record_spring_mass

from sysid_ros import sysid
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.parameters.start_parameters import deviated
from sysid_ros.errors import ParameterError

WRONG = [0.02, -0.5]  # m, m/s: how far the recordings' given starts are off


def recordings() -> sysid.ModelSequences:
    """Two runs of the mass on a spring whose initial states are wrong in different ways."""
    recording = record_spring_mass(1.0)
    rng = np.random.default_rng(0)
    noisy = recording.sensordata + 1e-3 * rng.normal(size=recording.sensordata.shape)
    measured = sysid.TimeSeries.from_names(recording.times, noisy, recording.model)
    starts = [recording.initial_state.copy() for _ in range(2)]
    for start, sign in zip(starts, (1.0, -1.0), strict=True):
        start[1:3] += sign * np.array(WRONG)
    control = sysid.TimeSeries(recording.control_times, recording.control)
    return sysid.ModelSequences(
        "spring", recording.spec, ["a", "b"], starts, [control] * 2, [measured] * 2
    )


def mass() -> sysid.ParameterDict:
    params = sysid.ParameterDict()
    modifier = sysid.AttributeModifier("body", "ball", "mass")
    params.add(sysid.Parameter("mass", 2.0, 0.3, 3.0, modifier=modifier))
    return params


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_wrong_starts_are_found_and_no_longer_pull_the_mass(engine):
    data = recordings()
    noise = {"position": 1e-3, "velocity": 1e-3}
    residual_fn = sysid.build_residual_fn(
        models_sequences=[data], normalization="noise", noise=noise, engine=engine
    )
    fixed, _ = sysid.optimize(mass(), residual_fn, verbose=False)
    params = mass()
    for parameter in sysid.start_params([data], position=0.05, velocity=1.0):
        params.add(parameter)
    found, result = sysid.optimize(params, residual_fn, verbose=False)

    assert abs(fixed["mass"].value[0] - 1.0) > 0.003
    assert found["mass"].value[0] == pytest.approx(1.0, abs=1e-3)
    for name, sign in (("a", -1.0), ("b", 1.0)):
        np.testing.assert_allclose(found[f"{name}_start"].value, sign * np.array(WRONG), atol=2e-3)
    assert result.status is sysid.FitStatus.CONVERGED


def test_they_are_saved_and_loaded(tmp_path):
    params = sysid.ParameterDict()
    for parameter in sysid.start_params([recordings()]):
        params.add(parameter)
    params.save_to_disk(tmp_path / "params.yaml")
    again = sysid.ParameterDict.load_from_disk(tmp_path / "params.yaml")
    assert again["a_start"].modifier == sysid.StartModifier("a")
    np.testing.assert_array_equal(again["b_start"].prior[1], [0.1, 1.0])


def test_orientations_move_along_their_tangent():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    state = sysid.create_initial_state(model, model.qpos0)
    moved = deviated(model, state, np.r_[np.zeros(3), 0.0, 0.0, np.pi / 2, np.ones(6)])
    np.testing.assert_allclose(moved[4:8], [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    np.testing.assert_allclose(moved[8:14], 1.0)


def test_the_windowed_fit_says_that_it_needs_none():
    control, measured = pendulum.recording(duration=2.0)
    data = pendulum.sequences(control, measured)
    params = pendulum.parameters()
    for parameter in sysid.start_params([data]):
        params.add(parameter)
    with pytest.raises(ParameterError, match="by itself"):
        fit([data], params, FitSettings())
