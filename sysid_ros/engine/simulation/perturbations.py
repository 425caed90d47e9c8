# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The candidates of a Jacobian: one moved in every parameter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.simulation.candidate import Candidate, CandidateBuilder

# Finite-difference step relative to the scale of the unknown: large against the constraint
# solver's early stops, small against curvature.
THETA_STEP = 1e-5


@dataclass(frozen=True)
class Perturbation:
    """One parameter moved by ``step``."""

    candidate: Candidate
    step: float


@dataclass(frozen=True)
class Perturbations:
    """The point and every parameter moved from it.

    Attributes:
      base: The candidate at the point.
      moved: One per free scalar, or per chosen one.
    """

    base: Candidate
    moved: tuple[Perturbation, ...]


def perturbed(
    builder: CandidateBuilder,
    theta: FloatArray,
    upper: FloatArray,
    scale: FloatArray,
    *,
    step: float = THETA_STEP,
    base: Candidate | None = None,
    components: Iterable[int] | None = None,
) -> Perturbations:
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
    moved = []
    for j in range(theta.size) if components is None else components:
        change = step * scale[j]
        if theta[j] + change > upper[j]:
            change = -change
        point = theta.copy()
        point[j] += change
        moved.append(Perturbation(builder.build(point, [base]), change))
    return Perturbations(base, tuple(moved))
