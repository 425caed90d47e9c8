# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scores of repairs by what they leave of each signal in each window, before and after.

What is left is a sum over windows of what is never negative. So a repair that leaves too much in
some of them does so in all, and a few windows are enough to dismiss most.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.diagnosis.fits.misfit import Misfit

VISIBLE = 0.1  # of a signal's power, unexplained, from which something may be wrong
_LATE = 0.02  # of a signal's power, unexplained, from which a delay alone may be seen
_HELPED = 0.25  # of what is unexplained of a signal, that a repair may leave
_OUTWEIGHED = 0.05  # of what a repair explains, that it may leave more of a signal
_SPOILED = 0.05  # of a signal's power that a repair may add, besides a third of what was there


def helped_signals(before: Mapping[str, FloatArray], after: Mapping[str, FloatArray]) -> list[str]:
    """Signals that a repair explains and that were not explained without.

    If it was tried in some of the windows only, those that it may explain.
    """
    return [
        name for name, power in after.items()
        if np.mean(before[name]) > VISIBLE and np.sum(power) < _HELPED * np.sum(before[name])
    ]  # fmt: skip


def late_signals(before: Mapping[str, FloatArray]) -> list[str]:
    """Signals of which so much is unexplained that a delay alone may be seen."""
    return [name for name, power in before.items() if np.mean(power) > _LATE]


def helped_or_late(before: Mapping[str, FloatArray], after: Mapping[str, FloatArray]) -> list[str]:
    """Signals that a repair explains; where it is a delay of what is hardly unexplained, these."""
    return helped_signals(before, after) or late_signals(before)


def helps(
    before: Mapping[str, FloatArray], after: Mapping[str, FloatArray], own: Collection[str]
) -> bool:
    """Return whether a repair explains one of its own signals, if it has any, or another."""
    helped = helped_signals(before, after)
    return bool({*own} & {*helped} if own else helped)


def spoils(before: Mapping[str, FloatArray], after: Mapping[str, FloatArray]) -> bool:
    """Return whether a repair leaves much more of a signal, in as many or in some windows.

    Beside many times as much that it explains, that is what a worse mistake had hidden.
    """
    more = {name: np.sum(power) - np.sum(before[name]) for name, power in after.items()}
    least = _OUTWEIGHED * sum(max(0.0, -one) for one in more.values())
    return any(
        one > max(0.33 * np.sum(before[name]) + _SPOILED * len(before[name]), least)
        for name, one in more.items()
    )


def most_telling(powers: Sequence[FloatArray], share: float) -> list[int]:
    """The share of windows in which most of some signals, (b,) each, is unexplained, in order."""
    left = np.asarray(sum(power / np.sum(power) for power in powers))
    return sorted(np.argsort(-left, kind="stable")[: math.ceil(share * len(left))].tolist())


def explained_more(before: Mapping[str, FloatArray], after: Mapping[str, FloatArray]) -> float:
    """The power of all signals that a repair explains more, in units of their variation."""
    return float(sum(np.mean(before[name]) - np.mean(power) for name, power in after.items()))


def left_of_helped(before: Mapping[str, FloatArray], after: Mapping[str, FloatArray]) -> float:
    """The mean power that a repair leaves of the signals that it helps; infinite without any."""
    helped = helped_signals(before, after)
    return float(np.mean([np.mean(after[name]) for name in helped])) if helped else math.inf


def signals_misfit(powers: Mapping[str, FloatArray], names: list[str]) -> Misfit:
    """The mean of some signals' powers by window."""
    blocks = np.mean([powers[name] for name in names], axis=0)
    return Misfit(float(np.sqrt(np.mean(blocks))), blocks)


def lasting_shares(
    residuals: Sequence[FloatArray], kinds: Sequence[IndexArray], times: Sequence[FloatArray]
) -> FloatArray:
    """The share of each signal's squares that a sample has in common with the next: of no noise.

    Args:
      residuals: Of each window, (n,).
      kinds: The signal of each, (n,).
      times: The instant of each, s, (n,).

    Returns:
      By signal, 0 to 1; 1 where nothing is left.
    """
    count = 1 + max(int(own.max()) for own in kinds)
    shared, whole = np.zeros(count), np.zeros(count)
    for rest, own, at in zip(residuals, kinds, times, strict=True):
        order = np.lexsort((at, own))
        rest, own = rest[order], own[order]
        same = own[1:] == own[:-1]
        np.add.at(shared, own[1:][same], (rest[1:] * rest[:-1])[same])
        np.add.at(whole, own, rest**2)
    return np.where(whole > 0.0, np.clip(shared / np.maximum(whole, 1e-300), 0.0, 1.0), 1.0)


def parted_squares(
    residuals: Sequence[FloatArray], kinds: Sequence[IndexArray], count: int
) -> FloatArray:
    """The parts of the windows in each signal's squares, (b, count); they add up to one.

    Args:
      residuals: Of each window, (n,) or with other rows behind.
      kinds: The signal of each, (n,).
      count: Of signals.
    """
    squares = np.array(
        [
            np.bincount(own, rest[: len(own)] ** 2, minlength=count)
            for rest, own in zip(residuals, kinds, strict=True)
        ]
    )
    return np.asarray(squares / np.maximum(squares.sum(axis=0), 1e-300))
