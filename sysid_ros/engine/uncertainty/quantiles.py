# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quantiles of Student's distribution."""

from __future__ import annotations

import scipy


def student_quantile(dof: float, probability: float) -> float:
    """Return what a number of Student's t distribution stays below with this probability.

    Args:
      dof: Degrees of freedom; infinite for the normal distribution.
      probability: In (0, 1).

    Returns:
      NaN without any degree of freedom.
    """
    return float(scipy.special.stdtrit(dof, probability))
