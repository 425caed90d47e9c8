# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact Jacobians of the library's residual functions against central differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest
import sysid_problems

from sysid_ros import sysid
from sysid_ros.engine.derivatives.compilation import entry_points
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.simulation.recorded_run import comparison_slope


def arm(**options: Any) -> tuple[sysid.ParameterDict, Any, np.ndarray]:
    """The notebook's arm: armatures, a link's inertia and a sensor's delay."""
    recording = sysid_problems.record_arm(0.5)
    spec = recording.spec
    params = sysid.ParameterDict()
    for name, value in sysid_problems.ARM_ARMATURE.items():
        params.add(
            sysid.Parameter(
                name, 1.2 * value, 0.0, 2.0,
                modifier=lambda s, p, name=name: setattr(s.joint(name), "armature", p.value[0]),
            )
        )  # fmt: skip
    params.add(
        sysid.body_inertia_param(
            spec, recording.model, "link3", inertia_type=sysid.InertiaType.Pseudo
        )
    )
    params.add(sysid.Parameter("lag", 0.003, 0.0, 0.01))
    transform = sysid.SignalTransform()
    transform.delay("joint2_pos", params["lag"])
    function = sysid.build_residual_fn(
        models_sequences=[recording.sequences()], signal_transform=transform, **options
    )
    return params, function, params.as_vector()


def test_a_frozen_parameter_may_change_between_jacobians() -> None:
    def longer() -> tuple[sysid.ParameterDict, Any, np.ndarray]:
        params, function, _ = arm()
        params.add(
            sysid.Parameter(
                "length", 0.1, 0.0, 1.0, frozen=True,
                modifier=lambda s, p: setattr(s.body("link3"), "pos", [0.0, 0.0, p.value[0]]),
            )
        )  # fmt: skip
        return params, function, params.as_vector()

    params, function, x = longer()
    before = function.jacobian(x, params)
    params["length"].value[:] = 0.2
    after = function.jacobian(x, params)
    other, fresh, _ = longer()
    other["length"].value[:] = 0.2
    assert np.abs(after - before).max() > 0.01 * np.abs(before).max()
    np.testing.assert_allclose(after, fresh.jacobian(x, other), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("stamping", ["notebook", "true"])
@pytest.mark.parametrize("normalization", ["reference", "none"])
def test_exact_jacobian_agrees_with_central_differences(stamping: str, normalization: str) -> None:
    params, function, x = arm(stamping=stamping, normalization=normalization)
    exact = function.jacobian(x, params)
    assert exact is not None
    for j in range(len(x)):
        step = np.zeros_like(x)
        step[j] = 1e-6
        ahead, behind = (function(x + s, params)[0][0] for s in (step, -step))
        column = (ahead - behind) / 2e-6
        assert np.linalg.norm(exact[:, j] - column) < 1e-5 * np.linalg.norm(column) + 1e-7


def test_the_plain_engine_stays_available() -> None:
    params, function, x = arm(engine="reference")
    assert function.jacobian(x, params) is None


def test_callbacks_are_left_to_finite_differences() -> None:
    params, function, x = arm(
        build_model=lambda params, spec: sysid.apply_param_modifiers(params, spec)
    )
    assert function.jacobian(x, params) is None


def falling(*durations: float, height: float = 0.3) -> tuple[sysid.ParameterDict, Any, np.ndarray]:
    """Recordings of a ball that falls for so many seconds; from 0.3 m it is on the floor in 0.2."""
    spec = mujoco.MjSpec.from_string(
        f"""<mujoco><option cone="elliptic"/><worldbody>
        <geom name="floor" type="plane" size="1 1 1"/><body name="ball" pos="0 0 {height}">
        <joint name="slide" type="slide" axis="0 0 1"/>
        <geom name="shell" size="0.1" mass="1"/></body></worldbody>
        <contact><pair geom1="floor" geom2="shell" solreffriction="0.03 1"/></contact>
        <actuator><motor name="push" joint="slide"/></actuator>
        <sensor><jointpos name="position" joint="slide"/></sensor></mujoco>"""
    )
    found = [
        sysid_problems.record(spec, lambda t: np.zeros((len(t), 1)), duration)
        for duration in durations
    ]
    params = sysid.ParameterDict()
    params.add(
        sysid.Parameter(
            "armature", 0.1, 0.0, 1.0,
            modifier=lambda s, p: setattr(s.joint("slide"), "armature", p.value[0]),
        )
    )  # fmt: skip
    sequences = sysid.ModelSequences(
        "ball",
        spec,
        [str(duration) for duration in durations],
        [each.initial_state for each in found],
        [each.commanded for each in found],
        [sysid.TimeSeries.from_names(each.times, each.sensordata, each.model) for each in found],
    )
    function = sysid.build_residual_fn(models_sequences=[sequences])
    return params, function, params.as_vector()


def test_contacts_of_another_kind_are_left_to_finite_differences() -> None:
    params, function, x = falling(0.5, height=0.1)
    assert function.jacobian(x, params) is None


@pytest.mark.parametrize("most_bytes", [8 * 100, 1 << 20])
def test_recordings_go_through_the_pass_together(
    monkeypatch: pytest.MonkeyPatch, most_bytes: int
) -> None:
    """In two batches or in one, of which one recording is left to differences of rollouts."""
    monkeypatch.setattr("sysid_ros.engine.simulation.recorded_batch.MAX_BYTES", most_bytes)
    params, function, x = falling(0.12, 0.3, 0.16, 0.1)
    together = function.jacobian(x, params)
    assert together is not None
    step = np.array([1e-6])
    ahead, behind = (np.concatenate(function(x + s, params)[0]) for s in (step, -step))
    difference = (ahead - behind) / 2e-6
    rows = [len(part) for part in function(x, params)[0]]
    assert len(set(rows)) == 4 and sum(rows) == len(together)
    for own in np.split(np.arange(sum(rows)), np.cumsum(rows)[:-1]):
        error = np.linalg.norm(together[own, 0] - difference[own])
        assert 0.0 < error < 1e-3 * np.linalg.norm(difference[own])


def test_the_check_simulates_the_beginning_of_a_long_recording(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lengths: list[int] = []
    run = RolloutPool.run
    monkeypatch.setattr(
        RolloutPool,
        "run",
        lambda pool, jobs: (
            lengths.extend(len(job.controls.values) for job in jobs) or run(pool, jobs)
        ),
    )
    monkeypatch.setattr("sysid_ros.engine.derivatives.sensitivities.CHECK_LENGTH", 30)
    params, function, x = arm()
    function(x, params)
    exact = function.jacobian(x, params)
    assert lengths == [249, 30]
    # A derivative that is wrong from the beginning on is noticed there.
    monkeypatch.setattr(
        "sysid_ros.engine.simulation.recorded_run.comparison_slope",
        lambda *given: replace(right := comparison_slope(*given), weights=1.1 * right.weights),
    )
    assert exact is not None and arm()[1].jacobian(x, params) is None


def test_what_is_compiled_ahead_is_what_fits_call() -> None:
    entry_points()
    params, function, x = arm()
    assert function.jacobian(x, params) is not None
    assert len(entry_points().differentiate_rollouts.signatures) == 1
    assert len(entry_points().interpolate.signatures) == 1
