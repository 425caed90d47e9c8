# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of measured torque: what is measured, and the columns of what may be found in it."""

from __future__ import annotations

from sysid_ros.engine.measured_torque.rows.declared_columns import Declared
from sysid_ros.engine.measured_torque.rows.inertia_columns import ten_of_theta
from sysid_ros.engine.measured_torque.rows.parameter_kinds import is_place, key_of, speaks_of_torque
from sysid_ros.engine.measured_torque.rows.reference_ripple import without_ripple
from sysid_ros.engine.measured_torque.rows.torque_estimates import (
    Regression,
    open_sentences,
    torque_estimates,
    value_covariance,
)
from sysid_ros.engine.measured_torque.rows.torque_problem import (
    TorqueProblem,
    about,
    gains_at,
    later_recording,
    regression_settings,
    torque_problem,
    with_creep,
    with_own_law,
)
from sysid_ros.engine.measured_torque.rows.torque_rows import TorqueData, TorqueRows
from sysid_ros.engine.measured_torque.rows.torque_signals import (
    TorqueSignal,
    bear_weight,
    torque_signals,
)
