# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that measured torques tell, whatever masses and friction a robot may have."""

from __future__ import annotations

from sysid_ros.diagnosis.torque.dynamics import Dynamics
from sysid_ros.diagnosis.torque.modelled_mistakes import modelled_explanation
from sysid_ros.diagnosis.torque.torque_mistakes import (
    position_factor,
    rival_of_mounting,
    torque_explanations,
    torque_offset,
)
