# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The noise of a recorded signal, told from the signal itself."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import density

_SEGMENT = 64  # samples of which spectra are taken
_QUIET = 0.25  # of all frequencies, on which there is nothing but noise
_CLEARLY = 0.7  # of what neighbours tell; of noise alone chance makes it less by a tenth or two


def noise_of(times: FloatArray, values: FloatArray) -> float:
    """Estimate a standard deviation from what a cubic through four neighbours leaves.

    Motion faster than a tenth of the rate leaves more than noise does. It is on some frequencies,
    though, and noise on all: the level of the quietest ones tells it where that is clearly less.

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
    rough = float(np.median(np.abs(left) / np.sqrt(weights)) / 0.6745)
    if len(values) < 2 * _SEGMENT:
        return rough
    # In samples, so that the density's integral up to one half is the variance.
    quiet = float(np.quantile(density(values, 1.0, _SEGMENT)[1][1:], _QUIET))
    level = float(np.sqrt(0.5 * quiet))
    return level if level < _CLEARLY * rough else rough
