# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Intervals hold the truth as often as they say, at any rate and with any encoder."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from simulated_arms import coloured, three_joint_xml

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import (
    InverseDynamicsFit,
    Motion,
    Recording,
    Regressor,
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
    truth: Regressor, rate: float, bits: int, seed: int
) -> tuple[InverseDynamicsFit, FloatArray]:
    """A fit to 20 s of encoders of so many bits and coloured torque noise; true base parameters."""
    rng, times = np.random.default_rng(seed), np.arange(0.0, 20.0, 1.0 / rate)
    theta = truth.columns.nominal.copy()
    theta[truth.columns.indices([f"{name}.offset" for name in OFFSETS])] = list(OFFSETS.values())
    motion = moved(rng, times)
    torque = truth.rows(motion) @ theta + coloured(rng, (len(times), 3), rate, 0.1, 0.05)
    quantum = 2.0 * np.pi / 2**bits
    noisy = motion.qpos + 0.3 * quantum * rng.standard_normal(motion.qpos.shape)
    fit = fit_inverse_dynamics(
        nominal(), [Recording(times, quantum * np.round(noisy / quantum), torque)]
    )
    return fit, fit.base.combination @ theta[truth.columns.indices(fit.free.names)]


def scores(rate: float, bits: int, runs: int) -> tuple[FloatArray, FloatArray]:
    """Of every base parameter in every run: deviation over standard error, and over half width."""
    truth = Regressor(mujoco.MjModel.from_xml_string(three_joint_xml()), sharp_friction=True)
    deviations, shares = [], []
    for seed in range(runs):
        fit, true = fitted(truth, rate, bits, seed)
        off = fit.base.values - true
        deviations.append(off / fit.base.uncertainty.standard_errors)
        shares.append(off / fit.base.uncertainty.half_widths())
    return np.array(deviations), np.array(shares)


def test_intervals_hold_the_truth_at_a_hundred_hertz() -> None:
    deviations, shares = scores(100.0, 12, 8)
    assert deviations.size == 200
    assert np.mean(np.abs(shares) <= 1.0) > 0.88
    assert 0.6 < deviations.std() < 1.4


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "bits"), [(100.0, 12), (500.0, 20), (5000.0, 17)])
def test_coverage_and_bias_of_a_thousand_intervals(rate: float, bits: int) -> None:
    deviations, shares = scores(rate, bits, 40)
    assert deviations.size == 1000
    assert 0.92 <= np.mean(np.abs(shares) <= 1.0) <= 0.98
    assert np.abs(deviations.mean(axis=0)).max() < 0.5
