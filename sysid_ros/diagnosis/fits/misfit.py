# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The share of the recordings that an explanation leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray

_DIFFERENT = 0.1  # of a stretch's residual; less says nothing
_FEW = 5  # stretches that must differ at least
_GOOD = 0.1  # of the power, that a repair may leave
_BETTER = 0.25  # of the power left without it, that a repair may leave
_BETTER_BLOCKS = 0.75  # of the stretches, in which it must be better


@dataclass(frozen=True)
class Misfit:
    """The remainder of torques or commands after a test."""

    share: float  # root mean square residual over their own variation; 1 explains nothing
    blocks: FloatArray  # (b,) mean squared residual of each stretch of time, in the same unit

    def ratio(self, other: Misfit) -> float:
        """This residual's power over another's."""
        return self.share**2 / max(other.share**2, 1e-18)

    def better_share(self, other: Misfit) -> float:
        """In how many of the stretches this residual is smaller, of those where it differs."""
        largest = np.maximum(self.blocks, other.blocks)
        differs = np.abs(self.blocks - other.blocks) > _DIFFERENT * largest
        if np.count_nonzero(differs) < _FEW:
            return 0.0
        return float(np.mean(self.blocks[differs] < other.blocks[differs]))


def decisive(
    after: Misfit, before: Misfit, better: float | None = None, good: float = _GOOD
) -> bool:
    """Return whether a repair is good in itself and much better than without it.

    Args:
      after: What is left with it.
      before: What is left without it.
      better: Of the power left without it, that it may leave; a quarter by default.
      good: Of the whole power, that it may leave.
    """
    return (
        after.share**2 < good
        and after.ratio(before) < (better or _BETTER)
        and after.better_share(before) >= _BETTER_BLOCKS
    )


def mean_misfit(parts: Sequence[Misfit]) -> Misfit:
    """The misfit of several residuals over the same stretches, from that of each."""
    share = float(np.sqrt(np.mean([part.share**2 for part in parts])))
    return Misfit(share, np.mean([part.blocks for part in parts], axis=0))


def misfit_of(residual: FloatArray, block: IndexArray) -> Misfit:
    """Sum up residuals.

    Args:
      residual: (n, k) residuals over the variation of what they are residuals of.
      block: (n,) the stretch of time of each row.
    """
    squares = np.mean(residual**2, axis=1)
    counts = np.bincount(block)
    blocks = np.bincount(block, squares)[counts > 0] / counts[counts > 0]
    return Misfit(float(np.sqrt(np.mean(squares))), blocks)
