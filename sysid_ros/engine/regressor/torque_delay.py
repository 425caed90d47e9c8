# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of rows whose torque was measured at another time than the motion, by an unknown delay.

Torque is held for a controller's period, sampled somewhere within it, and filtered by the drive:
what is stamped t belongs to the motion at t - d. Behind the row filter, torque as a function of
the shift is so smooth that a polynomial through a few shifts is exact to a part in a thousand. The
sums are therefore made for torque at these nodes, once, and those of any delay follow by algebra:

    tau(t + d) = sum_k L_k(d) tau(t + d_k),   R theta = tau(t + d0) + (d - d0) tau'(t + d0).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.regressor.filtering import Filters, SmoothStretch
from sysid_ros.engine.regressor.gram import BlockedRows, Grams, RowSums, sum_joined
from sysid_ros.engine.regressor.regressor import Regressor

_NODES = 7
_SHARE = 0.3  # of the shortest period that the row filter passes: the range on either side
_LONGEST = 0.03  # s


def delay_nodes(filters: Filters, regressor: Regressor) -> FloatArray:
    """Shifts (nodes,) in s at which torque is filtered; 0 alone where no delay is unknown."""
    if not np.any(regressor.delay_columns >= 0):
        return np.zeros(1)
    places = np.cos(np.pi * (2 * np.arange(_NODES) + 1) / (2 * _NODES))
    places[_NODES // 2] = 0.0
    return np.asarray(min(_SHARE / filters.rows, _LONGEST) * places)


def lagrange(nodes: FloatArray, at: float) -> FloatArray:
    """Weights of the nodes for a value at a shift and its first two derivatives, (3, nodes)."""
    if len(nodes) == 1:
        return np.array([[1.0], [0.0], [0.0]])
    size = float(np.abs(nodes).max())
    powers = np.vander(nodes / size, increasing=True)
    x, k = at / size, np.arange(len(nodes), dtype=np.float64)
    value = x**k
    first, second = np.zeros_like(value), np.zeros_like(value)
    first[1:] = k[1:] * value[:-1] / size
    second[2:] = k[2:] * (k[2:] - 1.0) * value[:-2] / size**2
    return np.asarray(np.linalg.solve(powers.T, np.stack([value, first, second]).T).T)


@dataclass(frozen=True)
class ShiftedGrams(RowSums):
    """The sums of z = (R, tau at several shifts)."""

    nodes: FloatArray  # s, (nodes,)
    around: FloatArray  # s, (nv,), the shift of each degree of freedom that nodes are relative to
    columns: IndexArray  # that of each degree of freedom's delay, -1 for none, (nv,)

    def at(
        self, delays: FloatArray, theta: FloatArray | None = None, constant: float = 0.0
    ) -> Grams:
        """The sums with the delay as a column, linearised.

        Args:
          delays: s, (nv,), about which the delay is linearised.
          theta: All parameters, (p,), with which the curvature of the squared residual is that of
            Newton's method; the square of the torque's slope, without them, has the noise of
            torque in it, and makes a delay seem surer than it is.
          constant: s, the time constant of a low-pass of first order that torque with an unknown
            delay has passed, which is undone; without ``theta``.
        """
        support, sums = [], []
        for dof, own, table in zip(self.dofs, self.support, self.sums, strict=True):
            column, size = int(self.columns[dof]), len(own)
            value, slope, bend = lagrange(self.nodes, float(delays[dof] - self.around[dof]))
            if column >= 0 and constant:  # what passed a low-pass was y + T y' before
                value, slope = value + constant * slope, slope + constant * bend
            change = value[:, None]
            if column >= 0:
                change = np.stack([-slope, value - delays[dof] * slope], axis=1)
            folded = _folded(table, size, change)
            if theta is not None and column >= 0:
                left, bent = np.append(-theta[own], value), np.append(np.zeros(size), bend)
                curved = (table @ left) @ bent
                pair = np.append(np.zeros(size), [1.0, delays[dof]])
                curved = np.maximum(curved, -0.9 * folded[:, size, size])
                folded = folded + curved[:, None, None] * np.outer(pair, pair)
            support.append(own if column < 0 else np.append(own, column))
            sums.append(folded)
        return Grams(tuple(support), tuple(sums), self.counts, self.width, self.dofs)

    def together(self) -> ShiftedGrams:
        """The same with all blocks summed to one."""
        sums = tuple(one.sum(axis=0, keepdims=True) for one in self.sums)
        return replace(self, sums=sums, counts=self.counts.sum(axis=0, keepdims=True))

    def without(self, kinds: BoolArray) -> ShiftedGrams:
        """The same without rows of some kinds, (kinds,)."""
        pairs = zip(kinds, self.sums, strict=True)
        # Unlike np.zeros_like, this takes no memory until it is written.
        sums = tuple(np.zeros(one.shape) if left else one for left, one in pairs)
        return replace(self, sums=sums, counts=np.where(kinds, 0, self.counts))

    def delays_of(self, theta: FloatArray) -> FloatArray:
        """The delay of each degree of freedom, (nv,) s, at values of all parameters."""
        return np.where(self.columns >= 0, theta[self.columns], 0.0)


def _folded(table: FloatArray, size: int, change: FloatArray) -> FloatArray:
    """Sums (blocks, size + nodes, ...) with combinations (nodes, k) of torque in its place."""
    if np.array_equal(change, [[1.0]]):
        return table  # a copy of it would be as large again
    own, mixed, torque = table[:, :size, :size], table[:, :size, size:], table[:, size:, size:]
    found = np.empty((len(table), size + change.shape[1], size + change.shape[1]))
    found[:, :size, :size] = own
    found[:, :size, size:] = mixed @ change
    found[:, size:, :size] = found[:, :size, size:].transpose(0, 2, 1)
    found[:, size:, size:] = change.T @ torque @ change
    return found


def sum_shifted(regressor: Regressor, wanted: BlockedRows, around: FloatArray) -> ShiftedGrams:
    """The sums of all stretches, which were filtered at :func:`delay_nodes`.

    Args:
      regressor: The robot's, with its unknown delays.
      wanted: The rows.
      around: s, (nv,), that was added to the nodes.
    """
    nodes = delay_nodes(wanted.filters, regressor)
    parts = sum_joined(regressor, wanted, len(nodes))
    return ShiftedGrams(*parts, nodes, around, regressor.delay_columns)


def delayed(stretch: SmoothStretch, nodes: FloatArray, shift: FloatArray) -> FloatArray:
    """A stretch's torque at a shift (nv,) from the middle of its nodes, (rows, nv)."""
    weights = np.stack([lagrange(nodes, float(one))[0] for one in shift])
    return np.asarray(np.einsum("njk,jk->nj", stretch.shifted, weights))
