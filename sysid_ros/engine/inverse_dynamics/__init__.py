# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Physically consistent parameters from measured joint torque.

    fit = fit_inverse_dynamics(model, [Recording(times, qpos, torque)])
    fit.values["link_3.m"], fit.intervals(), fit.base.names, fit.torque_rmse

Torque is linear in inertial parameters, armature, friction, springs and offsets; rows are filtered
and summed by block of time (:mod:`sysid_ros.engine.regressor`), and solved under physical
consistency (:mod:`.program`) with intervals that hold under coloured residuals
(:mod:`.statistics`).
"""

from sysid_ros.engine.inverse_dynamics.base_parameters import (
    base_combination,
    base_names,
    grouping_order,
)
from sysid_ros.engine.inverse_dynamics.bodies_alone import bodies_alone
from sysid_ros.engine.inverse_dynamics.changed_load import changed_load
from sysid_ros.engine.inverse_dynamics.consistency import body_scales
from sysid_ros.engine.inverse_dynamics.contradicting_joint import contradicting_joint
from sysid_ros.engine.inverse_dynamics.coupling import (
    TENDON_ATTRIBUTES,
    coupling_name,
    with_coupling,
)
from sysid_ros.engine.inverse_dynamics.estimate import (
    Estimate,
    estimate,
    residual_spread,
    without_gains,
)
from sysid_ros.engine.inverse_dynamics.evidence import (
    Evidence,
    equations,
    gather,
    summed_again,
)
from sysid_ros.engine.inverse_dynamics.free import FreeParameters, free_parameters, without_effect
from sysid_ros.engine.inverse_dynamics.merged_columns import MergedColumns
from sysid_ros.engine.inverse_dynamics.normal_equations import least_squares, one_thread
from sysid_ros.engine.inverse_dynamics.payload import (
    PAYLOAD,
    absent_columns,
    condition_of,
    robot_of,
    with_payload,
)
from sysid_ros.engine.inverse_dynamics.prediction import (
    TorquePrediction,
    torque_rmse,
    total_torques,
)
from sysid_ros.engine.inverse_dynamics.settled_delays import settled_estimate, with_settled_delays
from sysid_ros.engine.inverse_dynamics.sharpened_friction import sharpen_friction
from sysid_ros.engine.inverse_dynamics.statistics import Uncertainty, jackknife, residual_weights
from sysid_ros.engine.inverse_dynamics.torque_fit import (
    doubtful_estimate,
    fit_evidence,
    fit_inverse_dynamics,
)
from sysid_ros.engine.inverse_dynamics.torque_fit_result import InverseDynamicsFit
from sysid_ros.engine.inverse_dynamics.torque_fit_settings import Settings
from sysid_ros.engine.inverse_dynamics.wrong_masses import (
    Suspects,
    WrongMass,
    are_factors,
    clauses_of,
    wrong_masses,
)
from sysid_ros.engine.regressor import (
    Columns,
    Filters,
    Motion,
    Recording,
    Regressor,
    columns_of,
    mujoco_torque,
)

# What the documentation shows to users; the rest is for other rooms.
__all__ = [
    "Columns",
    "Filters",
    "InverseDynamicsFit",
    "Motion",
    "Recording",
    "Regressor",
    "Settings",
    "fit_inverse_dynamics",
    "mujoco_torque",
    "torque_rmse",
    "with_coupling",
    "with_payload",
]
