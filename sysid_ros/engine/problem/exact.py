# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives of windows, where numba is there to compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.windows import WindowGroup

if TYPE_CHECKING:
    from sysid_ros.engine.derivatives import Sensitivities


def exact_derivatives(
    group: WindowGroup, rollouts: RolloutPool, upper: FloatArray, scale: FloatArray
) -> Sensitivities | None:
    """The derivatives of a group; ``None`` where numba is not there.

    Args:
      group: Windows of one model.
      rollouts: Where simulations run.
      upper: Upper bounds of the parameters, (p,).
      scale: Their magnitudes, (p,).
    """
    try:  # numba takes half a second to load, and does not run everywhere
        from sysid_ros.engine.derivatives import Sensitivities
    except ImportError:
        return None
    return Sensitivities(group, rollouts, upper, scale)
