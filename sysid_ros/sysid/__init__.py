# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identification of MuJoCo model parameters, in the language of ``mujoco.sysid``.

A script written for ``from mujoco import sysid`` runs with ``from sysid_ros import sysid``.
"""

from sysid_ros.sysid.attributes import lookup as lookup
from sysid_ros.sysid.bias_check import BiasCheck as BiasCheck
from sysid_ros.sysid.bias_check import bias_check as bias_check
from sysid_ros.sysid.body_modifiers import apply_body_inertia as apply_body_inertia
from sysid_ros.sysid.default_report import Report as Report
from sysid_ros.sysid.default_report import default_report as default_report
from sysid_ros.sysid.default_signals import (
    construct_ts_from_defaults as construct_ts_from_defaults,
)
from sysid_ros.sysid.elements import matching as matching
from sysid_ros.sysid.fit import FitSettings as FitSettings
from sysid_ros.sysid.fit import SignalNoise as SignalNoise
from sysid_ros.sysid.fit import fit as fit
from sysid_ros.sysid.fit_progress import FitStatus as FitStatus
from sysid_ros.sysid.fit_progress import Iteration as Iteration
from sysid_ros.sysid.fit_result import FitResult as FitResult
from sysid_ros.sysid.inertia import InertiaType as InertiaType
from sysid_ros.sysid.inertia_parameter import body_inertia_param as body_inertia_param
from sysid_ros.sysid.initial_state import create_initial_state as create_initial_state
from sysid_ros.sysid.intervals import calculate_intervals as calculate_intervals
from sysid_ros.sysid.landscape import Landscape as Landscape
from sysid_ros.sysid.landscape import landscape as landscape
from sysid_ros.sysid.mappings import SignalType as SignalType
from sysid_ros.sysid.model_modifier import apply_dgain as apply_dgain
from sysid_ros.sysid.model_modifier import apply_param_modifiers as apply_param_modifiers
from sysid_ros.sysid.model_modifier import apply_param_modifiers_spec as apply_param_modifiers_spec
from sysid_ros.sysid.model_modifier import apply_pdgain as apply_pdgain
from sysid_ros.sysid.model_modifier import apply_pgain as apply_pgain
from sysid_ros.sysid.model_saving import save_model as save_model
from sysid_ros.sysid.modifiers import AttributeModifier as AttributeModifier
from sysid_ros.sysid.modifiers import BodyInertiaModifier as BodyInertiaModifier
from sysid_ros.sysid.modifiers import SignalModifier as SignalModifier
from sysid_ros.sysid.modifiers import StartModifier as StartModifier
from sysid_ros.sysid.optimize import optimize as optimize
from sysid_ros.sysid.parameter import Parameter as Parameter
from sysid_ros.sysid.parameter_dict import ParameterDict as ParameterDict
from sysid_ros.sysid.plotting import render_rollout as render_rollout
from sysid_ros.sysid.residual import build_residual_fn as build_residual_fn
from sysid_ros.sysid.residual import model_residual as model_residual
from sysid_ros.sysid.residual import residual as residual
from sysid_ros.sysid.residual_options import BuildModelFn as BuildModelFn
from sysid_ros.sysid.residual_options import CustomRolloutFn as CustomRolloutFn
from sysid_ros.sysid.residual_options import ModifyResidualFn as ModifyResidualFn
from sysid_ros.sysid.results_io import save_results as save_results
from sysid_ros.sysid.rollout_pool import RolloutPool as RolloutPool
from sysid_ros.sysid.signal_modifier import apply_bias as apply_bias
from sysid_ros.sysid.signal_modifier import apply_delay as apply_delay
from sysid_ros.sysid.signal_modifier import apply_delayed_ts_window as apply_delayed_ts_window
from sysid_ros.sysid.signal_modifier import apply_gain as apply_gain
from sysid_ros.sysid.signal_modifier import apply_resample_and_delay as apply_resample_and_delay
from sysid_ros.sysid.signal_modifier import get_sensor_indices as get_sensor_indices
from sysid_ros.sysid.signal_modifier import normalize_residual as normalize_residual
from sysid_ros.sysid.signal_modifier import weighted_diff as weighted_diff
from sysid_ros.sysid.signal_transform import SignalTransform as SignalTransform
from sysid_ros.sysid.simulation_batch import BatchState as BatchState
from sysid_ros.sysid.simulation_batch import SimulationBatch as SimulationBatch
from sysid_ros.sysid.slim_model import remove_visuals as remove_visuals
from sysid_ros.sysid.start_parameters import start_params as start_params
from sysid_ros.sysid.sysid_rollout import sysid_rollout as sysid_rollout
from sysid_ros.sysid.timeseries import TimeSeries as TimeSeries
from sysid_ros.sysid.trajectory import ModelSequences as ModelSequences
from sysid_ros.sysid.trajectory import SystemTrajectory as SystemTrajectory
from sysid_ros.sysid.wrench import with_wrenches as with_wrenches
from sysid_ros.sysid.wrench import wrench_inputs as wrench_inputs
