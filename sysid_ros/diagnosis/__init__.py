# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finds the mistakes that people make, before any fit: ``sysid_ros check``."""

from __future__ import annotations

from sysid_ros.diagnosis.checks import check_dataset
from sysid_ros.diagnosis.contacts import Contacts, contacts
from sysid_ros.diagnosis.experiment_check import check_experiment
from sysid_ros.diagnosis.filtered import motion_bandwidth
from sysid_ros.diagnosis.finding import Finding, FindingKind
from sysid_ros.diagnosis.recorded import is_effort, is_servo

__all__ = [
    "Contacts",
    "Finding",
    "FindingKind",
    "check_dataset",
    "check_experiment",
    "contacts",
    "is_effort",
    "is_servo",
    "motion_bandwidth",
]
