# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The size of a repair that leaves least, about the best of a few that were tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import scipy

_STEPS = 9  # sizes that are tried


def least_about(
    best: float, sizes: Sequence[float], loss: Callable[[float], float], *, by_ratio: bool
) -> None:
    """Search between the neighbours of a size; the loss is told every size that is tried.

    Args:
      best: The best so far.
      sizes: All that were tried, no change at all among them.
      loss: What a size leaves.
      by_ratio: Whether sizes are factors.
    """
    places = sorted(sizes)
    place = places.index(best)
    ends = [places[min(max(place + step, 0), len(places) - 1)] for step in (-1, 1)]
    low, high = (math.log(end) for end in ends) if by_ratio else ends
    scipy.optimize.minimize_scalar(
        lambda one: loss(math.exp(one) if by_ratio else float(one)),
        bounds=(low, high), method="bounded", options={"maxiter": _STEPS, "xatol": 1e-3},
    )  # fmt: skip
