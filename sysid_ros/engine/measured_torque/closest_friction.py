# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The viscous and dry friction that is closest to a friction law, for files that have no more."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy

from sysid_ros.engine.inverse_dynamics import Evidence, InverseDynamicsFit
from sysid_ros.engine.measured_torque.rows import Declared
from sysid_ros.engine.regressor import LAW_KINDS


def closest_friction(
    declared: Declared, evidence: Evidence, fit: InverseDynamicsFit
) -> dict[str, tuple[float, float]]:
    """Damping and frictionloss by joint, with which torque is predicted best without its law.

    Args:
      declared: The parameters.
      evidence: The recordings' sums.
      fit: With the laws; all but friction keeps its values.

    Returns:
      Empty where no joint has a law.
    """
    laws = declared.laws
    if laws is None:
        return {}
    law = np.array([kind in LAW_KINDS for kind in declared.columns.kinds])
    grams = next(iter(evidence.grams.values()))
    theta = np.where(law, 0.0, fit.theta())
    found = {}
    for dof in laws.laws:
        joint = int(declared.model.dof_jntid[dof])
        own = np.array([declared.columns.place[joint, kind] for kind in _PLAIN])
        matrix, side = np.zeros((2, 2)), np.zeros(2)
        for place in np.flatnonzero(grams.dofs == dof):
            support, sums = grams.support[place], grams.sums[place].sum(axis=0)
            at = np.searchsorted(support, own)
            rest = np.where(np.isin(support, own), 0.0, theta[support])
            matrix += fit.weights[place] * sums[np.ix_(at, at)]
            side += fit.weights[place] * (sums[at, -1] - sums[at, :-1] @ rest)
        root = scipy.linalg.sqrtm(matrix + 1e-12 * np.trace(matrix) * np.eye(2)).real
        kv, kc = scipy.optimize.nnls(root, np.linalg.solve(root, side))[0]
        found[declared.model.joint(joint).name] = (float(kv), float(kc))
    return found


_PLAIN = ("damping", "frictionloss")


def friction_notes(plain: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """Say what a model file has in place of friction laws."""
    if not plain:
        return ()
    told = ", ".join(f"{name} {kv:.4g} and {kc:.4g}" for name, (kv, kc) in plain.items())
    return (
        "A model file has viscous and dry friction only. In model.xml stand, in place of the "
        f"friction laws that were identified, damping and frictionloss closest to them: {told}.",
    )
