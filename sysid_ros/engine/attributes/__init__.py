# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table of what can be identified: one row per attribute of each kind of element."""

from __future__ import annotations

from sysid_ros.engine.attributes.actuator_attributes import (
    ActuatorKindError,
    is_position_servo,
    least_time_constant,
)
from sysid_ros.engine.attributes.attribute import Attribute
from sysid_ros.engine.attributes.attribute_table import lookup, table
from sysid_ros.engine.attributes.body_attributes import INERTIAS, mass_scaled, theta_bounds
from sysid_ros.engine.attributes.joint_attributes import SOFT_SPRING
from sysid_ros.engine.attributes.place_attributes import PLACES
from sysid_ros.engine.attributes.signal_attributes import AXIS_BIASES
