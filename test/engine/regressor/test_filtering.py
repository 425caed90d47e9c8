# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Filters have no delay, exact derivatives, and know where they end."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import scipy

from sysid_ros.engine.inverse_dynamics import Recording, Regressor
from sysid_ros.engine.regressor.cutoff import choose_cutoff
from sysid_ros.engine.regressor.filtering import Filters, choose_filters, smooth
from sysid_ros.engine.regressor.gram import BlockedRows, sum_grams
from sysid_ros.engine.regressor.smoothing_kernel import smoothing_kernel
from sysid_ros.engine.regressor.torque_recording import stretches_of
from sysid_ros.errors import DataError

ARM = """
<mujoco><worldbody><body><joint name="a" axis="0 1 0" armature="0.1"/>
<geom size="0.05 0.2" type="capsule" pos="0.2 0 0"/>
<body pos="0.4 0 0"><joint name="b" type="{kind}"/>
<geom size="0.05 0.2" type="capsule" pos="0.2 0 0.1"/></body></body></worldbody></mujoco>
"""


def arm(kind: str = "hinge") -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(ARM.format(kind=kind))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("frequency", [0.5, 2.0, 5.0])
def test_all_derivatives_pass_the_same_frequencies(order, frequency):
    step, cutoff = 0.01, 10.0
    wave = np.exp(2j * np.pi * frequency * step * np.arange(400))
    plain, weights = smoothing_kernel(cutoff, step), smoothing_kernel(cutoff, step, order)
    middle = slice(len(plain) // 2, -(len(plain) // 2))
    passed = np.correlate(wave, plain, "valid") / wave[middle]
    found = np.correlate(wave, weights, "valid") / wave[middle]
    assert np.allclose(found, passed * (2j * np.pi * frequency) ** order, rtol=1e-4)
    assert np.allclose(passed.imag, 0.0, atol=1e-9)


def test_the_cutoff_lies_where_the_motion_meets_its_noise():
    rng, t = np.random.default_rng(0), np.arange(0.0, 40.0, 0.002)
    size = 3e-3
    motion = sum(np.sin(2 * np.pi * f * t + f) for f in np.arange(0.2, 8.0, 0.2))
    noisy = choose_cutoff([motion + size * rng.standard_normal(len(t))], 500.0)
    assert 7.5 < noisy.motion_end < 13.0
    assert noisy.noise(500.0) == pytest.approx(size, rel=0.1)
    assert noisy.speed_end < noisy.motion_end < noisy.frequency


def test_stamps_of_another_clock_do_not_make_motion_of_noise():
    """A reader's own loop stamps what a robot sends every millisecond: held, repeated, skipped."""
    rng, t = np.random.default_rng(0), np.arange(0.0, 20.0, 0.001)
    t = t + 0.0001 * rng.standard_normal(len(t))
    late = 0.0003 * (1.0 + np.sin(40.0 * t)) + 0.0003 * rng.standard_normal(len(t))
    held = np.floor((t - late) / 0.001) * 0.001
    motion = sum(np.sin(2 * np.pi * f * held + f) / f for f in (0.1, 0.2, 0.4))
    found = choose_cutoff([scipy.ndimage.gaussian_filter1d(motion, 1.5)], 1000.0)
    assert found.frequency < 20.0  # with the floor of the highest frequencies alone 80 Hz and more
    assert found.speed_end < 2.0
    assert not found.white


@pytest.mark.parametrize("seconds", [5.0, 8.0, 100.0])  # one to fifty segments
def test_the_size_of_noise_is_found_from_few_segments_and_many(seconds):
    rng, t = np.random.default_rng(0), np.arange(0.0, seconds, 0.002)
    found = choose_cutoff([np.sin(2 * np.pi * 0.5 * t) + 1e-3 * rng.standard_normal(len(t))], 500.0)
    assert found.noise(500.0) == pytest.approx(1e-3, rel=0.08)  # the median says 0.84 of it at 5 s


def test_loud_noise_of_positions_takes_no_motion_that_torque_keeps():
    rng, t = np.random.default_rng(0), np.arange(0.0, 20.0, 0.002)
    motion = np.stack([np.sin(2 * np.pi * f * t) for f in (0.5, 0.8)], axis=1)
    loud = motion + 5e-3 * rng.standard_normal(motion.shape)
    filters = choose_filters(arm(), stretches_of(arm(), Recording(t, loud, np.ones_like(loud)), 0))
    assert filters.motion.min() >= 3.0 * filters.rows


def test_a_few_lost_packets_are_no_gap():
    model, t = arm(), np.arange(0.0, 10.0, 0.001)
    t = np.delete(t, slice(4000, 4008))
    q = np.column_stack([np.sin(t), np.cos(2 * t)])
    (only,) = stretches_of(model, Recording(t, q, np.zeros_like(q)))
    grid = only.start + only.step * np.arange(len(only.qpos))
    assert np.abs(only.qpos[:, 0] - np.sin(grid)).max() < 1e-6


def test_a_gap_is_never_bridged():
    model, t = arm(), np.arange(0.0, 20.0, 0.01)
    t = t[(t < 7.0) | (t > 9.0)]
    q = np.column_stack([np.sin(t), np.cos(2 * t)])
    q[t > 8.0] += 1.0  # a jump that filtering across the gap would smear
    recording = Recording(t, q, np.zeros_like(q))
    parts = stretches_of(model, recording)
    assert [len(part.qpos) for part in parts] == [700, 1099]
    filters = Filters(np.array([4.0, 4.0]), 2.0, {})
    for part in parts:
        found = smooth(model, part, filters)
        clock = part.start + 0.5 + found.inner * np.arange(len(found.motion.qvel))
        assert np.allclose(found.motion.qvel[:, 0], np.cos(clock), atol=1e-3)
        assert np.allclose(found.motion.qacc[:, 0], -np.sin(clock), atol=1e-3)


def test_stamps_that_stray_are_resampled():
    rng, model = np.random.default_rng(0), arm()
    t = np.arange(0.0, 20.0, 0.01) + rng.uniform(-0.004, 0.004, 2000)
    q = np.column_stack([np.sin(t), np.cos(2 * t)])
    (part,) = stretches_of(model, Recording(t, q, 2.0 * q))
    clock = part.start + part.step * np.arange(len(part.qpos))
    assert np.abs(part.qpos[:, 0] - np.sin(clock)).max() < 1e-6
    assert np.abs(part.torque[:, 0] - 2.0 * np.sin(clock)).max() < 1e-3


def test_no_interpolation_meets_a_quaternion_that_becomes_its_negative():
    rng, model = np.random.default_rng(0), arm("ball")
    t = np.arange(0.0, 8.0, 0.01) + rng.uniform(-0.004, 0.004, 800)
    q = np.column_stack([0.0 * t, np.cos(t), 0.0 * t, 0.0 * t, np.sin(t)])  # turns about z
    q[:, 1:] *= np.where(q[:, 1:2] < 0.0, -1.0, 1.0)  # as many programs give them
    (part,) = stretches_of(model, Recording(t, q, np.zeros((len(t), 4))))
    clock = part.start + part.step * np.arange(len(part.qpos))
    assert np.abs(part.qpos[:, 1] - np.cos(clock)).max() < 1e-6
    assert np.abs(part.qpos[:, 4] - np.sin(clock)).max() < 1e-6


def test_a_ball_joint_gets_its_angular_velocity_and_acceleration():
    model, t = arm("ball"), np.arange(0.0, 12.0, 0.002)
    speed, surge = np.empty((len(t), 3)), np.empty((len(t), 3))
    q = np.zeros((len(t), 5))
    q[:, 0] = 0.3 * np.sin(t)
    turn = np.array([1.0, 0.0, 0.0, 0.0])
    for i, now in enumerate(t):
        q[i, 1:] = turn * (-1.0) ** (i // 500)  # a quaternion and its negative are one rotation
        speed[i] = [np.sin(now), 0.5 * np.cos(2 * now), 0.3]
        surge[i] = [np.cos(now), -np.sin(2 * now), 0.0]
        middle = np.array([np.sin(now + 0.001), 0.5 * np.cos(2 * now + 0.002), 0.3])
        mujoco.mju_quatIntegrate(turn, middle, 0.002)
    (part,) = stretches_of(model, Recording(t, q, np.zeros((len(t), 4))))
    found = smooth(model, part, Filters(np.full(5, 20.0), 5.0, {}))
    every = round(found.inner / 0.002)
    kept = slice(50, 50 + every * len(found.motion.qvel), every)
    assert np.abs(found.motion.qvel[:, 1:] - speed[kept]).max() < 2e-3
    assert np.abs(found.motion.qacc[:, 1:] - surge[kept]).max() < 2e-2
    assert np.allclose(np.linalg.norm(found.motion.qpos[:, 1:], axis=1), 1.0)


def test_unknown_torque_masks_the_rows_that_it_reaches():
    model, t = arm(), np.arange(0.0, 20.0, 0.002)
    q = np.column_stack([np.sin(t), np.cos(1.7 * t)])
    torque = np.ones_like(q)
    torque[(t > 9.0) & (t < 10.0), 1] = np.nan
    parts = stretches_of(model, Recording(t, q, torque))
    filters = Filters(np.full(2, 16.0), 4.0, {})
    found = smooth(model, parts[0], filters)
    lost = ~np.isfinite(found.torque)
    assert not np.any(lost[:, 0])
    masked = found.times[lost[:, 1]]
    assert masked.min() == pytest.approx(8.5, abs=0.1)
    assert masked.max() == pytest.approx(10.5, abs=0.1)
    grams = sum_grams(
        Regressor(model), BlockedRows([found], filters, [np.zeros(len(found.times), int)], 1)
    )
    assert grams.counts[0, 0] - grams.counts[0, 1] == lost[:, 1].sum()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qpos": np.zeros((100, 3))}, "shape"),
        ({"times": np.zeros(100)}, "increase"),
        ({"qpos": np.full((100, 2), np.nan)}, "finite"),
    ],
)
def test_recordings_that_contradict_the_model_are_refused(change, message):
    signals = {"times": np.arange(100.0), "qpos": np.zeros((100, 2)), "torque": np.zeros((100, 2))}
    with pytest.raises(DataError, match=message):
        stretches_of(arm(), Recording(**(signals | change)))
