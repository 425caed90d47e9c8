# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that windows of recordings tell when they are simulated, and contacts that do."""

from __future__ import annotations

from sysid_ros.diagnosis.simulated.changed_load import may_show_loads
from sysid_ros.diagnosis.simulated.contacts import (
    Contacts,
    apart,
    contact_findings,
    contacts,
    runaways,
    running_away,
    swinging_steps,
    without_geoms,
)
from sysid_ros.diagnosis.simulated.rolling_joints import rolling_explanations
from sysid_ros.diagnosis.simulated.simulated_mistakes import simulated_explanations
from sysid_ros.diagnosis.simulated.standing_feet import standing_explanations
from sysid_ros.diagnosis.simulated.window_mistakes import WindowTest
