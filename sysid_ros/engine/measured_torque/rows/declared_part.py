# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The share of one declared parameter in the estimated ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import Columns, FreeParameters, absent_columns
from sysid_ros.engine.measured_torque.rows.parameter_kinds import NEED_MOTION

_HOLD = 1e-6  # of their size, by which they may stray


@dataclass(frozen=True)
class Part:
    """One parameter's share of the estimated ones, (k,) or (p, k) each."""

    names: tuple[str, ...]
    x: FloatArray
    nominal: FloatArray
    lower: FloatArray
    upper: FloatArray
    matrix: Mapping[str, FloatArray]
    mean: FloatArray
    precision: FloatArray


def held_if_still(part: Part, columns: Columns, still: Collection[int]) -> Part:
    """A part whose parameters stay where they are if nothing moves that they belong to."""
    of_joints = [
        kind in NEED_MOTION and owner in still
        for kind, owner in zip(columns.kinds, columns.owners, strict=True)
    ]
    touched = np.any([block != 0.0 for block in part.matrix.values()], axis=0)
    only = np.any(touched, axis=0) & ~np.any(touched[~np.array(of_joints)], axis=0)
    if not only.any():
        return part
    sharp = 1.0 / (_HOLD * np.maximum(np.abs(part.nominal), 1e-3)) ** 2
    return replace(
        part,
        mean=np.where(only, part.nominal, part.mean),
        precision=np.where(only, sharp, part.precision),
    )


def joined_parts(
    parts: Sequence[Part], columns: Columns, theta: Mapping[str, FloatArray]
) -> FreeParameters:
    """All parts side by side.

    Args:
      parts: In the order of the declared parameters.
      columns: The regressor's.
      theta: All parameters where the parts stand, (p,) by condition.
    """
    size = sum(len(part.names) for part in parts)
    matrix = {robot: np.zeros((len(columns), size)) for robot in theta}
    first = 0
    for part in parts:
        for robot, block in part.matrix.items():
            matrix[robot][:, first : first + len(part.names)] = block
        first += len(part.names)
    x = _joined([part.x for part in parts])
    for condition, own in matrix.items():
        own[absent_columns(columns, condition)] = 0.0
    return FreeParameters(
        names=tuple(name for part in parts for name in part.names),
        columns=columns,
        nominal=_joined([part.nominal for part in parts]),
        lower=_joined([part.lower for part in parts]),
        upper=_joined([part.upper for part in parts]),
        matrix=matrix,
        fixed={robot: own - matrix[robot] @ x for robot, own in theta.items()},
        mean=_joined([part.mean for part in parts]),
        precision=_joined([part.precision for part in parts]),
    )


def _joined(parts: Sequence[FloatArray]) -> FloatArray:
    return np.concatenate(parts) if parts else np.zeros(0)
