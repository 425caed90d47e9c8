# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the data leaves open, in words: the notebook's cart with one and with two recordings."""

from __future__ import annotations

import numpy as np
import pytest
from sysid_problems import record_cart

from sysid_ros import sysid
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.least_squares import ReducedSystem
from sysid_ros.engine.uncertainty import UNRESOLVED, Covariance, covariance
from sysid_ros.engine.uncertainty.identifiability import describe_open_directions


def sequences(payload: float) -> sysid.ModelSequences:
    """One recording of the cart, at the instants at which its sensors were true."""
    recording = record_cart(payload)
    times = recording.times - recording.model.opt.timestep
    rng = np.random.default_rng(int(payload))
    noisy = recording.sensordata[:, :1] + 1e-4 * rng.normal(size=(len(times), 1))
    return sysid.ModelSequences(
        f"cart_{payload:g}",
        recording.spec,
        "run",
        recording.initial_state,
        sysid.TimeSeries.from_control_names(
            recording.control_times, recording.control, recording.model
        ),
        sysid.TimeSeries.from_custom_map(
            times, noisy, {"position": (sysid.SignalType.MjSensor, np.array([0]))}
        ),
        allow_missing_sensors=True,
    )


def parameters() -> sysid.ParameterDict:
    params = sysid.ParameterDict()
    mass = sysid.AttributeModifier("body", "cart", "mass")
    gear = sysid.AttributeModifier("actuator", "motor", "gear")
    params.add(sysid.Parameter("mass", 3.5, 0.5, 5.0, modifier=mass))
    params.add(sysid.Parameter("gear", 5.0, 0.5, 8.0, modifier=gear))
    return params


def test_one_recording_determines_the_ratio_and_a_payload_both():
    one = fit([sequences(0.0)], parameters(), FitSettings(window_length=0.2))
    (sentence,) = one.unidentifiable
    assert sentence.startswith("only gear / mass is determined")
    assert "add a recording with a known payload" in sentence
    assert one["gear"].interval() is None
    assert one["mass"].flags == ("unidentifiable",)
    assert one["gear"].value / one["mass"].value == pytest.approx(1.5, rel=5e-3)

    both = fit([sequences(0.0), sequences(1.0)], parameters(), FitSettings(window_length=0.2))
    assert both.unidentifiable == ()
    for name, truth in (("mass", 2.0), ("gear", 3.0)):
        low, high = both[name].interval(0.99)
        assert low < truth < high
        assert both[name].value == pytest.approx(truth, rel=0.01)


def test_what_is_open_stays_as_near_to_the_model_as_the_data_allows_from_any_start():
    """Along the ray of one ratio, the point nearest to the nominal values in widths of bounds."""
    settings = FitSettings(window_length=0.2)
    found = [
        fit([sequences(0.0)], parameters(), settings, start=np.array(start))
        for start in ([3.5, 5.0], [0.8, 7.0])
    ]
    ratio = found[0]["gear"].value / found[0]["mass"].value
    weight = np.array([1.0 / 4.5, 1.0 / 7.5]) ** 2  # of the widths of the bounds
    ray, nominal = np.array([1.0, ratio]), np.array([3.5, 5.0])
    nearest = ray * (ray * weight @ nominal) / (ray * weight @ ray)
    for one in found:
        assert one.values == pytest.approx(nearest, rel=0.02)


def test_what_no_signal_shows_stays_where_the_model_has_it():
    params = parameters()
    sideways = sysid.AttributeModifier("body", "cart", "com_y")
    params.add(sysid.Parameter("sideways", 0.005, -1.0, 1.0, modifier=sideways))
    start = np.array([3.5, 5.0, 0.14])
    found = fit([sequences(0.0)], params, FitSettings(window_length=0.2), start=start)
    assert found["sideways"].value == pytest.approx(0.005, abs=1e-4)
    assert found["sideways"].flags == ("unidentifiable",)


