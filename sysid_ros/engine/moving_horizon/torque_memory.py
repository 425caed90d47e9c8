# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of a torque horizon as a small file, so that a restart loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.moving_horizon.horizon_memory import Stored
from sysid_ros.engine.moving_horizon.torque_blocks import LENGTH, Block, fewer
from sysid_ros.engine.regressor import Filters, Grams
from sysid_ros.errors import DataError

OTHER_MODEL = "the state is of another model; beginning without it"
# Numbers in a file at most, and blocks: their scatter tells intervals, which takes more than six.
_NUMBERS, _MOST, _LEAST = 100_000, 10, 2


@dataclass(frozen=True)
class KeptBlock:
    """The sums of one block of time."""

    counts: FloatArray  # rows of each kind, (kinds,)
    sums: tuple[FloatArray, ...]  # of each kind, the upper triangle of its matrix


@dataclass(frozen=True)
class TorqueMemory(Stored):
    """All that is known of some parameters from measured torque."""

    names: tuple[str, ...]  # of the scalars, (p,)
    motion: FloatArray  # cut-offs of motion filters, (nq,) Hz
    rows: float  # cut-off of the row filter, Hz
    still: tuple[int, ...]  # numbers of joints that did not move
    blocks: tuple[KeptBlock, ...]  # the sums

    @classmethod
    def of(
        cls, names: Sequence[str], filters: Filters, still: Sequence[int], blocks: Sequence[Block]
    ) -> TorqueMemory:
        """Keep blocks, joined to a few."""
        numbers = sum(np.triu_indices(len(one[0]))[0].size for one in blocks[0].grams.sums)
        most = min(max(_NUMBERS // numbers, _LEAST), _MOST)
        kept = []
        for block in fewer(blocks, most):
            sums = tuple(one[0][np.triu_indices(len(one[0]))] for one in block.grams.sums)
            kept.append(KeptBlock(block.grams.counts[0].astype(np.float64), sums))
        return cls(tuple(names), filters.motion, filters.rows, tuple(still), tuple(kept))

    @property
    def filters(self) -> Filters:
        """The low-passes of its rows."""
        return Filters(self.motion, self.rows, {})

    def restored(self, like: Grams) -> list[Block]:
        """The blocks, at an instant before a recording begins.

        Args:
          like: Sums of the same model and parameters.

        Raises:
          DataError: They are of another model.
        """
        sizes = [len(one[0]) for one in like.sums]
        found = []
        for block in self.blocks:
            lengths = [one.size for one in block.sums]
            if lengths != [size * (size + 1) // 2 for size in sizes]:
                raise DataError(OTHER_MODEL)
            sums = tuple(
                _whole(one, size)[None] for one, size in zip(block.sums, sizes, strict=True)
            )
            counts = np.round(block.counts).astype(np.int64)[None]
            found.append(Block(-LENGTH, 0.0, replace(like, sums=sums, counts=counts)))
        return found

    def check(self) -> None:
        """Refuse cut-offs and blocks that no run writes."""
        if not (self.rows > 0.0 and self.motion.size and np.all(self.motion > 0.0)):
            raise ValueError("a cut-off is not positive")
        kinds = {len(block.sums) for block in self.blocks}
        for block in self.blocks:
            if len(kinds) > 1 or block.counts.size != len(block.sums) or np.any(block.counts < 0.0):
                raise ValueError("blocks are not alike")
            if not all(np.isfinite(one).all() for one in (block.counts, *block.sums)):
                raise ValueError("a number is not finite")


def _whole(triangle: FloatArray, size: int) -> FloatArray:
    matrix: FloatArray = np.zeros((size, size))
    matrix[np.triu_indices(size)] = triangle
    return np.asarray(matrix + np.triu(matrix, 1).T)
