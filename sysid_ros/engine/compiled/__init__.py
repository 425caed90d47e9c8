# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Functions compiled by numba, algebra in them, and MuJoCo's structures seen from them."""

from __future__ import annotations

from sysid_ros.engine.compiled.decorators import compiled, compiled_apart
from sysid_ros.engine.compiled.friction_law import TERMS, load_dependent, load_dependent_slopes
from sysid_ros.engine.compiled.kept_code import (
    LOOK,
    STILL_WAITING,
    WAITING,
    keeping,
    kept_callback,
    kept_in,
    soon_loaded,
    still_waiting,
    turn,
)
from sysid_ros.engine.compiled.linear_algebra import (
    add_scaled,
    clear_matrix,
    copy_matrix,
    copy_vector,
    factorize,
    interpolate,
    solve_rows,
    solve_vector,
    solve_with,
)
from sysid_ros.engine.compiled.one_module import OPTIONS_OF_WHOLES
from sysid_ros.engine.compiled.sources import compiled_in, digest_of, source_files
from sysid_ros.engine.compiled.spatial import (
    Six,
    Three,
    add,
    at_point,
    couple,
    cross,
    cross_force,
    cross_motion,
    dot,
    force_at,
    into_body,
    load,
    momentum_basis,
    move_inertia,
    multiply_inertia,
    multiply_product,
    multiply_product_transposed,
    multiply_quaternions,
    quaternion_to_matrix,
    rotated,
    scalar,
    scale,
    store,
    velocity_product,
)
from sysid_ros.engine.compiled.struct_fields import array, integer, integer_array
from sysid_ros.engine.compiled.struct_layout import offset
