# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bodies that explain new rows while everything else stays as it was estimated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics.estimate import Estimate
from sysid_ros.engine.inverse_dynamics.evidence import equations
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.prior import Prior
from sysid_ros.engine.inverse_dynamics.program import Constraints, solve
from sysid_ros.engine.regressor import Grams


def bodies_alone(
    free: FreeParameters,
    grams: Mapping[str, Grams],
    weights: FloatArray,
    known: Estimate,
    bodies: Collection[int],
) -> FloatArray:
    """Parameters (k,) with the inertia, physically consistent, that explains rows best.

    Args:
      free: The estimated parameters.
      grams: Sums of the rows, by condition.
      weights: Inverse variances of residuals, (kinds,).
      known: What was estimated before; all but the inertia of these bodies stays as it is there.
      bodies: Their ids; the inertia of one of them at least is among the parameters.
    """
    k, dofs = len(free.names), np.zeros(0, dtype=np.intp)
    terms = [term for term in known.prior.bodies if term.body in bodies]
    own = np.any([np.any(term.matrix[:, :k] != 0.0, axis=0) for term in terms], axis=0)
    system = equations(grams, free, weights, known.gains, dofs, known.x, together=True)
    hessian, gradient = system.hessians[0], system.gradients[0]
    size = int(own.sum())
    own_terms = tuple(replace(term, matrix=term.matrix[:, :k][:, own]) for term in terms)
    prior = Prior(own_terms, known.prior.kind, known.prior.spread, np.zeros(size), np.zeros(size))
    found: FloatArray = known.x.copy()
    found[own] = solve(
        hessian[np.ix_(own, own)],
        gradient[own] - hessian[np.ix_(own, ~own)] @ known.x[~own],
        prior,
        Constraints(free.lower[own], free.upper[own]),
    ).x
    return found
