# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finds the mistakes that people make, before any fit: ``sysid_ros check``."""

from __future__ import annotations

from sysid_ros.diagnosis.checks import (
    changed_loads,
    check_dataset,
    joints_beyond_ranges,
    masses_off,
    mistaken_units,
    mistaken_values,
)
from sysid_ros.diagnosis.command_interpolation import command_samplings
from sysid_ros.diagnosis.effort_mistakes import beside_odd_effort, settled, with_contradictions
from sysid_ros.diagnosis.evidence import (
    Change,
    Filtered,
    Finding,
    FindingKind,
    Recorded,
    filtered,
    motion_bandwidth,
    not_tested,
    recorded,
    repaired,
    silent_joints,
    still_joints,
)
from sysid_ros.diagnosis.exchanges import exchanged_signals
from sysid_ros.diagnosis.experiment_check import check_experiment
from sysid_ros.diagnosis.integral_parts import drive_parts
from sysid_ros.diagnosis.servo_lags import servo_resistances
from sysid_ros.diagnosis.simulated import Contacts, contacts, runaways
