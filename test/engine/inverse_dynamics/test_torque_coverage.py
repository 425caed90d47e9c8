# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Intervals hold the truth as often as they say, at any rate and with any encoder."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from simulated_arms import coloured, measured, simulate, three_joint_xml

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import (
    InverseDynamicsFit,
    Motion,
    Recording,
    Regressor,
    Settings,
    fit_inverse_dynamics,
)

pytest.importorskip("clarabel", reason="the convex solver is not installed")

OFFSETS = {"a": 0.3, "b": -0.2, "c": 0.4}  # N m


def nominal() -> mujoco.MjModel:
    """The arm as a data sheet has it: heavier, without friction and armature."""
    spec = mujoco.MjSpec.from_string(three_joint_xml())
    for joint in spec.joints:
        joint.armature = joint.frictionloss = 0.0
        joint.damping = np.zeros(3)
    for body in spec.bodies[1:]:
        body.mass *= 1.2
        body.fullinertia = 1.2 * np.array(body.fullinertia)
    return spec.compile()


def moved(rng: np.random.Generator, times: FloatArray) -> Motion:
    """A random sum of sines with its exact derivatives: a truth of infinitely fine steps."""
    parts = [np.zeros((len(times), 3)) for _ in range(3)]
    for k in range(1, 6):
        omega = 2.0 * np.pi * 0.15 * k
        size, phase = 0.4 * rng.normal(size=3), rng.uniform(0.0, 2.0 * np.pi, 3)
        angle = omega * times[:, None] + phase
        parts[0] += size * np.sin(angle)
        parts[1] += size * omega * np.cos(angle)
        parts[2] -= size * omega**2 * np.sin(angle)
    return Motion(*parts)


