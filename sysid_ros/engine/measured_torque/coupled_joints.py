# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signs that a motor turns with two joints, as in many wrists, which the model does not know."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import TorquePrediction
from sysid_ros.engine.measured_torque.torque_problem import TorqueProblem

_SHARE = 0.5  # of what is left of a joint's torque that follows another joint's velocity
_WORTH = 0.02  # of the torque's variance, that this is at the least
_SHARP = 0.05  # rad/s over which dry friction changes its sign
_FEWEST = 100  # rows
_SCALAR = int(mujoco.mjtJoint.mjJNT_HINGE)


def couplings(problem: TorqueProblem, predictions: Sequence[TorquePrediction]) -> tuple[str, ...]:
    """Sentences on joints whose unexplained torque follows the motion of a neighbouring joint.

    Args:
      problem: What was fitted.
      predictions: Of its recordings.
    """
    model = problem.declared.model
    dofs = sorted(d for d in problem.sources.known if _kind(model, d) == _SCALAR)
    said = []
    for one, other in itertools.pairwise(dofs):
        if _coupled(model, one, other):
            continue
        shares = [_share(predictions, a, b) for a, b in ((one, other), (other, one))]
        if max(shares) > _SHARE:
            first, second = (model.joint(int(model.dof_jntid[d])).name for d in (one, other))
            said.append(
                f"{100 * max(shares):.0f} % of the unexplained torque of {first} or {second} "
                "follows the velocity of the other: if one motor turns with both, as in many "
                "wrists, give the model a fixed tendon over both joints, with armature, damping "
                "and frictionloss."
            )
    return tuple(said)


def _share(predictions: Sequence[TorquePrediction], dof: int, other: int) -> float:
    """Share of a degree of freedom's residual that friction on another's velocity explains."""
    residual = np.concatenate([p.measured[:, dof] - p.total[:, dof] for p in predictions])
    torque = np.concatenate([p.measured[:, dof] for p in predictions])
    velocity = np.concatenate([p.velocity[:, other] for p in predictions])
    known = np.isfinite(residual)
    if int(known.sum()) < _FEWEST:
        return 0.0
    rows: FloatArray = np.column_stack(
        [velocity[known], np.tanh(velocity[known] / _SHARP), np.ones(int(known.sum()))]
    )
    left = residual[known] - residual[known].mean()
    explained = rows @ np.linalg.lstsq(rows, left, rcond=None)[0]
    if np.var(explained) < _WORTH * np.var(torque[known]):
        return 0.0
    return float(np.var(explained) / np.var(left))


def _kind(model: mujoco.MjModel, dof: int) -> int:
    return int(model.jnt_type[int(model.dof_jntid[dof])])


def _coupled(model: mujoco.MjModel, one: int, other: int) -> bool:
    """True if a fixed tendon joins them already."""
    joints = {int(model.dof_jntid[one]), int(model.dof_jntid[other])}
    for t in range(model.ntendon):
        first = int(model.tendon_adr[t])
        wraps = range(first, first + int(model.tendon_num[t]))
        if joints <= {int(model.wrap_objid[w]) for w in wraps}:
            return True
    return False
