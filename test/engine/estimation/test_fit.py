# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The windowed fit recovers known parameters and says how well."""

from __future__ import annotations

import mujoco
import numpy as np
import pendulum
import pytest

from sysid_ros.engine.derivatives.forward_runs import ForwardRuns
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.least_squares.search_progress import FitStatus, Iteration
from sysid_ros.engine.parameters.modifiers import AttributeModifier, SignalModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.engine.simulation import BatchSimulation
from sysid_ros.errors import DataError, ExperimentError


@pytest.mark.parametrize("optimizer", ["auto", "mujoco", "scipy", "scipy_parallel_fd"])
def test_every_optimizer_recovers_the_parameters(optimizer: str) -> None:
    result = fit(
        [pendulum.sequences(*pendulum.recording(duration=8.0, noise=1e-4))],
        pendulum.parameters(),
        FitSettings(optimizer=optimizer, threads=2),
    )
    assert result.status is FitStatus.CONVERGED
    for name, value in pendulum.TRUTH.items():
        assert result[name].value == pytest.approx(value, rel=0.02), name
    assert result.noise["angle"] == pytest.approx(1e-4, rel=0.1)
    assert result.cost_final < 0.01 * result.cost_initial


def test_whole_recordings_and_measured_starts() -> None:
    result = fit(
        [pendulum.sequences(*pendulum.recording(duration=8.0))],
        pendulum.parameters(),
        FitSettings(window_length=None, estimate_starts=False),
    )
    for name, value in pendulum.TRUTH.items():
        assert result[name].value == pytest.approx(value, rel=0.02), name


def test_intervals_cover_and_shrink_with_data() -> None:
    covered = []
    widths = []
    for seed, duration in enumerate([24.0, 24.0, 24.0, 6.0]):
        data = pendulum.recording(duration=duration, noise=0.005, seed=seed)
        result = fit([pendulum.sequences(*data)], pendulum.parameters(), FitSettings())
        assert result.interval_method == "clustered"
        for name, value in pendulum.TRUTH.items():
            low, high = result[name].interval(0.99) or (np.nan, np.nan)
            covered.append(low <= value <= high)
        widths.append(result["damping"].standard_error)
    assert sum(covered) >= len(covered) - 1
    assert widths[3] > 1.3 * np.mean(widths[:3])


def test_a_start_at_the_initial_values_is_simulated_once() -> None:
    data = [pendulum.sequences(*pendulum.recording(duration=4.0, noise=1e-3))]
    settings, params = FitSettings(model_error=False), pendulum.parameters()
    evaluations = [
        fit(data, params, settings, start=start).evaluations for start in (None, params.as_vector())
    ]
    assert evaluations[0] == evaluations[1]


