# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sampled signals, the instants they belong to, and their places in a model."""

from __future__ import annotations

from sysid_ros.engine.signals.control import (
    JoinedIntegrals,
    SignalIntegral,
    is_semi_implicit,
    step_offsets,
)
from sysid_ros.engine.signals.default_signals import check_types, construct_ts_from_defaults
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.interpolation import linear_places, samples_between, value_at
from sysid_ros.engine.signals.joint_coordinates import (
    JointSignal,
    base_is_known,
    joint_named,
    joint_signal,
    oriented_frame,
)
from sysid_ros.engine.signals.levels import Saturation, level_step, saturation
from sysid_ros.engine.signals.mappings import (
    OBSERVABLE,
    SUFFIXES,
    SignalMapping,
    SignalType,
    actuator_names,
    control_mapping,
    control_names,
    input_actuators,
    sensor_mapping,
    state_mappings,
    width_of,
)
from sysid_ros.engine.signals.observation import RowWeights, cubic_weights, row_offset
from sysid_ros.engine.signals.own_samples import own_instants
from sysid_ros.engine.signals.rendering import render_rollout
from sysid_ros.engine.signals.sensor_units import (
    UNZEROED,
    force_unit,
    in_metres,
    is_position,
    is_vector_named,
    joint_shown,
    place_unit,
    rate_unit,
    sensor_unit,
    summed_joints,
    unit_in,
    unit_of_sensor_named,
)
from sysid_ros.engine.signals.spectra import densities, density, lagged_products
from sysid_ros.engine.signals.splines import CubicSlope, Line
from sysid_ros.engine.signals.stamping import Stamping, at_true_times, check_stamping, stamp_offsets
from sysid_ros.engine.signals.stretches import MIN_SAMPLES, Piecewise, known_from, piecewise
from sysid_ros.engine.signals.tangent import (
    Block,
    blocks_of,
    conjugate,
    difference,
    quaternion_product,
    rotated,
    rotation_between,
    without_sign_jumps,
)
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.engine.signals.timeseries_io import save_npz
from sysid_ros.engine.signals.trajectory import (
    ModelSequences,
    SystemTrajectory,
    control_column,
    control_key,
)
from sysid_ros.engine.signals.wrench import COMPONENTS, with_wrenches, wrench_inputs
from sysid_ros.engine.signals.zero_phase import zero_phase, zero_phase_gain
