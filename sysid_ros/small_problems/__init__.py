# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Small numerical problems that commands meet at every start.

SciPy solves all of them, but loading its parts takes half a second.
"""

from __future__ import annotations

from sysid_ros.small_problems.assignment import least_assignment
from sysid_ros.small_problems.non_negative import non_negative_least_squares
from sysid_ros.small_problems.quantiles import normal_quantiles, student_quantile

__all__ = [
    "least_assignment",
    "non_negative_least_squares",
    "normal_quantiles",
    "student_quantile",
]
