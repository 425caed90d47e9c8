# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Torque of drives that hold their set points, sampled somewhere within each: intervals know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np
import pytest
from simulated_arms import three_joint_xml

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import (
    InverseDynamicsFit,
    Motion,
    Recording,
    Regressor,
    Settings,
    fit_inverse_dynamics,
)
from sysid_ros.errors import ExperimentError

pytest.importorskip("clarabel", reason="the convex solver is not installed")

JOINTS = ("a", "b", "c")
RATE = 500.0  # Hz of torque
STIFFNESS, DAMPING = np.array([150.0, 120.0, 60.0]), np.array([8.0, 6.0, 3.0])
FASTER = 2


def moved(times: FloatArray, seed: int) -> Motion:
    """A random sum of sines with its exact derivatives."""
    rng, parts = np.random.default_rng(seed), np.zeros((3, len(times), 3))
    for k in range(1, 6):
        omega = 2.0 * np.pi * 0.15 * k
        size, angle = 0.4 * rng.normal(size=3), omega * times[:, None] + rng.uniform(0.0, 6.3, 3)
        parts += size * np.stack(
            [np.sin(angle), omega * np.cos(angle), -(omega**2) * np.sin(angle)]
        )
    return Motion(*parts)


def fitted(
    held: int,
    seed: int,
    *,
    drives_given: Sequence[Mapping[str, float]] = ({}, {}),
    drives: bool = True,
    late: int = 0,
    noise: float = 0.02,
    gain: float = 1.0,
    spread: float | None = None,
) -> InverseDynamicsFit:
    """A fit to torque that is sampled ``late`` half samples behind each of ``held`` of them.

    Without ``drives`` the torque itself is held, as a controller asks for it. The first joint's is
    told times a gain, which is estimated where it has a ``spread``.
    """
    model = mujoco.MjModel.from_xml_string(three_joint_xml())
    truth = Regressor(model, sharp_friction=True)
    fine = np.arange(0.0, 12.0, 1.0 / (RATE * FASTER))
    motion = moved(fine, seed)
    wanted = truth.rows(motion) @ truth.columns.nominal
    begin = np.arange(len(fine)) // (held * FASTER) * (held * FASTER)
    torque = wanted[begin]
    if drives:  # that are ahead of the joints by what the motion takes, on average
        fall = (motion.qpos - motion.qpos[begin]) * STIFFNESS
        fall += (motion.qvel - motion.qvel[begin]) * DAMPING
        span = held / RATE
        torque = wanted - fall + 0.5 * span * (motion.qvel * STIFFNESS + motion.qacc * DAMPING)
    rng, at = np.random.default_rng(seed), np.arange(late, len(fine), FASTER)
    measured = torque[at] + noise * rng.standard_normal((len(at), 3))
    qpos = motion.qpos[at] + 1e-5 * rng.standard_normal((len(at), 3))
    recording = Recording(fine[at], qpos, measured * [gain, 1.0, 1.0])
    gains = {} if spread is None else {"a": spread}
    settings = Settings(
        torque_delay=True,
        gains=gains,
        drive_stiffness=drives_given[0],
        drive_damping=drives_given[1],
    )
    return fit_inverse_dynamics(model, [recording], settings=settings)


@pytest.mark.parametrize(("held", "late"), [(5, 0), (5, 1), (4, 0), (25, 1), (2, 0), (2, 1)])
def test_dampings_know_of_what_falls_while_set_points_are_held(held: int, late: int) -> None:
    fit = fitted(held, 1, late=late)
    assert fit.held is not None
    assert fit.held.stiffness == pytest.approx(STIFFNESS, rel=0.3)
    assert np.all(fit.held.damping < 1.5 * DAMPING)
    assert fit.held.interval == pytest.approx(1.0 / RATE)
    intervals = dict(zip(fit.free.names, fit.intervals(), strict=True))
    bent = fit.held.looks_like(mujoco.MjModel.from_xml_string(three_joint_xml()), fit.free.columns)
    for name, gain in zip(JOINTS, STIFFNESS, strict=True):
        place = fit.free.columns.names.index(f"{name}.damping")
        assert bent[place] == pytest.approx(0.5 * gain / RATE, rel=0.3)
        low, high = intervals[f"{name}.damping"]
        assert low <= 0.5 <= high
        assert high - low < 4.0 * bent[place]


@pytest.mark.parametrize(
    ("held", "drives", "noise"),
    [(1, True, 0.02), (1, False, 0.1), (5, False, 0.02), (2, False, 0.02)],
)
def test_torque_that_goes_smoothly_or_is_itself_held_has_none(
    held: int, drives: bool, noise: float
) -> None:
    fit = fitted(held, 2, drives=drives, noise=noise)
    if fit.held is None:
        return
    change = fit.held.looks_like(
        mujoco.MjModel.from_xml_string(three_joint_xml()), fit.free.columns
    )
    assert np.abs(change).max() < 0.002  # N m s/rad, which is nothing


@pytest.mark.parametrize("late", [0, 1])
def test_drives_once_sampled_are_known_by_their_given_gains(late: int) -> None:
    given = [dict(zip(JOINTS, gains.tolist(), strict=True)) for gains in (STIFFNESS, DAMPING)]
    plain, told = fitted(1, 3, late=late), fitted(1, 3, late=late, drives_given=given)
    assert told.held is not None
    assert told.held.stiffness == pytest.approx(STIFFNESS)
    places = [told.free.columns.names.index(f"{name}.damping") for name in JOINTS]
    widths = np.ptp(told.intervals()[places], axis=1)
    low, high = told.intervals()[places].T
    assert np.all((low <= 0.5) & (high >= 0.5))
    assert np.all(widths > np.ptp(plain.intervals()[places], axis=1))
    assert np.all(widths < 2.5 * STIFFNESS / RATE)


def test_a_drive_of_no_joint_is_refused_by_name() -> None:
    with pytest.raises(ExperimentError, match="'elbow'"):
        fitted(1, 3, drives_given=({"elbow": 100.0}, {}))


def test_a_gain_that_is_known_well_leaves_intervals_as_they_are() -> None:
    plain, scaled = fitted(5, 1, late=1), fitted(5, 1, late=1, spread=0.01)
    place = plain.free.names.index("a.damping")
    assert np.ptp(scaled.intervals()[place]) == pytest.approx(
        np.ptp(plain.intervals()[place]), rel=0.1
    )
    assert scaled.gains["a"][1] < 0.01


def test_gains_of_drives_are_those_of_torque_whatever_its_unit() -> None:
    fit = fitted(5, 1, late=1, gain=100.0, spread=100.0)
    assert fit.held is not None
    assert fit.held.stiffness == pytest.approx(STIFFNESS, rel=0.3)
