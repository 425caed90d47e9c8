# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Units that message fields come in, as multiples of the model's."""

from __future__ import annotations

import math
from collections.abc import Mapping

_DEGREE = math.pi / 180.0
_GRAVITY = 9.80665  # m/s^2, the standard value

UNITS: Mapping[str, float] = {
    "deg": _DEGREE,
    "deg/s": _DEGREE,
    "deg/s^2": _DEGREE,
    "rev": 2.0 * math.pi,
    "rpm": 2.0 * math.pi / 60.0,
    "mm": 1e-3,
    "mm/s": 1e-3,
    "cm": 1e-2,
    "g": _GRAVITY,  # an acceleration, as cheap IMUs report it
    "mg": 1e-3 * _GRAVITY,
    "mN": 1e-3,
    "kN": 1e3,
    "kgf": _GRAVITY,
    "mNm": 1e-3,
    "Ncm": 1e-2,
    "kgf cm": 1e-2 * _GRAVITY,
    "mA": 1e-3,
    "ms": 1e-3,
    "percent": 1e-2,
}
