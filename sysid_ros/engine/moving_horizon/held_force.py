# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A load, told from a force that has its weight and not its inertia: a hand that presses down.

While an arm moves slowly both are the same torque, and only acceleration tells which it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import FreeParameters, bodies_alone
from sysid_ros.engine.measured_torque import TorqueEstimate
from sysid_ros.engine.moving_horizon.growing_torque import GrowingTorque
from sysid_ros.engine.moving_horizon.torque_blocks import Block, joined
from sysid_ros.engine.regressor import INDEPENDENT, WEIGHT

_ERROR = 0.15  # of the inertia that goes with weight, as a share, up to which it tells
_SURE = 3.0  # of these errors, by which it is nearer to one or to none
EITHER = (
    "torque differs as by another load or by a force that presses without inertia; faster motion "
    "tells which"
)


class Cause(Enum):
    """The cause of torque as of another weight."""

    LOAD = "load"
    FORCE = "force"
    EITHER = "either"


def cause_of(
    rows: GrowingTorque, free: FreeParameters, before: TorqueEstimate, told: Sequence[Block]
) -> Cause:
    """Tell whether a load or a force explains rows better.

    Returns:
      A load where none is declared, as nothing is estimated then that a force could be taken for.
    """
    if rows.held is None:
        return Cause.LOAD
    ((condition, _),) = free.matrix.items()
    grams, weights = joined(told), before.weights
    x = bodies_alone(free, {condition: grams}, weights, before.regression, [rows.held])
    normal, plain = grams.normal(weights, before.gains)
    known = rows.theta(before)
    force, more = _weight(normal, plain - normal @ known), free.theta(x, condition) - known
    inertia = more - _weight(normal, normal @ more)  # what no other weight makes up for
    left = plain - normal @ (known + force)
    total = float((grams.squares(known + force, before.gains).sum(axis=0) * weights).sum())
    size, slope = max(float(inertia @ normal @ inertia), 1e-300), float(inertia @ left)
    share = slope / size
    count = int(grams.counts[:, weights > 0.0].sum())
    usual = max((total - share * slope) / max(count, 1), 1.0) / INDEPENDENT
    error = float(np.sqrt(usual / size))
    if error > _ERROR or abs(share - 0.5) < _SURE * error:
        return Cause.EITHER
    return Cause.LOAD if share > 0.5 else Cause.FORCE


def _weight(normal: FloatArray, slope: FloatArray) -> FloatArray:
    """Return factors of columns, none but those of a weight, that explain a slope best, (p,)."""
    own = slice(len(slope) - WEIGHT, None)
    size = np.sqrt(np.maximum(np.diag(normal)[own], 1e-300))
    scaled = normal[own, own] / np.outer(size, size)
    found: FloatArray = np.zeros_like(slope)
    found[own] = np.linalg.lstsq(scaled, slope[own] / size, rcond=1e-9)[0] / size
    return found
