# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The directions of a Jacobian: one moved candidate per parameter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.candidate import Candidate, CandidateBuilder
from sysid_ros.sysid.window_simulation import WindowSimulation

FloatArray = npt.NDArray[np.float64]

# Finite-difference steps relative to the scale of the unknown: large against the constraint
# solver's early stops, small against curvature.
THETA_STEP = 1e-5
START_STEP = 1e-5


@dataclass(frozen=True)
class Column:
    """One parameter moved by ``step``."""

    candidate: Candidate
    step: float


@dataclass(frozen=True)
class ParameterColumns:
    """The point and every parameter moved from it.

    Attributes:
      base: The candidate at the point.
      moved: One column per free scalar, or per chosen one.
    """

    base: Candidate
    moved: tuple[Column, ...]


@dataclass(frozen=True)
class WindowJacobian:
    """One window's residual and its derivatives.

    Attributes:
      residual: Predicted minus measured in the signals' units, (m,).
      jacobian: By the parameters and by the deviation of the start, (m, p + n_start).
    """

    residual: FloatArray
    jacobian: FloatArray


@dataclass(frozen=True)
class ModelGroup:
    """All windows simulated with one model."""

    builder: CandidateBuilder
    windows: tuple[WindowSimulation, ...]


def parameter_columns(
    builder: CandidateBuilder,
    theta: FloatArray,
    upper: FloatArray,
    scale: FloatArray,
    *,
    step: float = THETA_STEP,
    base: Candidate | None = None,
    components: Iterable[int] | None = None,
) -> ParameterColumns:
    """Move parameters by a small step each, inside their bounds.

    Args:
      builder: Makes candidates.
      theta: The point, (p,).
      upper: Upper bounds, (p,).
      scale: A typical magnitude per parameter, (p,).
      step: Relative to the scale.
      base: The candidate at the point, where it was built already.
      components: Which parameters to move; all by default.
    """
    base = base or builder.build(theta)
    columns = []
    for j in range(theta.size) if components is None else components:
        change = step * scale[j]
        if theta[j] + change > upper[j]:
            change = -change
        moved = theta.copy()
        moved[j] += change
        columns.append(Column(builder.perturbed(moved, j, base), change))
    return ParameterColumns(base, tuple(columns))


def start_sensors(windows: Sequence[WindowSimulation]) -> set[str]:
    """Sensors whose settings move a measured start."""
    return {name for window in windows for name in window.start_sensors}
