# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The arrival cost of a moving horizon: what windows before it said about the parameters.

Each window that leaves the horizon is a quadratic function of the parameters, its start
eliminated: a share of the information matrix and of the information vector (Rao, Rawlings & Mayne
2003, "Constrained state estimation for nonlinear discrete-time systems"). Shares are kept apart as
far as memory allows, since their scatter tells how uncertain their sum is. Where there are too
many, the two neighbours that count least are joined: longer clusters are no less independent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.problem import sums_by_signal

Squares = Mapping[str, tuple[float, float]]  # by signal: sum of squared residuals, their number

MOST_SHARES = 48  # that are kept apart


@dataclass(frozen=True)
class Share:
    """The information of one window, or of several that were joined."""

    time: float  # the instant at which it has this weight, s
    theta: FloatArray  # where it was linearized, (p,)
    hessian: FloatArray  # shape (p, p)
    gradient: FloatArray  # at ``theta``, (p,)
    # squared residuals that stayed unexplained, by signal, and their numbers
    squares: Squares = field(default_factory=dict)
    windows: float = 1.0  # how many windows it counts for

    def gradient_at(self, theta: FloatArray) -> FloatArray:
        """The gradient at other values of the parameters, (p,)."""
        moved: FloatArray = self.gradient + self.hessian @ (theta - self.theta)
        return moved

    def scaled(self, weight: float) -> Share:
        """A copy that counts ``weight`` times, 0 to 1."""
        return replace(
            self,
            hessian=weight * self.hessian,
            gradient=weight * self.gradient,
            squares={name: (weight * s, weight * n) for name, (s, n) in self.squares.items()},
            windows=weight * self.windows,
        )

    def plus(self, later: Share) -> Share:
        """Both together, at the instant and the point of the later one."""
        return Share(
            later.time,
            later.theta,
            self.hessian + later.hessian,
            self.gradient_at(later.theta) + later.gradient,
            sums_by_signal([self.squares, later.squares]),
            self.windows + later.windows,
        )


class ArrivalCost:
    """The windows that have left the horizon."""

    def __init__(self, forgetting: float | None) -> None:
        """Begin without any.

        Args:
          forgetting: s after which they count by 1/e; ``None`` for never.
        """
        self._forgetting = forgetting
        self._shares: list[Share] = []

    def add(self, share: Share) -> None:
        """Take over a window, later than those before."""
        self._shares = fewer([*self.at(share.time), share], MOST_SHARES)

    def begin_anew(self) -> None:
        """Begin another time axis, at whose zero nothing has been forgotten since."""
        self._shares = [replace(share, time=0.0) for share in self._shares]

    def at(self, time: float) -> list[Share]:
        """The shares with the weights that they have at an instant."""
        if self._forgetting is None:
            return list(self._shares)
        scale = self._forgetting
        return [
            replace(share.scaled(math.exp(-max(time - share.time, 0.0) / scale)), time=time)
            for share in self._shares
        ]


def fewer(shares: Sequence[Share], most: int) -> list[Share]:
    """At most so many shares; the neighbours that count for the fewest windows are joined."""
    found = list(shares)
    while len(found) > most:
        pairs = itertools.pairwise(each.windows for each in found)
        least = int(np.argmin([first + second for first, second in pairs]))
        found[least : least + 2] = [found[least].plus(found[least + 1])]
    return found


def gram_of(shares: Sequence[Share], theta: FloatArray) -> FloatArray:
    """Shares as one Gram matrix of ``[J r]`` at a point, but for its last entry, (p + 1, p + 1)."""
    p = theta.size
    gram: FloatArray = np.zeros((p + 1, p + 1))
    for share in shares:
        gram[:p, :p] += share.hessian
        gram[:p, p] += share.gradient_at(theta)
    gram[p, :p] = gram[:p, p]
    return gram
