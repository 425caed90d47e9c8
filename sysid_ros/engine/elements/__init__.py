# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Named elements of a model, their kind and inertia, and models that only simulation needs."""

from __future__ import annotations

from sysid_ros.engine.elements.actuators import (
    ON_JOINT,
    SCALAR,
    actuators_on,
    add_servo,
    add_unit_motor,
    affine_force,
    drive_strength,
    force_range,
    has_affine_law,
    is_effort,
    is_servo,
    is_velocity_servo,
    joint_of,
    usual_servo_gain,
)
from sysid_ros.engine.elements.body_inertia import (
    compiled,
    keep_authored,
    make_explicit,
    read_inertia,
    set_inertia,
    write_inertia,
    write_moving_inertia,
)
from sysid_ros.engine.elements.inertia import (
    BodyInertia,
    InertiaType,
    full_inertia,
    inertia_from_theta,
    pseudo_of,
    rotation_matrix,
    theta_from_inertia,
    theta_from_pseudo,
)
from sysid_ros.engine.elements.joints import (
    bodies_above,
    joints_above,
    places_in_qpos,
    places_in_qvel,
    related_dofs,
)
from sysid_ros.engine.elements.moved_inertia import is_moved, moved_inertia
from sysid_ros.engine.elements.named_elements import (
    find,
    is_slide,
    linear,
    matching,
    matching_names,
    pairs,
)
from sysid_ros.engine.elements.pseudo_inertia import (
    BASIS,
    INERTIAL,
    body_of,
    central,
    inertial_parameters,
    parameters_of,
    pseudo_inertia,
)
from sysid_ros.engine.elements.slim_model import SlimModel, remove_visuals, without_visuals
from sysid_ros.engine.elements.tendons import fixed_tendons, joints_of_tendon

__all__ = [
    "BASIS",
    "INERTIAL",
    "ON_JOINT",
    "SCALAR",
    "BodyInertia",
    "InertiaType",
    "SlimModel",
    "actuators_on",
    "add_servo",
    "add_unit_motor",
    "affine_force",
    "bodies_above",
    "body_of",
    "central",
    "compiled",
    "drive_strength",
    "find",
    "fixed_tendons",
    "force_range",
    "full_inertia",
    "has_affine_law",
    "inertia_from_theta",
    "inertial_parameters",
    "is_effort",
    "is_moved",
    "is_servo",
    "is_slide",
    "is_velocity_servo",
    "joint_of",
    "joints_above",
    "joints_of_tendon",
    "keep_authored",
    "linear",
    "make_explicit",
    "matching",
    "matching_names",
    "moved_inertia",
    "pairs",
    "parameters_of",
    "places_in_qpos",
    "places_in_qvel",
    "pseudo_inertia",
    "pseudo_of",
    "read_inertia",
    "related_dofs",
    "remove_visuals",
    "rotation_matrix",
    "set_inertia",
    "theta_from_inertia",
    "theta_from_pseudo",
    "usual_servo_gain",
    "without_visuals",
    "write_inertia",
    "write_moving_inertia",
]