@pytest.mark.parametrize(
    ("relative", "words"),
    [
        ((1.0, 1.0, 0.0), "only b / a is determined"),
        ((1.0, -1.0, 0.0), "only a * b is determined"),
        ((1.0, 0.5, 0.0), "only b^2 / a is determined"),
        ((0.0, 2.0, -1.0), "only b * c^2 is determined"),
        ((1.0, 1.0, 1.0), "only the ratio of a, b and c is determined"),
        ((1.0, 0.3, -0.7), "only a combination of a, b, c is determined"),
        ((0.0, 1.0, 0.0), "the data says nothing about b"),
    ],
)
def test_formulas_of_what_is_determined(relative, words):
    values, width = np.array([2.0, 5.0, 0.7]), np.array([1.0, 3.0, 0.4])
    direction = np.array(relative) * values / width
    direction /= np.linalg.norm(direction)
    found = Covariance(
        np.eye(3), np.ones(3), "white", np.ones(3), direction[None], np.ones(3), np.zeros(3),
        np.zeros(3),
    )  # fmt: skip
    (sentence,) = describe_open_directions(found, ("a", "b", "c"), values, width)
    assert sentence.startswith(words)


def test_what_is_entangled_with_something_open_is_as_uncertain_as_that() -> None:
    """Gear and mass are open; a damping that follows them a little is not known by itself."""
    rng = np.random.default_rng(4)
    windows, rows, noise = 30, 10, 0.01
    base = rng.normal(size=(windows, rows, 2))
    open_direction = np.array([1.0, 1.0, 0.05])  # which leaves every signal as it is
    jacobian = base @ np.array([[1.0, -1.0, 0.0], [0.0, -0.05, 1.0]])
    assert np.allclose(jacobian @ open_direction, 0.0)
    hessians = np.einsum("wmi,wmj->wij", jacobian, jacobian) / noise**2
    covered = []
    for _ in range(200):
        true = np.array([0.5, 0.5, 0.5]) + rng.uniform(-0.5, 0.5) * open_direction
        error = rng.normal(size=(windows, rows))
        middle = np.full(3, 0.5)
        away = jacobian @ (middle - true) / noise - error
        gradient = np.einsum("wmi,wm->i", jacobian, away) / noise
        theta = middle - np.linalg.pinv(hessians.sum(0), rcond=1e-9) @ gradient
        residual = jacobian @ (theta - true) / noise - error
        gradients = np.einsum("wmi,wm->wi", jacobian, residual) / noise
        found = covariance(
            ReducedSystem(hessians.sum(0), gradients.sum(0), hessians, gradients),
            np.ones(3), np.ones(3, dtype=bool), method="clustered", n_samples=windows * rows,
            residual_square=float(windows * rows),
        )  # fmt: skip
        assert np.isnan(found.errors[:2]).all()
        assert found.errors[2] > 0.01  # the noise alone leaves a tenth of that
        covered.append(abs(theta[2] - true[2]) <= 1.96 * found.errors[2])
    assert np.mean(covered) >= 0.92


def test_information_below_none_is_no_information() -> None:
    """Slopes of a chaotic simulation are so large that rounding makes squares negative."""
    hessians = np.stack([np.diag([100.0, -1e6])] * 10)
    system = ReducedSystem(hessians.sum(0), np.zeros(2), hessians, np.zeros((10, 2)))
    found = covariance(
        system, np.ones(2), np.ones(2, dtype=bool), method="clustered", n_samples=100,
        residual_square=100.0,
    )  # fmt: skip
    assert found.method == UNRESOLVED
    assert np.isnan(found.errors).all()


def test_a_rounding_error_below_zero_leaves_the_others_alone() -> None:
    """What the windows' starts can make up for comes out as zero or a little less."""
    hessians = np.stack([np.diag([100.0, -1e-13])] * 10)
    gradients = np.random.default_rng(1).normal(size=(10, 2)) * [10.0, 0.0]
    system = ReducedSystem(hessians.sum(0), np.zeros(2), hessians, gradients)
    found = covariance(
        system, np.ones(2), np.ones(2, dtype=bool), method="clustered", n_samples=100,
        residual_square=100.0,
    )  # fmt: skip
    assert np.isfinite(found.errors[0])
    assert np.isnan(found.errors[1])
