# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of inverse dynamics: the regressor of a model, filtered and summed by block."""

from __future__ import annotations

from sysid_ros.engine.regressor.columns import DEFAULT_KINDS, DELAY, Columns, columns_of
from sysid_ros.engine.regressor.filtering import (
    INDEPENDENT,
    Filters,
    RowGrid,
    SmoothStretch,
    choose_filters,
    coordinate_groups,
    row_weights,
    smooth,
    thin,
)
from sysid_ros.engine.regressor.friction_laws import LAW_KINDS, FrictionLaws
from sysid_ros.engine.regressor.gram import (
    WEIGHT,
    BlockedRows,
    Grams,
    row_counts,
    sum_grams,
    sum_joined,
)
from sysid_ros.engine.regressor.held_set_points import (
    HeldSetPoints,
    given_set_points,
    held_set_points,
)
from sysid_ros.engine.regressor.regressor import Motion, Regressor, mujoco_torque
from sysid_ros.engine.regressor.regressor_tables import (
    SHARP,
    friction_of,
    friction_signs,
    sharp_friction,
)
from sysid_ros.engine.regressor.reversals import row_classes, slow_speeds, sure_kinds
from sysid_ros.engine.regressor.smoothing_kernel import HALF_LENGTH
from sysid_ros.engine.regressor.torque_delay import ShiftedGrams, delay_nodes, delayed, sum_shifted
from sysid_ros.engine.regressor.torque_recording import (
    Recording,
    Stretch,
    all_stretches,
    stretches_of,
)
