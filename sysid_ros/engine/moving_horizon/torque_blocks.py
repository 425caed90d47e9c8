# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of rows of inverse dynamics by block of time, the latest ones and what is left of older."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.regressor import INDEPENDENT, Grams

LENGTH = 0.5  # s of a block
MOST_BLOCKS = 24  # that are kept apart
_OPEN = 1e-9  # of columns of unit length: what less is left of is open


@dataclass(frozen=True)
class Block:
    """The rows of half a second, or of more that were joined."""

    begin: float  # its first instant, s
    time: float  # the instant at which it has this weight, s
    grams: Grams  # of one block

    @property
    def rows(self) -> float:
        """The number of rows that it counts for."""
        return float(self.grams.counts.sum())

    def scaled(self, weight: float) -> Block:
        """The same with less weight."""
        sums = tuple(weight * one for one in self.grams.sums)
        counts = np.round(weight * self.grams.counts).astype(np.int64)
        return replace(self, grams=replace(self.grams, sums=sums, counts=counts))

    def quieter(self, share: FloatArray) -> Block:
        """The same rows, whose noise has a share of its variance, of each kind, (kinds,)."""
        sums = tuple(own * one for own, one in zip(share, self.grams.sums, strict=True))
        return replace(self, grams=replace(self.grams, sums=sums))

    def plus(self, later: Block) -> Block:
        """Both together, at the later one's instant."""
        pairs = zip(self.grams.sums, later.grams.sums, strict=True)
        sums = tuple(one + other for one, other in pairs)
        counts = self.grams.counts + later.grams.counts
        return Block(self.begin, later.time, replace(later.grams, sums=sums, counts=counts))


class TorqueBlocks:
    """All rows that count."""

    def __init__(self, forgetting: float | None) -> None:
        """Begin without any.

        Args:
          forgetting: s after which rows count by 1/e; ``None`` for never.
        """
        self._forgetting = forgetting
        self._blocks: list[Block] = []

    def add(self, new: Block) -> None:
        """Take over rows, later than those before."""
        blocks = self._blocks  # as heavy as when they came: whole rows forget nothing bit by bit
        if blocks and new.begin < blocks[-1].begin + LENGTH:
            blocks[-1] = self._aged(blocks[-1], new.time).plus(new)
        else:
            blocks.append(new)
        if len(blocks) > MOST_BLOCKS:
            least = _smallest_pair(self.at(new.time)[:-1])
            earlier, later = blocks[least : least + 2]
            blocks[least : least + 2] = [self._aged(earlier, later.time).plus(later)]

    def at(self, time: float) -> list[Block]:
        """The blocks with the weights that they have at an instant."""
        return [self._aged(each, time) for each in self._blocks]

    def since(self, time: float) -> list[Block]:
        """The blocks that begin at an instant or later."""
        return [each for each in self._blocks if each.begin >= time]

    def _aged(self, block: Block, time: float) -> Block:
        """A block with the weight that it has at an instant."""
        if self._forgetting is None:
            return block
        weight = math.exp(-max(time - block.time, 0.0) / self._forgetting)
        return replace(block.scaled(weight), time=time)

    def clear(self) -> None:
        """Forget all of them."""
        self._blocks = []

    def recall(self, blocks: Sequence[Block]) -> None:
        """Go on from blocks of another run."""
        self._blocks = list(blocks)

    def begin_anew(self) -> None:
        """Begin another time axis."""
        latest = self._blocks[-1].time if self._blocks else 0.0
        self._blocks = [replace(each, begin=-LENGTH, time=0.0) for each in self.at(latest)]

    def __len__(self) -> int:
        return len(self._blocks)


def fewer(blocks: Sequence[Block], most: int) -> list[Block]:
    """At most so many blocks; the neighbours with the fewest rows are joined."""
    found = list(blocks)
    while len(found) > most:
        least = _smallest_pair(found)
        found[least : least + 2] = [found[least].plus(found[least + 1])]
    return found


def _smallest_pair(blocks: Sequence[Block]) -> int:
    """The first of the two neighbours with the fewest rows."""
    pairs = itertools.pairwise(each.rows for each in blocks)
    return int(np.argmin([one + other for one, other in pairs]))


def joined(blocks: Sequence[Block]) -> Grams:
    """All blocks as one sum by block."""
    parts = [each.grams for each in blocks]
    sums = tuple(np.concatenate(own) for own in zip(*(p.sums for p in parts), strict=True))
    return replace(parts[0], sums=sums, counts=np.concatenate([p.counts for p in parts]))


def without_columns(blocks: Sequence[Block], columns: IndexArray) -> list[Block]:
    """Return what rows tell of other columns whatever the factors of these were.

    Of each kind of rows these are regressed out of what else is in them, torque included, so that
    what is left is independent of them and as uncertain as not knowing them makes it. Noise is
    regressed out with it, and the rows count for so many fewer: else a kind of few rows, nothing of
    which is left, would seem to have no noise.
    """
    if not blocks:
        return []
    removed, kept = [], []
    total = joined(blocks)
    counts = total.counts.sum(axis=0)
    for support, own, count in zip(total.support, total.sums, counts, strict=True):
        inner = own.sum(axis=0)
        gone = np.isin(np.append(support, -1), columns)
        size = np.sqrt(np.maximum(np.diag(inner), 1e-300))
        scaled = inner / np.outer(size, size)
        inside = scaled[np.ix_(gone, gone)]
        rest = np.linalg.pinv(inside, _OPEN, hermitian=True)
        less = np.diag(np.where(gone, 0.0, 1.0))
        less[np.ix_(gone, ~gone)] = -rest @ scaled[np.ix_(gone, ~gone)]
        removed.append(less / size[:, None] * size)
        lost = np.count_nonzero(np.linalg.eigvalsh(inside) > _OPEN) / INDEPENDENT
        kept.append(max(1.0 - lost / max(count, 1), 0.0))
    return [
        replace(
            each,
            grams=replace(
                each.grams,
                sums=tuple(a.T @ own @ a for a, own in zip(removed, each.grams.sums, strict=True)),
                counts=np.round(each.grams.counts * kept).astype(np.int64),
            ),
        )
        for each in blocks
    ]


def explained_share(
    grams: Grams, matrix: FloatArray, theta: FloatArray, weights: FloatArray
) -> float:
    """Share of the weighted squared residual that other values of the parameters would explain.

    ``matrix`` leads from parameters, (p,), to columns, (p, k); each degree of freedom has a weight.
    """
    ones = np.ones(len(weights))
    total = float((grams.squares(theta).sum(axis=0) * weights).sum())
    normal, plain = grams.normal(weights, ones)
    inner, slope = matrix.T @ normal @ matrix, matrix.T @ (plain - normal @ theta)
    gained = float(slope @ np.linalg.lstsq(inner, slope, rcond=1e-9)[0])
    return gained / total if total > 0.0 else 0.0
