# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sources of models, with the sensors that signals need."""

from __future__ import annotations

from sysid_ros.robots.added_servos import with_commanded_servos, with_servos, without_motors
from sysid_ros.robots.declared_friction import with_friction_model
from sysid_ros.robots.declared_parameters import build_parameters, vector_of
from sysid_ros.robots.hook import hook_file
from sysid_ros.robots.model_text import ModelText
from sysid_ros.robots.several_robots import check_robot, have_own_parameters, with_namespace
from sysid_ros.robots.source import (
    LoadedModel,
    description_in,
    load_model,
    with_free_base,
    with_state_sensors,
)
from sysid_ros.robots.state_sensors import by_sensor
from sysid_ros.robots.torque_parameters import measures_torque
from sysid_ros.robots.xml_text import Element, XmlText, number, numbers
