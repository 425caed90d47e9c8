# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signs, factors and exchanges of several forces that move a free body, from fitted windows.

No equation of a joint or of the body alone has the forces that wheels or limbs carry it with. So
windows are fitted once more with what may be wrong repaired, and what is left is compared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.diagnosis.evidence import Change, Explanation, FindingKind
from sysid_ros.diagnosis.fits import VISIBLE, Linearized, WindowScores
from sysid_ros.engine.parameters import Parameter

_TIMES = 3.0  # what is left beyond noise, that a repair explains: a quarter is left without it
_BETTER_WINDOWS = 0.75  # of the windows, in which it must be better
_GAINED = 0.25  # of what is left, that a factor explains
_FACTOR = 1.5  # of a force, from which on it is told
_SMALLEST = 0.05  # of a force: what is less acts on nothing
_AS_A_SIGN = 0.3  # how near to -1 a factor is one
_ALIKE = 1.2  # ratio of powers up to which one explains as much as another
_LEAST = 0.25  # of a factor, what is left of it in one step towards none
_TURNS = 4  # times that windows are linearized on the way to a factor
_NEAR = 0.05  # of a factor, a step that is the last
_FEW = 3  # forces of which signs and exchanges are fitted, one by one


@dataclass(frozen=True)
class MovingForces:
    """Several forces that move a free body, in windows that are fitted with all that a fit finds.

    Attributes:
      windows: As recorded.
      factors: Of each force, by its label.
      usual: Names of the columns that a fit finds.
      masses: Names of those of masses that it does not.
      linearized: The same windows with some of the suspects elsewhere.
      repaired: The same after a repair; ``None`` where it flies apart.
    """

    windows: WindowScores
    factors: Mapping[str, Parameter]
    usual: Sequence[str]
    masses: Sequence[str]
    linearized: Linearized
    repaired: Callable[[Change], WindowScores | None]

    def mistaken(
        self, measured: Sequence[tuple[tuple[str, str], ...]], shown: Collection[str]
    ) -> list[Explanation]:
        """The one sign, factor or exchange that explains most of what is left; none without any.

        Args:
          measured: What is exchanged where the measurements of two of the driven joints are.
          shown: Signals by which forces show, where they are wrong by much.
        """
        if (scaled := self.scaled()) is not None:
            return [scaled]
        found = [(change, self.repaired(change)) for change in self._discrete(measured, shown)]
        fitted = [(change, after) for change, after in found if after is not None]
        if not fitted:
            return []
        change, after = min(fitted, key=lambda one: one[1].left_of_all)
        shares = self._shares(after)
        return [] if shares is None else [Explanation(change, 0.0, *shares)]

    def _discrete(
        self, measured: Sequence[tuple[tuple[str, str], ...]], shown: Collection[str]
    ) -> Iterator[Change]:
        """Signs and exchanges of few forces, and exchanged joints behind them."""
        if len(self.factors) > _FEW:
            return
        for pairs in measured:
            yield Change(FindingKind.SWAP, exchange=pairs)
        if all(self.windows.unexplained([one]) ** 2 < VISIBLE for one in shown):
            return
        for label in self.factors:
            yield Change(FindingKind.SIGN, scale={label: -1.0})
        for pair in itertools.combinations(self.factors, 2):
            yield Change(FindingKind.SWAP, exchange=(pair,))

    def _shares(self, after: WindowScores) -> tuple[float, float] | None:
        """The rest beyond noise before and after a repair; ``None`` unless that is decisive."""
        left, before = (one.beyond_noise(after) for one in (after, self.windows))
        ratio = left.ratio(before)
        if ratio * (1.0 + _TIMES) > 1.0 or left.better_share(before) < _BETTER_WINDOWS:
            return None
        return 1.0, math.sqrt(ratio)

    def scaled(self) -> Explanation | None:
        """The sign or the factor of one force; ``None`` where none explains most of what any does.

        Beside masses, the factor of one force is the reciprocal of the other's: of those that
        explain as much, it is the one that explains more with the masses that the model has, and
        those that explain as much there, as where a fit finds masses, could be the wrong ones too.
        """
        names, beside = [one.name for one in self.factors.values()], [*self.usual, *self.masses]
        freely, held = (self.windows.scores(names, own) for own in (beside, self.usual))
        steps, gained = freely.gained()
        left = freely.left - gained
        most = np.where(left <= _ALIKE * left.min(), held.gained()[1], -1.0)
        best = int(np.argmax(most))
        step, noise = float(steps[best]), self.windows.together(names, beside)[1] * freely.left
        most_of_all = is_most(float(gained[best]), float(left[best]), noise)
        if not most_of_all or freely.better(best, 0.0, step)[1] < _BETTER_WINDOWS:
            return None
        label = [*self.factors][best]
        found = self._followed(label, beside, step)
        if found is None:
            return None
        factor, reach = found
        shares = 1.0, math.sqrt(left[best] / freely.left)
        if abs(factor + 1.0) < _AS_A_SIGN:
            return Explanation(Change(FindingKind.SIGN, scale={label: -1.0}), 0.0, *shares)
        if max(abs(factor), 1.0 / abs(factor)) < _FACTOR:
            return None
        change = Change(FindingKind.SCALE, scale={label: factor})
        there = held.left - held.gained()[1]
        alike = (left <= _ALIKE * left.min()) & (there <= _ALIKE * there[best])
        others = tuple(
            Change(FindingKind.SCALE, scale={one: 1.0 / factor})
            for k, one in enumerate(self.factors) if alike[k] and k != best
        )  # fmt: skip
        interval = (factor - reach, factor + reach)
        return Explanation(change, factor, *shares, interval, others)

    def _followed(
        self, label: str, beside: Sequence[str], step: float
    ) -> tuple[float, float] | None:
        """A factor, where windows fitted with it ask for no other, and its interval's half."""
        moved, factor = self.factors[label].copy(), _far_enough(1.0 + step, 1.0)
        for _ in range(_TURNS):
            moved.update_from_vector(np.clip([factor], *moved.get_bounds()))
            factor = value = float(moved.value[0])
            there = self.linearized(moved) if abs(value) >= _SMALLEST else None
            if there is None:
                return None
            near = there.scores([moved.name], beside)
            step = float(near.gained()[0][0])
            factor, reach = value * (1.0 + step), abs(value) * near.reach(0, step)
            if abs(step) < _NEAR:
                return factor, reach
            factor = _far_enough(factor, value)
        return None


def is_most(explained: float, left: float, noise: float) -> bool:
    """Return whether something explains much, and most of what anything does.

    Args:
      explained: The squares that it explains.
      left: Those that are left with it.
      noise: Those that are left with whatever may be wrong.
    """
    return explained >= max(_TIMES * (left - noise), _GAINED * (explained + left))


def _far_enough(factor: float, value: float) -> float:
    """The next factor after a value: beside friction that made up for it a step goes too far."""
    return factor if abs(factor) > _LEAST * abs(value) else _LEAST * value
