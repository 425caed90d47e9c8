# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The effect of each thrust on a free body, as its motion has it and as the model has it.

Turns and drifts of what flies are small beside the noise of their derivatives, so that torques
explained by motion leave mostly noise. The other way round noise averages out: regressed on all
thrusts, the motion says what each does to each of the six forces and torques on the body. The
model's masses only scale these six.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.diagnosis.fits.misfit import Misfit

_CLEAR = 30.0  # power of what thrusts do, over that of its error, from which it is compared
_SMALL = 1e-6  # of the largest effect of a thrust, that is none
_WORTH = 0.9  # of the power left without a move, that one leaves at the most
_CORRELATED = 4.0  # samples, of filtered motion, that say as much as one


@dataclass(frozen=True)
class ThrustMixing:
    """Effects of l thrusts on k forces and torques that they explain clearly."""

    rows: IndexArray  # their places among the six, (k,)
    effects: FloatArray  # by stretch of time, all of it first, (b + 1, k, l), as motion has them
    grams: FloatArray  # likewise the mean products of thrusts, (b + 1, l, l)

    @classmethod
    def of(
        cls, thrusts: FloatArray, rates: FloatArray, wanted: FloatArray, block: IndexArray
    ) -> ThrustMixing | None:
        """Read effects off a motion; ``None`` where thrusts explain none of it clearly.

        Args:
          thrusts: (n, l).
          rates: Their derivatives, (n, l): what is late by little has a part of these.
          wanted: Force and torque that the motion takes by the model's masses, in the body's axes,
            (n, 6).
          block: (n,) the stretch of time of each row.
        """
        basis = np.linalg.qr(rates)[0]
        inputs, outputs = (one - basis @ (basis.T @ one) for one in (thrusts, wanted))
        parts = [np.ones(len(block), dtype=np.bool_), *(block == one for one in np.unique(block))]
        effects = np.stack([np.linalg.lstsq(inputs[p], outputs[p], rcond=1e-6)[0].T for p in parts])
        grams = np.stack([inputs[part].T @ inputs[part] / np.count_nonzero(part) for part in parts])
        power = np.einsum("ri,ij,rj->r", effects[0], grams[0], effects[0])
        noise = np.mean((outputs - inputs @ effects[0].T) ** 2, axis=0)
        unsure = noise * thrusts.shape[1] * _CORRELATED / len(block)
        rows = np.flatnonzero(power > _CLEAR * unsure)
        return cls(rows, effects[:, rows], grams) if len(rows) else None

    def misfit(self, arms: FloatArray) -> Misfit:
        """The share of the effects that a model with these, (6, l), has not, of any masses."""
        model = arms[self.rows]
        model = np.where(np.abs(model) > _SMALL * np.abs(arms).max(axis=0), model, 0.0)
        whole = np.einsum("ri,ij,rj->r", self.effects[0], self.grams[0], self.effects[0])
        mixed = np.einsum("ri,ij,rj->r", model, self.grams[0], self.effects[0])
        own = np.einsum("ri,ij,rj->r", model, self.grams[0], model)
        scale = np.maximum(mixed, 0.0) / np.maximum(own, 1e-300)
        apart = self.effects - scale[:, None] * model
        left = np.einsum("bri,bij,brj->br", apart, self.grams, apart) / whole
        left = left[:, own > 0.0] if np.any(own > 0.0) else np.ones((len(left), 1))
        return Misfit(float(np.sqrt(left[0].mean())), left[1:].mean(axis=1))


@dataclass(frozen=True)
class Order:
    """Thrusts in places: by place the thrust that belongs there, and its factor, (l,) each."""

    thrusts: IndexArray
    factors: FloatArray

    @classmethod
    def as_named(cls, count: int) -> Order:
        """Every thrust in the place of its name."""
        return cls(np.arange(count), np.ones(count))

    @property
    def exchanges(self) -> tuple[tuple[int, int], ...]:
        """The pairs of places that are exchanged for it, one after the other, and no more."""
        order, found = [*range(len(self.thrusts))], []
        for place, thrust in enumerate(self.thrusts.tolist()):
            if order[place] != thrust:
                other = order.index(thrust)
                order[place], order[other] = thrust, order[place]
                found.append((place, other))
        return tuple(found)

    def arms(self, places: FloatArray) -> FloatArray:
        """The effect of each thrust, of those of places, (6, l)."""
        found = np.empty_like(places)
        found[:, self.thrusts] = places * self.factors
        return found

    def times(self, factor: float, *places: int) -> Order:
        """The same with another factor at some places."""
        own = np.isin(np.arange(len(self.factors)), places)
        return replace(self, factors=np.where(own, factor * self.factors, self.factors))

    def moves(self) -> Iterator[Order]:
        """The same with one sign reversed, or with two exchanged, of either sign."""
        count = len(self.factors)
        for one in range(count):
            yield self.times(-1.0, one)
        for pair in itertools.combinations(range(count), 2):
            order = np.arange(count)
            order[[*pair]] = pair[::-1]
            after = Order(self.thrusts[order], self.factors[order])
            yield from (after.times(-1.0, *own) for own in ((), pair[:1], pair[1:], pair))


def best_order(mixing: ThrustMixing, places: FloatArray) -> tuple[Order, Misfit]:
    """The exchanges and signs, or the one factor, that explain the effects of thrusts best.

    Args:
      mixing: The effects.
      places: What one unit at each place does, (6, l).

    Returns:
      The order, that of the names if there is none much better, and what it leaves.
    """
    named = order = Order.as_named(places.shape[1])
    left = mixing.misfit(places)

    def least(orders: Iterable[Order]) -> tuple[Order, Misfit]:
        tried = ((one, mixing.misfit(one.arms(places))) for one in orders)
        return min(tried, key=lambda one: one[1].share)

    for _ in range(places.shape[1]):
        best, after = least(order.moves())
        if after.ratio(left) > _WORTH:
            break
        order, left = best, after
    scaled, after = least(_scaled(mixing, places, named, one) for one in named.thrusts.tolist())
    return (order, left) if left.share <= after.share else (scaled, after)


def _scaled(mixing: ThrustMixing, places: FloatArray, named: Order, one: int) -> Order:
    """The names with the best factor of one thrust, from a tenth to ten."""
    best = scipy.optimize.minimize_scalar(
        lambda power: mixing.misfit(named.times(10.0**power, one).arms(places)).share,
        bounds=(-1.0, 1.0), method="bounded", options={"xatol": 1e-3},
    )  # fmt: skip
    return named.times(10.0 ** float(best.x), one)
