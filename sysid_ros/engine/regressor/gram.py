# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of R^T R, R^T tau and tau^T tau by degree of freedom and block of time.

They are all that a fit needs of the data: weights, priors, constraints and the deletion of blocks
are algebra on them. Rows are made, filtered and summed a few hundred at a time, so that memory does
not grow with the recording.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray, IntArray
from sysid_ros.engine.regressor.filtering import Filters, SmoothStretch, row_weights, thin
from sysid_ros.engine.regressor.regressor import Motion, Regressor
from sysid_ros.engine.regressor.reversals import CLASSES, row_classes

if TYPE_CHECKING:
    from typing_extensions import Self

_CHUNK = 500_000  # numbers of the regressor at a time
_FEWEST_ROWS = 16
WEIGHT = 4  # columns of a body's weight: its mass, and that times its centre


@dataclass(frozen=True)
class RowSums:
    """Sums over rows of z z^T, for every kind of rows j and block of time b.

    A kind of rows are those of one degree of freedom; or, where they are kept apart, those of one
    degree of freedom that are equally sure of friction's sign (:mod:`.reversals`).
    """

    support: tuple[IndexArray, ...]  # columns that enter row j, (s_j,)
    sums: tuple[FloatArray, ...]  # for each j, (blocks, s_j + k, s_j + k) with k of torque in z
    counts: IntArray  # rows that were summed, (blocks, kinds)
    width: int  # the number p of columns
    dofs: IndexArray  # the degree of freedom of each kind, (kinds,)

    def of_kinds(self, kinds: Sequence[int] | IndexArray) -> Self:
        """The same of some kinds of rows alone."""
        return replace(
            self,
            support=tuple(self.support[kind] for kind in kinds),
            sums=tuple(self.sums[kind] for kind in kinds),
            counts=self.counts[:, kinds],
            dofs=self.dofs[kinds],
        )