def fitted(
    truth: Regressor,
    rate: float,
    bits: int,
    seed: int,
    *,
    delay: float | None = None,
    held: int = 1,
) -> tuple[InverseDynamicsFit, FloatArray]:
    """A fit to 20 s of encoders of so many bits and coloured torque noise; true base parameters.

    Torque that is ``delay`` late and held for some samples has its delay estimated.
    """
    rng, times = np.random.default_rng(seed), np.arange(0.0, 20.0, 1.0 / rate)
    theta = truth.columns.nominal.copy()
    theta[truth.columns.indices([f"{name}.offset" for name in OFFSETS])] = list(OFFSETS.values())
    motion = moved(rng, times)
    late = moved(np.random.default_rng(seed), times - (delay or 0.0))
    torque = truth.rows(late) @ theta + coloured(rng, (len(times), 3), rate, 0.1, 0.05)
    torque = torque[np.arange(len(times)) // held * held]
    quantum = 2.0 * np.pi / 2**bits
    noisy = motion.qpos + 0.3 * quantum * rng.standard_normal(motion.qpos.shape)
    fit = fit_inverse_dynamics(
        nominal(),
        [Recording(times, quantum * np.round(noisy / quantum), torque)],
        settings=Settings(torque_delay=delay is not None),
    )
    true = dict(zip(truth.columns.names, theta, strict=True)) | {"torque_delay": delay or 0.0}
    if delay is not None:  # what is held is late by half the time that it is held, on average
        true["torque_delay"] = delay + 0.5 * (held - 1) / rate
    return fit, fit.base.combination @ np.array([true[name] for name in fit.free.names])


def scores(
    rate: float, bits: int, runs: int, *, delay: float | None = None, held: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Of every base parameter in every run: deviation over standard error, and over half width."""
    truth = Regressor(mujoco.MjModel.from_xml_string(three_joint_xml()), sharp_friction=True)
    deviations, shares = [], []
    for seed in range(runs):
        fit, true = fitted(truth, rate, bits, seed, delay=delay, held=held)
        off = fit.base.values - true
        deviations.append(off / fit.base.uncertainty.standard_errors)
        shares.append(off / fit.base.uncertainty.half_widths())
    return np.array(deviations), np.array(shares)


def test_intervals_hold_the_truth_at_a_hundred_hertz() -> None:
    deviations, shares = scores(100.0, 12, 8)
    assert deviations.size == 200
    assert np.mean(np.abs(shares) <= 1.0) > 0.88
    assert 0.6 < deviations.std() < 1.4


@pytest.mark.parametrize(("delay", "held"), [(-0.005, 1), (0.01, 1), (0.0, 2)])
def test_torque_that_is_late_or_held_has_its_delay_found(delay: float, held: int) -> None:
    truth = Regressor(mujoco.MjModel.from_xml_string(three_joint_xml()), sharp_friction=True)
    fit, true = fitted(truth, 250.0, 20, 3, delay=delay, held=held)
    place, late = fit.free.names.index("torque_delay"), delay + 0.5 * (held - 1) / 250.0
    low, high = fit.intervals()[place]
    assert low <= late <= high
    assert high - low < 0.008
    shares = (fit.base.values - true) / fit.base.uncertainty.half_widths()
    assert np.mean(np.abs(shares) <= 1.0) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("delay", [-0.005, 0.003, 0.01])
@pytest.mark.parametrize(("rate", "bits", "held"), [(100.0, 17, 1), (1000.0, 20, 5)])
def test_coverage_with_a_delay_of_torque(delay: float, rate: float, bits: int, held: int) -> None:
    # The intervals of one run are right or wrong together, so that few runs show little.
    _, shares = scores(rate, bits, 40, delay=delay, held=held)
    assert shares.size > 800
    assert 0.92 <= np.mean(np.abs(shares) <= 1.0) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "bits"), [(100.0, 12), (500.0, 20), (5000.0, 17)])
def test_coverage_and_bias_of_a_thousand_intervals(rate: float, bits: int) -> None:
    deviations, shares = scores(rate, bits, 40)
    assert deviations.size == 1000
    assert 0.92 <= np.mean(np.abs(shares) <= 1.0) <= 0.98
    mean, own = deviations.mean(axis=0), deviations.std(axis=0) / np.sqrt(len(deviations))
    assert (np.abs(mean) - own).max() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "bits", "noise"), [(100.0, 12, 0.1), (500.0, 20, 0.01)])
def test_coverage_and_bias_beside_a_simulated_truth(rate: float, bits: int, noise: float) -> None:
    model = mujoco.MjModel.from_xml_string(three_joint_xml())
    columns, quantum = Regressor(model, sharp_friction=True).columns, 2.0 * np.pi / 2**bits
    true = dict(zip(columns.names, columns.nominal, strict=True))
    true |= {f"{name}.offset": offset for name, offset in OFFSETS.items()}
    deviations, shares = [], []
    for seed in range(30):
        times, qpos, torque = measured(
            simulate(model, 20.0, seed), rate, np.random.default_rng(1000 + seed),
            noise=0.3 * quantum, quantum=quantum, torque_noise=noise,
        )  # fmt: skip
        recording = Recording(times, qpos, torque + np.array(list(OFFSETS.values())))
        fit = fit_inverse_dynamics(nominal(), [recording])
        off = fit.base.values - fit.base.combination @ [true[name] for name in fit.free.names]
        deviations.append(off / fit.base.uncertainty.standard_errors)
        shares.append(off / fit.base.uncertainty.half_widths())
    assert np.size(shares) == 750
    assert 0.92 <= np.mean(np.abs(shares) <= 1.0) <= 0.98
    mean, own = np.mean(deviations, axis=0), np.std(deviations, axis=0) / np.sqrt(len(deviations))
    assert (np.abs(mean) - own).max() < 0.5


def loud_pair(truth: Regressor, seed: int, size: float) -> list[InverseDynamicsFit]:
    """Fits to 20 s at 500 Hz with loud noise of positions and with its negative."""
    rng, times = np.random.default_rng(seed), np.arange(0.0, 20.0, 0.002)
    motion = moved(rng, times)
    noise = size * rng.standard_normal(motion.qpos.shape)
    torque = truth.rows(motion) @ truth.columns.nominal
    torque += coloured(rng, torque.shape, 500.0, 1.0, 0.02) * [0.015, 0.03, 0.006]
    return [
        fit_inverse_dynamics(nominal(), [Recording(times, motion.qpos + sign * noise, torque)])
        for sign in (1.0, -1.0)
    ]


def loud_scores(truth: Regressor, seeds: range, size: float) -> tuple[FloatArray, FloatArray]:
    """Of base parameters: the mean deviation of pairs over standard error, and over half width."""
    true = dict(zip(truth.columns.names, truth.columns.nominal, strict=True))
    means, shares = [], []
    for seed in seeds:
        fits = loud_pair(truth, seed, size)
        off = [f.base.values - f.base.combination @ [true[n] for n in f.free.names] for f in fits]
        means.append(0.5 * (off[0] + off[1]) / fits[0].base.uncertainty.standard_errors)
        shares += [d / f.base.uncertainty.half_widths() for d, f in zip(off, fits, strict=True)]
    return np.array(means), np.array(shares)


def test_noise_of_loud_positions_biases_nothing_by_half_a_standard_error() -> None:
    # What is linear in the noise cancels in a pair: left is what it does to R^T R.
    truth = Regressor(mujoco.MjModel.from_xml_string(three_joint_xml()), sharp_friction=True)
    means, shares = loud_scores(truth, range(8), 5e-3)
    own = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    assert (np.abs(means.mean(axis=0)) - own).max() < 0.5
    assert np.mean(np.abs(shares) <= 1.0) > 0.85
