# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of rows with one column in the place of all whose parameters are not estimated.

With theta = M x + f, only columns in which M is not zero are needed one by one; the torque of all
others is a single column, R f, whose factor is 1. Sums are a fraction as large, and say the same.
What a model may be wrong about (:mod:`.wrong_masses`) has columns besides, whose factors are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements import INERTIAL
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.wrong_masses import Suspects
from sysid_ros.engine.regressor import WEIGHT, Columns

_REST, _SUSPECT, _WEIGHT = "the rest", "suspect", "weight"


@dataclass(frozen=True)
class MergedColumns:
    """One condition's columns, less those that are known."""

    whole: FreeParameters  # the estimated parameters with all columns
    free: FreeParameters  # the same with merged columns
    used: IndexArray  # columns that are kept, (u,)
    matrix: FloatArray  # from merged columns to all of them, (p, u + suspects + 1)
    suspects: Suspects  # what the model may be wrong about, in merged columns

    @classmethod
    def of(cls, free: FreeParameters) -> MergedColumns:
        """Merge the columns of parameters of a single condition."""
        (condition,) = free.conditions
        whole, fixed, suspects = free.matrix[condition], free.fixed[condition], Suspects.of(free)
        used = np.union1d(np.flatnonzero(np.any(whole != 0.0, axis=1)), suspects.own)
        size, more = len(used), len(suspects.bodies)
        matrix = np.zeros((len(whole), size + more + 1))
        matrix[used, range(size)] = 1.0
        matrix[:, size:-1] = suspects.directions
        matrix[:, -1] = fixed
        matrix[used, -1] = 0.0
        merged = replace(
            free,
            columns=_columns(free.columns, used, suspects),
            matrix={condition: np.vstack([whole[used], np.zeros((more + 1, whole.shape[1]))])},
            fixed={condition: np.concatenate([fixed[used], np.zeros(more), [1.0]])},
        )
        own = np.searchsorted(used, suspects.own)
        directions = np.eye(size + more + 1)[:, size:-1]
        suspects = replace(suspects, directions=directions, own=own)
        return cls(free, merged, used, matrix, suspects)

    def theta(self, whole: FloatArray) -> FloatArray:
        """Factors of merged columns, those of a weight included, of all parameters (p,)."""
        nothing = np.zeros(len(self.suspects.bodies))
        besides = np.zeros(len(self.free.columns) - self.matrix.shape[1])
        return np.concatenate([whole[self.used], nothing, [1.0], besides])

    def weighed(self, body: int) -> MergedColumns:
        """The same with the columns of a body's weight alone besides, whose factors are zero."""
        (condition,) = self.free.conditions
        matrix, fixed = self.free.matrix[condition], self.free.fixed[condition]
        columns, none = self.free.columns, np.zeros((WEIGHT, len(self.suspects.bodies)))
        free = replace(
            self.free,
            columns=replace(
                columns,
                names=(*columns.names, *(f"{_WEIGHT}.{kind}" for kind in INERTIAL[:WEIGHT])),
                kinds=(*columns.kinds, *[_WEIGHT] * WEIGHT),
                owners=(*columns.owners, *[body] * WEIGHT),
                nominal=np.append(columns.nominal, np.zeros(WEIGHT)),
            ),
            matrix={condition: np.vstack([matrix, np.zeros((WEIGHT, matrix.shape[1]))])},
            fixed={condition: np.append(fixed, np.zeros(WEIGHT))},
        )
        directions = np.vstack([self.suspects.directions, none])
        suspects = replace(self.suspects, directions=directions)
        return replace(self, free=free, suspects=suspects)


def _columns(whole: Columns, used: IndexArray, suspects: Suspects) -> Columns:
    wrong = [f"{_SUSPECT} {body}" for body in suspects.bodies]
    kinds = (*(whole.kinds[c] for c in used), *(_SUSPECT for _ in wrong), _REST)
    owners = (*(whole.owners[c] for c in used), *suspects.bodies, 0)
    return Columns(
        (*(whole.names[c] for c in used), *wrong, _REST),
        kinds,
        owners,
        np.concatenate([whole.nominal[used], np.zeros(len(wrong)), [1.0]]),
        {pair: i for i, pair in enumerate(zip(owners, kinds, strict=True))},
    )
