# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scores of parameters: the torque they predict for recordings that they were not fitted to."""

from __future__ import annotations

from collections.abc import Sequence

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics.prediction import predict, root_mean_square
from sysid_ros.engine.regressor import Filters, Recording, Regressor, smooth, stretches_of
from sysid_ros.errors import DataError


def torque_rmse(
    regressor: Regressor, recordings: Sequence[Recording], filters: Filters, theta: FloatArray
) -> FloatArray:
    """Root mean square of filtered torque errors, (nv,) N m or N; NaN where none was measured.

    Args:
      regressor: The robot's.
      recordings: Motion and torque, apart from those of the fit.
      filters: Of the fit, so that scores compare.
      theta: All parameters, (p,).

    Raises:
      DataError: No stretch without a gap is longer than the filters.
    """
    model = regressor.model
    cut = [s for i, one in enumerate(recordings) for s in stretches_of(model, one, i)]
    kept = [found for s in cut if (found := smooth(model, s, filters)) is not None]
    if not kept:
        raise DataError("no stretch without a gap is longer than the filters")
    parts = predict(regressor, kept, filters, theta)
    return root_mean_square([one.measured - one.total for one in parts])
