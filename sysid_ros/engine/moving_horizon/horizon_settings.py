# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The settings of an estimate that follows a robot while it moves, and the estimate itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import BodyFinding
from sysid_ros.engine.uncertainty import ParameterEstimate


@dataclass(frozen=True)
class HorizonSettings:
    """The span that an estimate looks back over.

    Attributes:
      length: s of the latest windows that are simulated anew when the estimate moves.
      forgetting: s after which what lies before the horizon counts by 1/e; ``None`` forgets
        nothing.
      search_time: s of one update that a search may take; it goes on in the next, and the estimate
        rests meanwhile. One evaluation is made at any rate.
      traced: Whether torque that is expected is kept, to be shown beside what is measured.
    """

    length: float = 10.0
    forgetting: float | None = None
    search_time: float = math.inf
    traced: bool = False


@dataclass(frozen=True)
class HorizonEstimate:
    """The parameters at one instant.

    Attributes:
      time: Instant of the latest sample that the estimate contains, s on the recording's axis.
      parameters: Values with standard errors and flags.
      covariance: Of the values, (p, p); NaN where nothing is claimed.
      scales: A typical magnitude of each parameter, (p,).
      settled: Whether there are enough windows to see how they scatter; before, intervals are wide,
        and there are none from fewer than three.
      undetermined: Combinations that the data leaves open, one sentence each.
      unexplained: Signals that the model does not explain, one sentence each.
      windows: How many windows were used so far.
      noise: Standard deviation of every signal, in its unit.
      simulated: How many windows were simulated for this estimate.
      thinned: How many windows were left out so far, because there was no time for them.
      searching: Whether the optimum is being searched for, so that the values rest meanwhile.
      bodies: Whose inertia torque tells.
      spreads: Covariances of each one's mass, centre of mass and inertia about it, xx xy xz yy yz
        zz, (10, 10).
      changed: Instant before which nothing counts any more, because a load was taken up or put
        down, s; ``None`` where that was not seen.
      wrong: What of the model torque contradicts all the time, one sentence each.
    """

    time: float
    parameters: tuple[ParameterEstimate, ...]
    covariance: FloatArray
    scales: FloatArray
    settled: bool
    undetermined: tuple[str, ...]
    unexplained: tuple[str, ...]
    windows: int
    noise: Mapping[str, float]
    simulated: int
    thinned: float = 0.0
    searching: bool = False
    bodies: tuple[BodyFinding, ...] = ()
    spreads: tuple[FloatArray, ...] = ()
    changed: float | None = None
    wrong: tuple[str, ...] = ()
