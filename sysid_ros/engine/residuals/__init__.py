# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Comparison of simulated with measured signals: corrections, scales, differences."""

from __future__ import annotations

from sysid_ros.engine.residuals.comparison_frame import (
    SignalCorrection,
    correct_alike,
    same_signals,
)
from sysid_ros.engine.residuals.discrepancy import prepared
from sysid_ros.engine.residuals.prepared_comparison import (
    DIVERGED,
    Compared,
    PreparedComparison,
    against_together,
)
from sysid_ros.engine.residuals.residual_options import (
    BuildModelFn,
    CustomRolloutFn,
    ModifyResidualFn,
    ResidualOptions,
)
from sysid_ros.engine.residuals.signal_modifier import (
    apply_bias,
    apply_delay,
    apply_delayed_ts_window,
    apply_gain,
    apply_resample_and_delay,
    get_sensor_indices,
    normalize_residual,
    weighted_diff,
)
from sysid_ros.engine.residuals.signal_settings import (
    UNCHANGED,
    SignalSettings,
    signal_settings,
    with_declared_signals,
)
from sysid_ros.engine.residuals.signal_transform import SignalTransform
