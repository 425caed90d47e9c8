# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The friction law, as simulations run it, and its derivatives.

See :mod:`sysid_ros.engine.friction.models` for the terms and their names. The eleven numbers of a
row are those of ``STORED`` in :mod:`sysid_ros.engine.friction.joint_friction`, in its order.
"""

from __future__ import annotations

import math
from typing import Any

from sysid_ros.engine.compiled.decorators import compiled

TERMS = 11


@compiled
def load_dependent(row: Any, first: int, v: float, tm: float, te: float) -> Any:
    """All of the budget but Kv |v| and Kc, from the numbers that begin at ``row[first]``."""
    speed, alpha = row[first + 1], row[first + 2]
    load = abs(tm - te)
    moving = row[first + 3] * load + abs(row[first + 5] * tm - row[first + 6] * te)
    resting = row[first] + row[first + 4] * load
    resting += abs(row[first + 7] * tm - row[first + 8] * te)
    if tm * te < 0.0:
        resting += row[first + 10] * te * te if abs(tm) > abs(te) else row[first + 9] * tm * tm
    return moving + math.exp(-(abs(v / speed) ** alpha)) * resting


@compiled
def load_dependent_slopes(
    row: Any, v: float, tm: float, te: float, by_term: Any
) -> tuple[float, float, float]:
    """Derivatives of :func:`load_dependent` with the row at the beginning of ``row``.

    Args:
      row: The joint's numbers, (TERMS,).
      v: Velocity, rad/s.
      tm: Torque of the motor, N m.
      te: External torque, N m.
      by_term: Written: the derivatives by the row's numbers, (TERMS,).

    Returns:
      The derivatives by v, tm and te.
    """
    speed, alpha = row[1], row[2]
    across, straight, inclined = (
        _sign(tm - te), _sign(row[5] * tm - row[6] * te), _sign(row[7] * tm - row[8] * te),
    )  # fmt: skip
    load, directed = abs(tm - te), abs(row[7] * tm - row[8] * te)
    by_external, by_motor = 0.0, 0.0
    if tm * te < 0.0 and abs(tm) > abs(te):
        by_external = 1.0
    elif tm * te < 0.0:
        by_motor = 1.0
    quadratic = by_motor * row[9] * tm * tm + by_external * row[10] * te * te
    resting = row[0] + row[4] * load + directed + quadratic
    size = abs(v / speed)
    power = size**alpha
    stribeck = math.exp(-power)
    by_size = 0.0 if size == 0.0 else -alpha * power / size * stribeck * resting
    by_term[0] = stribeck
    by_term[1] = -by_size * size / speed
    by_term[2] = 0.0 if size == 0.0 else -math.log(size) * power * stribeck * resting
    by_term[3], by_term[4] = load, stribeck * load
    by_term[5], by_term[6] = straight * tm, -straight * te
    by_term[7], by_term[8] = stribeck * inclined * tm, -stribeck * inclined * te
    by_term[9], by_term[10] = stribeck * by_motor * tm * tm, stribeck * by_external * te * te
    at_rest = row[4] * across + inclined * row[7] + 2.0 * by_motor * row[9] * tm
    external = -row[4] * across - inclined * row[8] + 2.0 * by_external * row[10] * te
    return (
        by_size * _sign(v) / speed,
        row[3] * across + straight * row[5] + stribeck * at_rest,
        -row[3] * across - straight * row[6] + stribeck * external,
    )


@compiled
def _sign(x: float) -> float:
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)