class Grams(RowSums):
    """Normal equations: the sums of z = (R, tau)."""

    def of_blocks(self, blocks: slice) -> Grams:
        """The same of some blocks of time alone."""
        sums = tuple(one[blocks] for one in self.sums)
        return replace(self, sums=sums, counts=self.counts[blocks])

    @cached_property
    def _totals(self) -> tuple[FloatArray, ...]:
        """The sums of all blocks."""
        return tuple(one.sum(axis=0) for one in self.sums)

    def normal(
        self, weights: FloatArray, gains: FloatArray, block: int | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Normal equations of measured torque = gain * R theta, of all blocks or of one.

        Args:
          weights: Of each kind of rows, (kinds,).
          gains: Of each degree of freedom, (nv,).
          block: ``None`` for the sum of all.

        Returns:
          R^T W s^2 R (p, p) and R^T W s tau (p,).
        """
        matrix: FloatArray = np.zeros((self.width, self.width))
        vector: FloatArray = np.zeros(self.width)
        for weight, gain, support, sums, whole in zip(
            weights, gains[self.dofs], self.support, self.sums, self._totals, strict=True
        ):
            if weight == 0.0 or not support.size:
                continue
            total = whole if block is None else sums[block]
            matrix[np.ix_(support, support)] += weight * gain**2 * total[:-1, :-1]
            vector[support] += weight * gain * total[:-1, -1]
        return matrix, vector

    def squares(self, theta: FloatArray, gains: FloatArray | None = None) -> FloatArray:
        """Sum of squared residuals tau - gain * R theta, (blocks, kinds)."""
        found = np.zeros(self.counts.shape)
        for j, (support, sums) in enumerate(zip(self.support, self.sums, strict=True)):
            scale = 1.0 if gains is None else gains[self.dofs[j]]
            ends = np.append(-scale * theta[support], 1.0)
            found[:, j] = (sums @ ends) @ ends
        return np.maximum(found, 0.0)

    def part_squares(self, theta: FloatArray) -> FloatArray:
        """Sum of the squares of what each parameter contributes to R theta, (blocks, kinds)."""
        squares = [
            np.einsum("bkk,k->b", sums[:, :-1, :-1], theta[support] ** 2)
            for support, sums in zip(self.support, self.sums, strict=True)
        ]
        return np.stack(squares, axis=1)

    def torque_squares(self) -> FloatArray:
        """Sum of squared torques, (blocks, kinds)."""
        return np.stack([sums[:, -1, -1] for sums in self.sums], axis=1)


def row_counts(grams: Mapping[str, Grams]) -> IntArray:
    """Rows of each kind under all conditions, (kinds,)."""
    counts: IntArray = np.sum([one.counts.sum(axis=0) for one in grams.values()], axis=0)
    return counts


@dataclass(frozen=True)
class FilteredRows:
    """Rows of a stretch of time, after the row filter."""

    times: FloatArray  # (rows,) s
    torque: FloatArray  # (rows, nv, nodes), NaN where unknown
    regressor: tuple[FloatArray, ...]  # for each degree of freedom its columns in use, (rows, s_j)
    # how sure friction's sign is, (rows, nv), see :func:`~.reversals.row_classes`
    classes: IndexArray


@dataclass(frozen=True)
class BlockedRows:
    """Filtered rows of stretches, cut into blocks of time, of which sums are wanted."""

    stretches: Sequence[SmoothStretch]  # smoothed motion with filtered torque
    filters: Filters  # with which they were smoothed
    block_of: Sequence[IndexArray]  # for each stretch the block of time of every row
    blocks: int  # how many there are
    apart: bool = False  # whether rows are kept apart by how sure friction's sign is


def sum_grams(
    regressor: Regressor,
    wanted: BlockedRows,
    *,
    merge: FloatArray | None = None,
    weight: Regressor | None = None,
) -> Grams:
    """The sums of all stretches.

    Args:
      regressor: The robot's.
      wanted: The rows.
      merge: From columns that are wanted to all of them, (p, w); by default all are.
      weight: Of one body alone, whose :data:`WEIGHT` columns at rest follow the others: what it
        does by gravity without its inertia.
    """
    return Grams(*sum_joined(regressor, wanted, 1, merge=merge, weight=weight))


def sum_joined(
    regressor: Regressor,
    wanted: BlockedRows,
    nodes: int,
    *,
    merge: FloatArray | None = None,
    weight: Regressor | None = None,
) -> tuple[tuple[IndexArray, ...], tuple[FloatArray, ...], IntArray, int, IndexArray]:
    """The fields of :class:`Grams`, with torque at several shifts in place of one.

    Takes what :func:`sum_grams` takes, and the number of shifts.
    """
    classes = CLASSES if wanted.apart else 1
    dofs = np.repeat(np.arange(regressor.model.nv), classes)
    used, width = regressor.support, len(regressor.columns)
    changes: list[FloatArray] | None = None
    if merge is not None:
        used = [np.flatnonzero(np.any(merge[one] != 0.0, axis=0)) for one in regressor.support]
        pairs = zip(regressor.support, used, strict=True)
        changes, width = [merge[np.ix_(own, kept)] for own, kept in pairs], merge.shape[1]
    if weight is not None:
        more = [np.arange(WEIGHT if one.size else 0) for one in weight.support]
        used = [np.append(own, width + new) for own, new in zip(used, more, strict=True)]
        width += WEIGHT
    support = [one for one in used for _ in range(classes)]
    sums = [np.zeros((wanted.blocks, len(s) + nodes, len(s) + nodes)) for s in support]
    counts = np.zeros((wanted.blocks, len(dofs)), dtype=np.int64)
    for stretch, numbers in zip(wanted.stretches, wanted.block_of, strict=True):
        first = 0
        for rows, tables in _merged_rows(regressor, wanted, stretch, changes, weight):
            here = numbers[first : first + len(rows.times)]
            first += len(rows.times)
            for block, (kind, j) in itertools.product(np.unique(here), enumerate(dofs)):
                use = (here == block) & np.isfinite(rows.torque[:, j, 0])
                if wanted.apart:
                    use &= rows.classes[:, j] == kind % classes
                if not use.any():
                    continue
                joined = np.hstack([tables[j][use], rows.torque[use, j]])
                sums[kind][block] += joined.T @ joined
                counts[block, kind] += int(use.sum())
    return tuple(support), tuple(sums), counts, width, dofs


def _merged_rows(
    regressor: Regressor,
    wanted: BlockedRows,
    stretch: SmoothStretch,
    changes: Sequence[FloatArray] | None,
    weight: Regressor | None,
) -> Iterator[tuple[FilteredRows, tuple[FloatArray, ...]]]:
    """Yield the rows of a stretch, some at a time, with the columns that are summed."""
    first = 0
    for rows in filtered_rows(regressor, stretch, wanted.filters, apart=wanted.apart):
        tables = rows.regressor
        if changes is not None:
            tables = tuple(t @ change for t, change in zip(tables, changes, strict=True))
        if weight is not None:
            part = slice(first, first + len(rows.times))
            lifted = _weights(weight, stretch, wanted.filters, part)
            tables = tuple(map(np.hstack, zip(tables, lifted, strict=True)))
        first += len(rows.times)
        yield rows, tables


def _weights(
    weight: Regressor, stretch: SmoothStretch, filters: Filters, part: slice
) -> tuple[FloatArray, ...]:
    """Columns of a body's weight in some rows of a stretch, (rows, 4 or 0) by degree of freedom."""
    taps, every = row_weights(filters, stretch.inner), stretch.every
    samples = slice(part.start * every, (part.stop - 1) * every + len(taps))
    qpos, none = stretch.motion[0][samples], np.zeros((samples.stop - samples.start, 1))
    still = none + np.zeros(weight.model.nv)
    rows = np.ascontiguousarray(weight.rows(Motion(qpos, still, still))[:, :, :WEIGHT])
    filtered = np.zeros((part.stop - part.start, rows[0].size))
    thin(taps, every, rows.reshape(len(rows), -1), filtered)
    table = filtered.reshape(len(filtered), -1, WEIGHT)
    return tuple(table[:, j, : WEIGHT * bool(u.size)] for j, u in enumerate(weight.support))


def filtered_rows(
    regressor: Regressor, stretch: SmoothStretch, filters: Filters, *, apart: bool = True
) -> Iterator[FilteredRows]:
    """The rows of a stretch, a few hundred at a time, less the torque that is known.

    Args:
      regressor: The robot's.
      stretch: Smoothed motion with filtered torque.
      filters: With which it was smoothed.
      apart: Whether it is asked how sure friction's sign is.
    """
    weights = row_weights(filters, stretch.inner)
    support, every, taps = regressor.support, stretch.every, len(weights)
    size = regressor.model.nv * len(regressor.columns)
    # What is zero in every row need not be filtered: most of a tree of several limbs.
    kept = np.concatenate([j * len(regressor.columns) + own for j, own in enumerate(support)])
    ends = np.cumsum([len(own) for own in support])[:-1]
    at_once = max(_FEWEST_ROWS, (_CHUNK // size - taps) // every)
    scratch = np.empty(((at_once - 1) * every + taps, regressor.model.nv, len(regressor.columns)))
    for first in range(0, len(stretch.times), at_once):
        last = min(first + at_once, len(stretch.times))
        part = slice(first * every, (last - 1) * every + taps)
        motion = Motion(*(signal[part] for signal in stretch.motion))
        filtered = np.zeros((last - first, len(kept)))
        rows = regressor.rows(motion, scratch).reshape(-1, size)
        thin(weights, every, rows.take(kept, axis=1), filtered)
        torque = stretch.shifted[first:last]
        known = regressor.known_torque(motion)
        if known is not None:
            added = np.zeros(torque.shape[:2])
            thin(weights, every, known, added)
            torque = torque - added[:, :, None]
        parts = tuple(np.split(filtered, ends, axis=1))
        count = last - first
        classes = np.zeros((count, regressor.model.nv), dtype=np.intp)
        if apart:
            classes = row_classes(regressor.model, motion, weights, every, count, regressor.own_law)
        yield FilteredRows(stretch.times[first:last], torque, parts, classes)
