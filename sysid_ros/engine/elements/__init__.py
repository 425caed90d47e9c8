# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Named elements of a model, their kind and inertia, and models that only simulation needs."""

from __future__ import annotations

from sysid_ros.engine.elements.actuators import (
    LOW_PASSES,
    ON_JOINT,
    actuator_moments,
    actuators_on,
    add_servo,
    add_unit_motor,
    add_velocity_servo,
    affine_force,
    control_columns,
    control_range,
    drive_strength,
    first_inputs,
    force_range,
    has_affine_law,
    is_effort,
    is_low_passed,
    is_servo,
    is_velocity_servo,
    joint_of,
    n_actuators,
    servo_gain,
    takes_velocity,
    tree_of,
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
from sysid_ros.engine.elements.inverse_weights import InverseWeights, ReferencePosture
from sysid_ros.engine.elements.joint_scales import JointScale, joint_scales
from sysid_ros.engine.elements.joints import (
    BALL,
    FREE,
    HINGE,
    SCALAR,
    SLIDE,
    bodies_above,
    body_label,
    first_dofs,
    gravity_of,
    joint_couplings,
    joint_parts,
    joints_above,
    last_dofs,
    places_in_qpos,
    places_in_qvel,
    related_dofs,
)
from sysid_ros.engine.elements.moved_contacts import COLLIDED, Contacts, Geoms, moved_contacts
from sysid_ros.engine.elements.moved_inertia import is_moved, moved_inertia
from sysid_ros.engine.elements.named_elements import (
    find,
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
from sysid_ros.engine.elements.rolling_wheels import planar_bases, rolling_wheel
from sysid_ros.engine.elements.slim_model import (
    SlimModel,
    discard_visuals,
    remove_visuals,
    undrawn,
    without_visuals,
)
from sysid_ros.engine.elements.straight_motion import is_angle, is_straight, moves_straight
from sysid_ros.engine.elements.surfaces import surface_points
from sysid_ros.engine.elements.tendons import fixed_tendons, joints_of_tendon
from sysid_ros.engine.elements.turned_elements import orientation, set_turn, turn
