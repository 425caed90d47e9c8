# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The estimated parameters, and how they make up those of each condition.

A *condition* is a set of recordings in which the same parameters hold: a robot of several, or the
robot with a payload. In condition c the regressor's parameters are theta_c = T_c x + fixed_c with
the estimated x, which expresses free, frozen, shared and per-condition parameters at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.elements import INERTIAL
from sysid_ros.engine.regressor import Columns
from sysid_ros.errors import ExperimentError

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
    # (k,) centre of a Gaussian prior, where ``precision`` is positive
    mean: FloatArray | None = None
    # (k,) of that prior; zero where only the default one holds. ``None`` for nowhere
    precision: FloatArray | None = None

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
    columns: Columns,
    *,
    free: Sequence[str] = ("*",),
    frozen: Sequence[str] = (),
    values: Mapping[str, float] | None = None,
    shared: Sequence[Sequence[str]] = (),
    bounds: Mapping[str, tuple[float, float]] | None = None,
    conditions: Sequence[str] = ("",),
    per_condition: Sequence[str] = (),
    absent: Mapping[str, Collection[str]] | None = None,
) -> FreeParameters:
    """Say which parameters a fit estimates.

    Patterns are those of shell file names: "link_*.m", "*.frictionloss".

    Args:
      columns: Of the regressor.
      free: Patterns of what is estimated.
      frozen: Patterns of what keeps its value, stronger than ``free``.
      values: Values that replace the model's, by name.
      shared: Groups of names that have one common value.
      bounds: By pattern; masses, armatures, dampings, frictions and springs are never negative.
      conditions: Names of the conditions.
      per_condition: Patterns of what each condition has for itself.
      absent: For a condition the bodies that are not there (a payload), whose inertia is zero.

    Raises:
      ExperimentError: A pattern matches no parameter.
    """
    nominal = _valued(columns, values or {})
    chosen = _matches(columns, free) & ~_matches(columns, frozen)
    own = _matches(columns, per_condition)
    gone = {c: _of_bodies(columns, bodies) for c, bodies in (absent or {}).items()}
    leader = _leaders(columns, shared)
    place: dict[tuple[int, str], int] = {}
    matrix = {c: np.zeros((len(columns), 0)) for c in conditions}
    fixed = {c: np.where(chosen, 0.0, nominal) for c in conditions}
    entries: list[tuple[int, int, str]] = []
    for column in np.flatnonzero(chosen).tolist():
        for condition in conditions:
            if gone.get(condition, np.zeros(len(columns), bool))[column]:
                continue
            key = (int(leader[column]), condition if own[column] else "")
            entries.append((column, place.setdefault(key, len(place)), condition))
    for condition, missing in gone.items():
        fixed[condition] = np.where(missing, 0.0, fixed[condition])
    matrix = {c: np.zeros((len(columns), len(place))) for c in conditions}
    for column, x, condition in entries:
        matrix[condition][column, x] = 1.0
    leaders = [column for column, _ in place]
    names = [columns.names[c] + (f"@{condition}" if condition else "") for c, condition in place]
    lower, upper = _limits(columns, leaders, bounds or {})
    return FreeParameters(tuple(names), columns, nominal[leaders], lower, upper, matrix, fixed)


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


def _matches(columns: Columns, patterns: Sequence[str]) -> BoolArray:
    found = np.zeros(len(columns), dtype=np.bool_)
    for pattern in patterns:
        hits = [fnmatchcase(name, pattern) for name in columns.names]
        if not any(hits):
            near = difflib.get_close_matches(pattern, columns.names, 3)
            raise ExperimentError(
                f"no parameter of inverse dynamics is called {pattern!r}; "
                f"near are {', '.join(near or columns.names[:3])}"
            )
        found |= hits
    return found


def _valued(columns: Columns, values: Mapping[str, float]) -> FloatArray:
    nominal: FloatArray = columns.nominal.copy()
    for name, value in values.items():
        nominal[_matches(columns, [name])] = value
    return nominal


def _of_bodies(columns: Columns, bodies: Collection[str]) -> BoolArray:
    return _matches(columns, [f"{body}.{kind}" for body in bodies for kind in INERTIAL])


def _leaders(columns: Columns, shared: Sequence[Sequence[str]]) -> IndexArray:
    """For each column the one whose value it has."""
    leader = np.arange(len(columns))
    for group in shared:
        members = np.flatnonzero(_matches(columns, group))
        leader[members] = members[0]
    return leader


def _limits(
    columns: Columns, leaders: Sequence[int], bounds: Mapping[str, tuple[float, float]]
) -> tuple[FloatArray, FloatArray]:
    lower = np.array([0.0 if columns.kinds[c] in _NON_NEGATIVE else -np.inf for c in leaders])
    upper = np.full(len(leaders), np.inf)
    for pattern, (low, high) in bounds.items():
        hit = _matches(columns, [pattern])[leaders] if leaders else np.zeros(0, bool)
        lower, upper = np.where(hit, low, lower), np.where(hit, high, upper)
        if low > high:
            raise ExperimentError(f"bounds of {pattern!r}: {low:g} is above {high:g}")
    return lower, upper
