# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The noise of a recorded signal, told from the signal itself."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray


def noise_of(times: FloatArray, values: FloatArray) -> float:
    """Estimate a standard deviation from what a cubic through four neighbours leaves.

    Args:
      times: Instants (n,), which may be uneven.
      values: Samples of a motion, (n,).
    """
    if len(values) < 8:
        return 0.0
    near = [np.roll(times, shift)[2:-2] for shift in (2, 1, -1, -2)]
    left, weights = values[2:-2].copy(), np.ones(len(values) - 4)
    for k, shift in enumerate((2, 1, -1, -2)):
        others = [one for i, one in enumerate(near) if i != k]
        share = np.prod([(times[2:-2] - one) / (near[k] - one) for one in others], axis=0)
        left -= share * np.roll(values, shift)[2:-2]
        weights += share**2
    return float(np.median(np.abs(left) / np.sqrt(weights)) / 0.6745)
