# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Factors, signs and exchanges of two forces that turn and push a body, from a linear model of it.

The body is pushed by their sum and turned by their difference, over its mass. Most of what is left
of both is noise.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Change, FindingKind
from sysid_ros.diagnosis.fits import WindowScores, gain_of
from sysid_ros.diagnosis.fits.signal_powers import lasting_shares, parted_squares
from sysid_ros.diagnosis.fits.window_grams import left_with_all, sums_of
from sysid_ros.diagnosis.simulated.mistaken_forces import MovingForces
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.parameters import Parameter
from sysid_ros.engine.windows import WindowGroup

WINDOWS, SAMPLES = 12, 200
LABELS = ("left", "right")
NAMES = ("factor of left", "factor of right", "mass")
NOISE = 0.5  # of what one force does


def inputs() -> FloatArray:
    """What both were told, alike but for a fifth, (w, n, 2)."""
    times = np.linspace(0.0, 3.0, WINDOWS * SAMPLES)
    both, apart = np.sin(6.0 * times), np.sin(17.0 * times)
    told = np.stack([both + 0.2 * apart, 0.9 * both - 0.25 * apart], axis=1)
    return told.reshape(WINDOWS, SAMPLES, 2)


def windows_of(told: FloatArray, factors: FloatArray, *, true: FloatArray) -> WindowScores:
    """What a model leaves whose forces have some factors, of a body that was told ``true``."""
    rng, rows, left = np.random.default_rng(3), [], np.zeros(2)
    for own, was in zip(told, true, strict=True):
        effects = np.concatenate([own, own * [1.0, -1.0]])  # pushed, then turned
        wrong = effects @ factors - np.concatenate([was.sum(axis=1), was @ [1.0, -1.0]])
        rest = wrong + NOISE * rng.standard_normal(2 * SAMPLES)
        rows.append(np.column_stack([effects, -effects @ factors, rest]))
        left += [np.mean(rest[:SAMPLES] ** 2), np.mean(rest[SAMPLES:] ** 2)]
    kinds = [np.repeat([0, 1], SAMPLES)] * WINDOWS
    scale, signals = np.append(factors, 1.0), ("pushed", "turned")
    even = sums_of(rows, kinds, scale, np.ones(2))[1]
    grams = sums_of(rows, kinds, scale, 1.0 / left_with_all(even))
    residuals = [own[:, -1] for own in rows]
    lasting = lasting_shares(residuals, kinds, [np.tile(np.arange(SAMPLES), 2)] * WINDOWS)
    return WindowScores(
        NAMES, frozenset(), scale, scale, signals,
        dict(zip(signals, np.sqrt(left / WINDOWS).tolist(), strict=True)), *grams,
        Point(scale, ()), {}, True, True, cast("WindowGroup", None),
        dict(zip(signals, lasting.tolist(), strict=True)), parted_squares(residuals, kinds, 2),
    )  # fmt: skip


def forces(told: FloatArray, true: FloatArray, *, weighed: bool = False) -> MovingForces:
    """The test of a body that was told ``true`` where its file has ``told``.

    Its mass is one that a fit finds where it is ``weighed``.
    """
    ones = np.ones(2)

    def linearized(moved: Parameter, **_: object) -> WindowScores:
        at = np.where([moved.name == name for name in NAMES[:2]], moved.value[0], 1.0)
        return windows_of(told, at, true=true)

    def repaired(change: Change) -> WindowScores:
        order = [LABELS.index(change.source(label)) for label in LABELS]
        signs = [change.scale.get(label, 1.0) for label in LABELS]
        return windows_of(told[..., order] * signs, ones, true=true)

    factors = {label: gain_of(label) for label in LABELS}
    windows = windows_of(told, ones, true=true)
    columns: tuple[tuple[str, ...], tuple[str, ...]] = ((), ("mass",))
    return MovingForces(windows, factors, *columns[:: -1 if weighed else 1], linearized, repaired)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_of_two_factors_that_masses_make_each_others_reciprocal(factor: float) -> None:
    """It explains nearly all that anything does; three times what is left would be noise, too."""
    true = inputs()
    (found,) = forces(true * [1.0, 1.0 / factor], true).mistaken((), ("pushed", "turned"))
    assert found.change == Change(FindingKind.SCALE, scale={"right": found.size})
    assert found.size == pytest.approx(factor, rel=0.05)


def test_beside_a_mass_that_a_fit_finds_both_are_named() -> None:
    true = inputs()
    (found,) = forces(true * [1.0, 2.0], true, weighed=True).mistaken((), ("pushed", "turned"))
    assert {*found.change.scale, *found.alternatives[0].scale} == {*LABELS}


@pytest.mark.parametrize(
    ("order", "signs", "change"),
    [
        ([1, 0], [1.0, 1.0], Change(FindingKind.SWAP, exchange=(LABELS,))),
        ([0, 1], [1.0, -1.0], Change(FindingKind.SIGN, scale={"right": -1.0})),
    ],
)
def test_an_exchange_and_a_sign(order: list[int], signs: list[float], change: Change) -> None:
    true = inputs()
    (found,) = forces(true[..., order] * signs, true).mistaken((), ("pushed", "turned"))
    assert found.change == change


def test_nothing_is_told_of_right_forces() -> None:
    true = inputs()
    assert forces(true, true).mistaken((), ("pushed", "turned")) == []
