# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Long lists of work in parts that fit the memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from sysid_ros.arrays import IndexArray


def portions(sizes: Iterable[int], limit: int) -> Iterator[slice]:
    """Split a list of items of these sizes into parts, each ending where it passes a limit."""
    first = last = size = 0
    for last, each in enumerate(sizes, start=1):
        size += each
        if size > limit:
            yield slice(first, last)
            first, size = last, 0
    if last > first:
        yield slice(first, last)


def even_portions(ends: IndexArray, size: float) -> list[slice]:
    """Consecutive runs in parts of about one size, given where each run ends, (n,)."""
    inner = np.searchsorted(ends, np.arange(size, ends[-1], size), side="right")
    edges = np.unique([0, *inner, len(ends)]).tolist()
    return [slice(first, last) for first, last in itertools.pairwise(edges)]
