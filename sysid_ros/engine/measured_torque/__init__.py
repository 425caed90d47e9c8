# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits of recorded sequences to measured joint torque, and the choice of a fit's method."""

from __future__ import annotations

from sysid_ros.engine.measured_torque.combined_fit import torque_beside_simulation
from sysid_ros.engine.measured_torque.contradictions import (
    Contradictions,
    OddTorque,
    found_contradictions,
)
from sysid_ros.engine.measured_torque.coupled_joints import Coupling, found_couplings
from sysid_ros.engine.measured_torque.fit_torque import fit_torque
from sysid_ros.engine.measured_torque.methods import (
    METHODS,
    bias_check_by_method,
    fit_by_method,
    window_check_by_method,
)
from sysid_ros.engine.measured_torque.predicted_torque import TorqueTrace, torque_traces
from sysid_ros.engine.measured_torque.rows import (
    TorqueProblem,
    TorqueSignal,
    bear_weight,
    later_recording,
    regression_settings,
    speaks_of_torque,
    torque_problem,
    torque_signals,
)
from sysid_ros.engine.measured_torque.smoothed_torque import SmoothedTorque
from sysid_ros.engine.measured_torque.torque_sums import (
    TorqueEstimate,
    estimate_from,
    merged_columns,
    still_joints,
)

# What the documentation shows to users; the rest is for other rooms.
__all__ = ["window_check_by_method"]
