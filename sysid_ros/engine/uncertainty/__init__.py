# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Uncertainty of estimates: noise, covariance, intervals, what the data leaves open."""

from __future__ import annotations

from sysid_ros.engine.uncertainty.blocks import (
    BLOCKS,
    block_numbers,
    needs_blocks,
    wanted_blocks,
)
from sysid_ros.engine.uncertainty.changes_in_time import Change, ChangedLoad, change_in_time
from sysid_ros.engine.uncertainty.covariance import (
    UNRESOLVED,
    Covariance,
    covariance,
    enough_clusters,
    no_covariance,
)
from sysid_ros.engine.uncertainty.drifts import Drift, drifts
from sysid_ros.engine.uncertainty.estimates import estimates, uncertainty_of
from sysid_ros.engine.uncertainty.identifiability import describe_open_directions
from sysid_ros.engine.uncertainty.influence import recording_scatter
from sysid_ros.engine.uncertainty.innovations import change_by_innovations
from sysid_ros.engine.uncertainty.joints_in_turn import JointsInTurn, joints_in_turn
from sysid_ros.engine.uncertainty.late_inputs import LateInputs, late_inputs, read_apart
from sysid_ros.engine.uncertainty.late_signals import Lateness
from sysid_ros.engine.uncertainty.noise_levels import (
    estimated_noise,
    first_noise,
    is_known,
    sensor_of,
)
from sysid_ros.engine.uncertainty.parameter_estimate import (
    ParameterEstimate,
    student_quantile,
    unfitted,
)
from sysid_ros.engine.uncertainty.rank import WINDOW_DIFFERENCES, Directions, directions_of_gram
from sysid_ros.engine.uncertainty.residual_size import ResidualSize, misfit, residual_sizes
from sysid_ros.engine.uncertainty.step_changes import (
    BY_CHANCE,
    StepChange,
    beyond_chance,
    step_change,
)
from sysid_ros.engine.uncertainty.white_noise_intervals import calculate_intervals
