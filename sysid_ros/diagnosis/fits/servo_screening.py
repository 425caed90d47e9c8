# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""All hypotheses about one servo's command at once, from one matrix of inner products.

With a command u at the instant it takes effect, a servo makes u = a q + b + C x, where C has what
a servo's lag, friction, inertia and load add (:mod:`sysid_ros.diagnosis.tracking`) and x is between
zero and limits. A wrong sign, degrees, a wrong scale and a delay are other a and other instants of
u; an offset is b. Whatever they are, the residual follows from the inner products of q, 1, the
columns of C and the delayed commands, so that no hypothesis costs a pass over the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray

_SWEEPS = 80
_SETTLED = 1e-4  # of a limit


@dataclass(frozen=True)
class Fits:
    """The best explanation of m commands."""

    powers: FloatArray  # (m,) what is left, over the command's power
    offsets: FloatArray  # (m,) b
    coefficients: FloatArray  # (k, m) x


@dataclass(frozen=True)
class ServoEquation:
    """One servo's equation at n instants."""

    # (n, k) each times its limit, so that coefficients are between zero and one
    columns: FloatArray
    position: FloatArray  # (n,) q

    def fits(
        self, commands: FloatArray, which: IndexArray, slopes: FloatArray, *, offset: bool = False
    ) -> Fits:
        """Explain commands by the position, for many hypotheses.

        Args:
          commands: (n, c).
          which: (m,) column of the command of each hypothesis.
          slopes: (m,) the factor a of each.
          offset: Whether b is free.
        """
        n, k = self.columns.shape
        known = np.column_stack([self.columns, self.position, np.ones(n)])
        gram, cross = known.T @ known, (known.T @ commands)[:, which]
        power = np.sum(commands**2, axis=0)[which] - 2.0 * slopes * cross[k]
        power += slopes**2 * gram[k, k]
        target = cross[:k] - slopes * gram[:k, k, None]
        constant = cross[k + 1] - slopes * gram[k, k + 1]
        hessian, sums = gram[:k, :k], gram[:k, k + 1]
        if offset:  # eliminated
            power = power - constant**2 / n
            target = target - sums[:, None] * constant / n
            hessian = hessian - np.outer(sums, sums) / n
        found = bounded_fits(hessian, target, np.minimum(slopes, 0.0), np.maximum(slopes, 0.0))
        left = power - np.sum(found * (2.0 * target - hessian @ found), axis=0)
        spread = np.maximum(np.var(commands, axis=0), 1e-18)[which]
        offsets = (constant - sums @ found) / n if offset else np.zeros(len(slopes))
        return Fits(np.maximum(left, 0.0) / (n * spread), offsets, found)

    def ratio(self, commands: FloatArray) -> float:
        """The factor of the position that explains most of the best of commands (n, c)."""
        moved = self.position - np.mean(self.position)
        each = moved @ commands / max(float(moved @ moved), 1e-300)
        best = np.argmax(np.abs(each) / np.maximum(np.std(commands, axis=0), 1e-18))
        return float(each[best]) or 1.0

    def block_powers(self, commands: FloatArray, block: IndexArray) -> FloatArray:
        """The remainder of commands in each stretch of time, if nothing is wrong.

        Args:
          commands: (n, c).
          block: (n,) the stretch of time of each instant.

        Returns:
          (b, c) sums of squares over the command's power.
        """
        count = commands.shape[1]
        found = self.fits(commands, np.arange(count), np.ones(count)).coefficients
        left = commands - self.position[:, None] - self.columns @ found
        squares = left**2 / np.maximum(np.var(commands, axis=0), 1e-18) / len(left)
        return np.stack([squares[block == number].sum(axis=0) for number in np.unique(block)])


def bounded_fits(
    hessian: FloatArray, target: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Least squares within bounds for many right-hand sides, by coordinate descent.

    Args:
      hessian: (k, k) inner products of the columns.
      target: (k, m) inner products of the columns with the right-hand sides.
      low: (m,) lower bounds of all k unknowns.
      high: (m,) upper bounds.

    Returns:
      (k, m).
    """
    found: FloatArray = np.zeros(target.shape)
    diagonal = np.diag(hessian)
    used = np.flatnonzero(diagonal > 1e-12 * max(float(diagonal.max(initial=0.0)), 1e-300))
    reach = np.maximum(high - low, 1e-300)
    for _ in range(_SWEEPS):
        before = found.copy()
        for i in used:
            better = found[i] + (target[i] - hessian[i] @ found) / diagonal[i]
            # np.clip takes longer than all else for so few numbers.
            found[i] = np.minimum(np.maximum(better, low), high)
        if float(np.max(np.abs(found - before) / reach, initial=0.0)) < _SETTLED:
            break
    return found
