# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The estimated parameters, and how they make up those of each condition.

A *condition* is a set of recordings in which the same parameters hold: a robot of several, or the
robot with a payload. In condition c the regressor's parameters are theta_c = T_c x + fixed_c with
the estimated x, which expresses free, frozen, shared and per-condition parameters at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import INERTIAL
from sysid_ros.engine.inverse_dynamics.payload import absent_columns
from sysid_ros.engine.regressor import Columns

_FRAME = 1e-6  # kg, below which a body is a frame without mass
_ASKED_FOR = ("stiffness", "damping2", "damping3")
_NON_NEGATIVE = (
    "m", "armature", "damping", "damping3", "frictionloss", "stiffness",
    "tendon_armature", "tendon_damping", "tendon_frictionloss",
)  # fmt: skip


@dataclass(frozen=True)
class FreeParameters:
    """The estimated parameters x (k,) of a fit."""

    # (k,); "link_1.Ixx", or "link_1.Ixx@unit_2" where conditions have their own
    names: tuple[str, ...]
    columns: Columns  # the regressor's
    nominal: FloatArray  # (k,) the model's values
    lower: FloatArray  # (k,) bounds
    upper: FloatArray  # (k,) bounds
    matrix: Mapping[str, FloatArray]  # t_c (p, k) by condition
    fixed: Mapping[str, FloatArray]  # fixed_c (p,) by condition
    mean: FloatArray  # (k,) centre of a Gaussian prior, where ``precision`` is positive
    precision: FloatArray  # (k,) of that prior; zero where only the default one holds

    def theta(self, x: FloatArray, condition: str) -> FloatArray:
        """All parameters of a condition, (p,)."""
        return self.matrix[condition] @ x + self.fixed[condition]

    @property
    def conditions(self) -> tuple[str, ...]:
        """Names of the conditions."""
        return tuple(self.matrix)

    def bodies(self) -> list[tuple[str, int]]:
        """Pairs of a condition and a body with a free parameter; each distinct body once."""
        found: dict[bytes, tuple[str, int]] = {}
        for condition, matrix in self.matrix.items():
            for body in self.columns.bodies:
                rows = matrix[self.columns.of_body(body)]
                if np.any(rows):
                    found.setdefault(rows.tobytes() + bytes(str(body), "ascii"), (condition, body))
        return list(found.values())


def free_parameters(
    columns: Columns, *, frozen: Collection[str], conditions: Sequence[str]
) -> FreeParameters:
    """Every parameter that is not frozen, the same in all conditions.

    Args:
      columns: Of the regressor.
      frozen: Names of what keeps its value.
      conditions: Their names; without payload (:mod:`.payload`) its inertia is zero.
    """
    kept = np.isin(columns.names, list(frozen))
    there = {c: np.ones(len(columns), dtype=np.bool_) for c in conditions}
    for condition, own in there.items():
        own[absent_columns(columns, condition)] = False
    chosen = np.flatnonzero(~kept & np.any(list(there.values()), axis=0))
    rows = np.eye(len(columns))[:, chosen]
    return FreeParameters(
        names=tuple(columns.names[i] for i in chosen),
        columns=columns,
        nominal=columns.nominal[chosen],
        lower=np.array([0.0 if columns.kinds[i] in _NON_NEGATIVE else -np.inf for i in chosen]),
        upper=np.full(len(chosen), np.inf),
        matrix={c: rows * own[:, None] for c, own in there.items()},
        fixed={c: np.where(kept & own, columns.nominal, 0.0) for c, own in there.items()},
        mean=columns.nominal[chosen],
        precision=np.zeros(len(chosen)),
    )


def without_effect(columns: Columns) -> tuple[str, ...]:
    """Names that a fit keeps unless it is told otherwise.

    These are springs and polynomial dampings that the model does not have, and bodies without mass,
    which are frames.
    """
    massless = [b for b in columns.bodies if columns.nominal[columns.place[b, "m"]] < _FRAME]
    frames = {columns.place[b, kind] for b in massless for kind in INERTIAL}
    return tuple(
        name
        for i, (name, kind) in enumerate(zip(columns.names, columns.kinds, strict=True))
        if i in frames or (kind in _ASKED_FOR and columns.nominal[i] == 0.0)
    )
