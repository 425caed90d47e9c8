# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a robot while it moves: messages in, an estimate ten times a second."""

from __future__ import annotations

from sysid_ros.live_estimation.bag_estimates import estimates_of_bag
from sysid_ros.live_estimation.estimate_table import EstimateTable
from sysid_ros.live_estimation.live_estimator import PERIOD, LiveEstimate, LiveEstimator
from sysid_ros.live_estimation.sufficiency import (
    PRECISION,
    LiveSufficiency,
    Sufficiency,
    prepare,
    sufficiency_of,
)