def test_a_search_goes_on_where_mujoco_does_not_confirm_what_it_saw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if the compiled equation missed something that acts after the first comparison only."""
    data = [pendulum.sequences(*pendulum.recording(duration=4.0, noise=1e-3))]
    settings = FitSettings(model_error=False)
    expected = fit(data, pendulum.parameters(), settings)
    assert expected.simulated == "compiled"
    simulate, compare = ForwardRuns._simulated, ForwardRuns.compared
    compared = []

    def wrong_once_confirmed(runs: ForwardRuns, jobs: list[BatchSimulation]) -> object:
        found = simulate(runs, jobs)
        for batch in (found or []) if runs.trusted else []:
            batch.sensordata[:] *= 1.05
        return found

    def remembered(runs: ForwardRuns, jobs: list[BatchSimulation]) -> object:
        compared.append(runs.trusted)
        return compare(runs, jobs)

    monkeypatch.setattr(ForwardRuns, "_simulated", wrong_once_confirmed)
    monkeypatch.setattr(ForwardRuns, "compared", remembered)
    result = fit(data, pendulum.parameters(), settings)
    assert compared.count(True) == 1  # and it did not agree
    assert result.simulated == "mujoco"
    assert result.cost_final == pytest.approx(expected.cost_final, rel=1e-3)
    for name in pendulum.TRUTH:
        assert result[name].value == pytest.approx(expected[name].value, rel=1e-3), name


def test_a_silent_parameter_is_named_and_claims_nothing() -> None:
    params = pendulum.parameters()
    params.add(
        Parameter("lateral", 0.0, -0.1, 0.1, modifier=AttributeModifier("body", "bob", "com_y"))
    )
    result = fit(
        [pendulum.sequences(*pendulum.recording(duration=6.0, noise=1e-3))], params, FitSettings()
    )
    assert "unidentifiable" in result["lateral"].flags
    assert result["lateral"].interval() is None
    assert result["damping"].interval() is not None
    assert any("lateral" in sentence for sentence in result.unidentifiable)


def test_torque_scale_and_inertia_are_told_as_one_combination() -> None:
    """Without gravity, gain / (inertia, friction) is all that a recording shows."""
    control, measured = pendulum.recording(duration=6.0)
    sequences = pendulum.sequences(control, measured)
    sequences.spec.option.gravity = [0, 0, 0]
    params = pendulum.parameters()
    del params.parameters["armature"], params.parameters["frictionloss"]

    def set_inertia(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        spec.joint("hinge").armature = parameter.value[0]
        spec.body("bob").mass = 1e-6
        spec.body("bob").inertia = [1e-6] * 3
        spec.joint("hinge").frictionloss = 0.0

    params.add(Parameter("inertia", 0.06, 0.01, 0.5, modifier=set_inertia))
    params.add(Parameter("gain", 1.0, 0.2, 5.0, modifier=SignalModifier("motor", "gain")))
    result = fit([sequences], params, FitSettings(max_iterations=5))
    assert {p.name for p in result.parameters if "unidentifiable" in p.flags} == {
        "inertia", "gain", "damping",
    }  # fmt: skip
    assert "the ratio of damping, inertia and gain" in result.unidentifiable[0]


def test_a_bound_is_flagged_and_its_interval_ends_there() -> None:
    result = fit(
        [pendulum.sequences(*pendulum.recording(duration=6.0, noise=1e-3))],
        pendulum.parameters(armature=(0.005, 0.02)),
        FitSettings(),
    )
    assert result["armature"].flags[0] == "at upper bound"
    low, high = result["armature"].interval() or (np.nan, np.nan)
    assert 0.005 < low < high == 0.02


@pytest.mark.parametrize(("target", "truth"), [("motor", 0.021), ("angle", 0.0135)])
def test_delays_of_commands_and_sensors_are_found(target: str, truth: float) -> None:
    control, measured = pendulum.recording(duration=8.0, noise=1e-4)
    shifted = measured if target == "motor" else control
    moved = TimeSeries(
        shifted.times + truth, shifted.data, shifted.signal_mapping, shifted.interpolation
    )
    data = (control, moved) if target == "motor" else (moved, measured)
    params = pendulum.parameters()
    modifier = SignalModifier(target, "delay")
    sign = 1.0 if target == "motor" else -1.0
    params.add(Parameter("delay", 0.0, -0.05, 0.05, modifier=modifier))
    result = fit([pendulum.sequences(*data)], params, FitSettings(window_length=2.0))
    assert result["delay"].value == pytest.approx(sign * truth, abs=2e-4)


def test_gaps_in_a_measurement_are_masked() -> None:
    control, measured = pendulum.recording(duration=8.0, noise=1e-4)
    data = np.array(measured.data)
    data[500:700] = np.nan
    result = fit(
        [pendulum.sequences(control, TimeSeries(measured.times, data, measured.signal_mapping))],
        pendulum.parameters(),
        FitSettings(),
    )
    assert result["armature"].value == pytest.approx(pendulum.TRUTH["armature"], rel=0.03)


def test_robust_loss_withstands_outliers() -> None:
    control, measured = pendulum.recording(duration=8.0, noise=1e-3)
    data = np.array(measured.data)
    data[::50] += 0.5
    corrupted = pendulum.sequences(
        control, TimeSeries(measured.times, data, measured.signal_mapping)
    )
    known = SignalNoise({"angle": 1e-3})
    errors = {}
    for loss in ("linear", "cauchy"):
        result = fit([corrupted], pendulum.parameters(), FitSettings(loss=loss), known=known)
        errors[loss] = abs(result["damping"].value / pendulum.TRUTH["damping"] - 1.0)
    assert errors["cauchy"] < 0.03 < errors["linear"]


def test_a_prior_pulls_a_silent_parameter() -> None:
    params = pendulum.parameters()
    modifier = AttributeModifier("body", "bob", "com_y")
    params.add(Parameter("lateral", 0.0, -0.1, 0.1, modifier=modifier, prior=(0.02, 0.001)))
    result = fit(
        [pendulum.sequences(*pendulum.recording(duration=6.0, noise=1e-3))], params, FitSettings()
    )
    assert result["lateral"].value == pytest.approx(0.02, abs=1e-4)
    assert "unidentifiable" not in result["lateral"].flags


def test_steps_into_divergence_are_rejected() -> None:
    """Far below its true value, armature makes the explicitly integrated drive explode."""
    control, measured = pendulum.recording(duration=4.0)
    sequences = pendulum.sequences(control, measured)
    params = pendulum.parameters()

    def set_unstable(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        spec.joint("hinge").stiffness[0] = parameter.value[0]

    params.add(Parameter("stiffness", 0.5, -1e6, 1e6, modifier=set_unstable))
    result = fit([sequences], params, FitSettings())
    assert abs(result["stiffness"].value) < 0.05
    assert np.isfinite(result.cost_final)


def test_a_start_that_diverges_is_refused_with_its_window() -> None:
    params = pendulum.parameters()

    def set_stiffness(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        spec.joint("hinge").stiffness[0] = parameter.value[0]

    params.add(Parameter("stiffness", -1e6, -2e6, 1e6, modifier=set_stiffness))
    with pytest.raises(DataError, match=r"diverges in 2 of 2 windows, first in recording from 0"):
        fit([pendulum.sequences(*pendulum.recording(duration=2.0))], params, FitSettings())


def test_stop_keeps_the_best_so_far() -> None:
    seen: list[Iteration] = []
    result = fit(
        [pendulum.sequences(*pendulum.recording(duration=6.0))],
        pendulum.parameters(),
        FitSettings(),
        on_iteration=seen.append,
        should_stop=lambda: len(seen) >= 3,
    )
    assert result.status is FitStatus.CANCELED
    assert [p.value for p in result.parameters] == seen[-1].values.tolist()
    assert seen[-1].cost < seen[0].cost
    stopped = fit(
        [pendulum.sequences(*pendulum.recording(duration=6.0))],
        pendulum.parameters(),
        FitSettings(),
        should_stop=lambda: True,
    )
    assert stopped.status is FitStatus.CANCELED
    assert stopped["damping"].value == pendulum.START["damping"]


def test_iteration_limit_is_said() -> None:
    result = fit(
        [pendulum.sequences(*pendulum.recording(duration=4.0))],
        pendulum.parameters(),
        FitSettings(max_iterations=1),
    )
    assert result.status is FitStatus.MAX_ITERATIONS
    assert "max_iterations" in result.message


def test_fewer_samples_than_parameters() -> None:
    control, measured = pendulum.recording(duration=4.0)
    few = TimeSeries(measured.times[:900:300], measured.data[:900:300], measured.signal_mapping)
    with pytest.raises(DataError, match="3 samples cannot determine 3 parameters"):
        fit([pendulum.sequences(control, few)], pendulum.parameters(), FitSettings(None))


def test_unknown_optimizer_and_loss_list_the_valid_ones() -> None:
    data = [pendulum.sequences(*pendulum.recording(duration=2.0))]
    with pytest.raises(ExperimentError, match="scipy_parallel_fd"):
        fit(data, pendulum.parameters(), FitSettings(optimizer="scpy"))
    with pytest.raises(ExperimentError, match="huber"):
        fit(data, pendulum.parameters(), FitSettings(loss="hubr"))
