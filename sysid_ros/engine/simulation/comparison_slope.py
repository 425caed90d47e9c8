# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The derivative of a comparison: a sparse linear map from simulated rows to residuals."""

from __future__ import annotations

import numpy as np

from sysid_ros.engine.residuals import PreparedComparison
from sysid_ros.engine.signals import SignalMapping
from sysid_ros.engine.simulation.run_batch import ResidualSlope


def comparison_slope(ready: PreparedComparison, sensors: SignalMapping) -> ResidualSlope:
    """Return the derivative of a comparison's residuals by the prediction.

    Args:
      ready: The comparison with the recording; no orientations are compared.
      sensors: The columns of the sensor data, whose rows are equally spaced.

    Returns:
      The derivative by the sensor data of residuals that are flattened as in ``sysid.residual``,
      signal fastest.
    """
    rows, weights = ready.frame.interpolation
    scaled = weights * ready.factors()[:, :, None]
    read = ready.frame.read(sensors)
    columns = np.concatenate([block.columns for block in ready.frame.blocks])
    return ResidualSlope(
        rows.reshape(-1, 4),
        scaled.reshape(-1, 4),
        np.tile(read[columns].astype(np.int64), len(rows)),
    )
