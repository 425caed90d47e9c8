# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction and damping as rivals of factors and lags, which look like them."""

from __future__ import annotations

import math
from functools import partial
from typing import Protocol

import scipy

from sysid_ros.diagnosis.fits.misfit import Misfit, decisive

_ATTRIBUTES = ("frictionloss", "damping")
_SHARES = (0.1, 0.3)  # of servos' usual efforts, that these may take in truth
_AROUND = 3.0  # ratio of either end of the shares about the better of these
_STEPS = 6  # simulations that find the best


class Left(Protocol):
    """The remainder of joints that are harder to move, with a repair or without it."""

    def __call__(self, attribute: str, share: float, *, repaired: bool) -> Misfit:
        """Simulate them with an attribute of a share of what moves them."""
        ...


def beats_resistance(alone: Misfit, left: Left) -> bool:
    """Return whether no friction or damping explains as much as a repair.

    Harder joints may be true beside the repair, too, so that it is judged by the better of what it
    leaves with and without them.

    Args:
      alone: What the repair leaves of joints that move as modelled.
      left: What it and others leave.
    """
    for attribute in _ATTRIBUTES:
        without = {share: left(attribute, share, repaired=False) for share in _SHARES}
        nearest = min(without, key=lambda share: without[share].share)
        beside = left(attribute, nearest, repaired=True)
        best = min((alone, beside), key=lambda one: one.share)
        if not decisive(best, without[nearest]):
            return False
        if not decisive(best, _least(partial(left, attribute), nearest)):
            return False
    return True


def _least(left: partial[Misfit], about: float) -> Misfit:
    """The least that is left without the repair, of shares about one."""
    found: list[Misfit] = []

    def loss(place: float) -> float:
        found.append(left(math.exp(place), repaired=False))
        return found[-1].share

    ends = math.log(about / _AROUND), math.log(about * _AROUND)
    scipy.optimize.minimize_scalar(
        loss, bounds=ends, method="bounded", options={"maxiter": _STEPS, "xatol": 0.05}
    )
    return min(found, key=lambda one: one.share)
