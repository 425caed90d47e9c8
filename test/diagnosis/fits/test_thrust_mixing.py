# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Noisy motion tells which thrust is in which place, whatever the masses."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.fits.misfit import Misfit, decisive
from sysid_ros.diagnosis.fits.thrust_mixing import Order, ThrustMixing, best_order

# Lift and three moments of four rotors at the ends of a cross, each with its drag.
PLACES = np.array(
    [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0],
     [0.2, 0.2, -0.2, -0.2], [-0.2, 0.2, 0.2, -0.2], [0.02, -0.02, 0.02, -0.02]]
)  # fmt: skip
MASSES = np.array([0.7, 0.7, 0.7, 1.8, 0.6, 1.1])  # the model's, over the true ones


def seen(arms: FloatArray, noise: float = 1.0, seed: int = 5) -> ThrustMixing:
    """The effects of thrusts that do what these say, by motion with as much noise as signal."""
    rng = np.random.default_rng(seed)
    thrusts = 3.0 + rng.standard_normal((1500, len(arms[0])))
    wanted = MASSES[:, None] * arms @ thrusts.T
    wanted += noise * np.linalg.norm(arms, axis=1)[:, None] * rng.standard_normal(wanted.shape)
    rates = rng.standard_normal(thrusts.shape)
    block = np.repeat(np.arange(20), 75)
    found = ThrustMixing.of(thrusts, rates, wanted.T, block)
    assert found is not None
    return found


def found(order: Order) -> tuple[Order, Misfit, Misfit]:
    """What is made of thrusts that do what this order says, and what is left before and after."""
    mixing = seen(order.arms(PLACES))
    best, after = best_order(mixing, PLACES)
    return best, mixing.misfit(PLACES), after


NAMED = Order.as_named(4)


@pytest.mark.parametrize(
    ("thrusts", "factors"),
    [((1, 0, 2, 3), (1, 1, 1, 1)), ((0, 3, 2, 1), (1, 1, 1, 1)), ((1, 2, 0, 3), (1, 1, 1, 1)),
     ((0, 1, 2, 3), (1, 1, -1, 1)), ((1, 0, 2, 3), (1, -1, 1, 1))],
)  # fmt: skip
def test_exchanged_and_reversed_thrusts_are_put_in_order(
    thrusts: tuple[int, ...], factors: tuple[float, ...]
) -> None:
    planted = Order(np.array(thrusts), np.array(factors, dtype=np.float64))
    best, before, after = found(planted)
    np.testing.assert_allclose(best.arms(PLACES), planted.arms(PLACES))
    assert decisive(after, before)
    order = np.arange(4)
    for pair in best.exchanges:
        order[[*pair]] = order[[*pair[::-1]]]
    np.testing.assert_array_equal(order, best.thrusts)


def test_places_that_were_exchanged_back_are_in_order() -> None:
    """As a search may do that reverses two of six by way of an exchange."""
    there = next(one for one in NAMED.moves() if one.exchanges == ((0, 1),))
    (back,) = (one for one in there.moves() if not one.exchanges and min(one.factors) > 0.0)
    np.testing.assert_array_equal(back.thrusts, NAMED.thrusts)


@pytest.mark.parametrize("factor", [0.4, 2.5])
def test_the_factor_of_one_thrust_is_found(factor: float) -> None:
    best, before, after = found(NAMED.times(factor, 2))
    assert best.factors == pytest.approx([1.0, 1.0, factor, 1.0], rel=0.1)
    assert not best.exchanges
    assert decisive(after, before)


def test_nothing_is_said_of_thrusts_in_their_places() -> None:
    best, before, after = found(NAMED)
    assert not best.exchanges
    assert before.share < 0.1
    assert not decisive(after, before)


def test_only_forces_and_torques_that_thrusts_explain_are_compared() -> None:
    assert seen(PLACES).rows.tolist() == [2, 3, 4, 5]
    rng = np.random.default_rng(0)
    thrusts, rates, wanted = rng.standard_normal((3, 1500, 6))
    assert ThrustMixing.of(thrusts, rates, wanted, np.repeat(np.arange(20), 75)) is None
