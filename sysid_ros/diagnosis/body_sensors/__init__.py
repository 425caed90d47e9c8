# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes in sensors on bodies, which the measured positions tell without any mass."""

from __future__ import annotations

from sysid_ros.diagnosis.body_sensors.body_sensor_findings import (
    body_sensor_findings,
    downward_findings,
)
