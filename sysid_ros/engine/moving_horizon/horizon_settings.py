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
    """The span that an estimate looks back over."""

    length: float = 10.0  # s of the latest windows that are simulated anew when the estimate moves
    # s after which what lies before the horizon counts by 1/e; ``None`` forgets nothing
    forgetting: float | None = None
    # s of one update that a search may take; it goes on in the next, and the estimate rests
    # meanwhile. One evaluation is made at any rate
    search_time: float = math.inf
    # whether torque that is expected is kept, to be shown beside what is measured
    traced: bool = False


@dataclass(frozen=True)
class HorizonEstimate:
    """The parameters at one instant."""

    # instant of the latest sample that the estimate contains, s on the recording's axis
    time: float
    parameters: tuple[ParameterEstimate, ...]  # values with standard errors and flags
    covariance: FloatArray  # of the values, (p, p); NaN where nothing is claimed
    scales: FloatArray  # A typical magnitude of each parameter, (p,)
    # whether there are enough windows to see how they scatter; before, intervals are wide, and
    # there are none from fewer than three
    settled: bool
    undetermined: tuple[str, ...]  # combinations that the data leaves open, one sentence each
    unexplained: tuple[str, ...]  # signals that the model does not explain, one sentence each
    windows: int  # how many windows were used so far
    noise: Mapping[str, float]  # standard deviation of every signal, in its unit
    simulated: int  # how many windows were simulated for this estimate
    # how many windows were left out so far, because there was no time for them
    thinned: float = 0.0
    # whether the optimum is being searched for, so that the values rest meanwhile
    searching: bool = False
    bodies: tuple[BodyFinding, ...] = ()  # whose inertia torque tells
    # covariances of each one's mass, centre of mass and inertia about it, xx xy xz yy yz zz, (10,
    # 10)
    spreads: tuple[FloatArray, ...] = ()
    # instant before which nothing counts any more, because a load was taken up or put down, s;
    # ``None`` where that was not seen
    changed: float | None = None
    # what of the model torque contradicts all the time, one sentence each
    wrong: tuple[str, ...] = ()
