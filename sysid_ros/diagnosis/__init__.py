# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finds the mistakes that people make, before any fit: ``sysid_ros check``."""

from sysid_ros.diagnosis.checks import check_dataset
from sysid_ros.diagnosis.experiment_check import check_experiment
from sysid_ros.diagnosis.finding import Finding, FindingKind

__all__ = ["Finding", "FindingKind", "check_dataset", "check_experiment"]
