# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The equation of motion of a model, compiled: inertia, forces, constraints, contacts."""

from sysid_ros.engine.mechanics.acceleration import (
    EXACT,
    evaluate,
    set_acceleration,
    settle,
    solve,
)
from sysid_ros.engine.mechanics.actuator_tables import (
    CURRENT,
    DCMOTOR,
    FILTEREXACT,
    GEAR,
    INTEGRATOR,
    TIME,
    actuator_fields,
    unfollowed_motor,
)
from sysid_ros.engine.mechanics.connections import (
    Connections,
    connections_of,
    end_places,
    has_connections,
    unfollowed_equality,
)
from sysid_ros.engine.mechanics.contact_forces import (
    add_footing_changes,
    add_product,
)
from sysid_ros.engine.mechanics.displacements import (
    Displacements,
    Mountings,
    body_places,
    carries,
    displacements_of,
    joint_places,
    local_twists,
    motion_before,
    mountings_of,
    moved_along,
    twist_in_world,
)
from sysid_ros.engine.mechanics.floor_contacts import (
    Feet,
    feet_pairs,
    has_feet,
    stand_alike,
)
from sysid_ros.engine.mechanics.fluid import (
    FRAME,
    WIND,
    Ellipsoids,
    flow_alike,
    fluid_fields,
    in_fluid,
    inertial_frames,
)
from sysid_ros.engine.mechanics.fluid_forces import (
    move_shape,
    relative_to,
    resist,
    resisting,
    shape_body,
)
from sysid_ros.engine.mechanics.forces import (
    act,
)
from sysid_ros.engine.mechanics.general_contacts import Touches, no_touches, touches_of
from sysid_ros.engine.mechanics.kinematics import (
    Motion,
    Pose,
    move,
    new_motion,
    new_pose,
    propagate,
    put_in_place,
)
from sysid_ros.engine.mechanics.lines import (
    LINE_ARMATURE,
    LINE_DAMPING,
    LINE_FRICTIONLOSS,
    LINE_INVWEIGHT,
    Lines,
    add_along,
    along,
    line_fields,
    related_along,
    spread_changes,
    with_own_course,
)
from sysid_ros.engine.mechanics.load_friction import (
    limit_friction,
)
from sysid_ros.engine.mechanics.model_tables import (
    ARMATURE,
    DAMPING,
    FRICTIONLOSS,
    INVWEIGHT,
    RK4,
    Tables,
    dof_fields,
    friction_fields,
    site_places,
    tables_of,
    unsupported,
)
from sysid_ros.engine.mechanics.muscles import MUSCLE, muscle_rate, unfollowed_muscle
from sysid_ros.engine.mechanics.path_lengths import lay
from sysid_ros.engine.mechanics.paths import Paths, unfollowed_path
from sysid_ros.engine.mechanics.pendulum import hang, swing
from sysid_ros.engine.mechanics.positions import (
    advance,
    advance_derivative,
)
from sysid_ros.engine.mechanics.rigid_body import (
    differentiate,
    fall,
    felt,
    force_regressor,
    site_wrench,
    turned_gravity,
)
from sysid_ros.engine.mechanics.workspace import (
    Workspace,
    copy_inertia,
    factorize_with,
    new_workspace,
    solve_implicitly,
)
