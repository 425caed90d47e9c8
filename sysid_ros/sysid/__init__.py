# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identification of MuJoCo model parameters, in the language of ``mujoco.sysid``.

A script written for ``from mujoco import sysid`` runs with ``from sysid_ros import sysid``. Names
load what they need when they are first used (PEP 562).
"""

from typing import TYPE_CHECKING

from sysid_ros.errors import unknown_name

_OFFERED = {  # names by the room that loads them; type checkers read them below
    "engine.attributes": "lookup",
    "engine.elements": "InertiaType matching remove_visuals",
    "engine.estimation": (
        "BiasCheck FitResult FitSettings Landscape SignalNoise TorqueSettings landscape optimize"
    ),
    "engine.least_squares": "FitStatus Iteration",
    "engine.parameters": (
        "AttributeModifier BodyInertiaModifier Parameter ParameterDict SignalModifier "
        "StartModifier apply_body_inertia apply_dgain apply_param_modifiers "
        "apply_param_modifiers_spec apply_pdgain apply_pgain body_inertia_param start_params"
    ),
    "engine.problem": "build_residual_fn model_residual residual",
    "engine.residuals": (
        "BuildModelFn CustomRolloutFn ModifyResidualFn SignalTransform apply_bias apply_delay "
        "apply_delayed_ts_window apply_gain apply_resample_and_delay get_sensor_indices "
        "normalize_residual weighted_diff"
    ),
    "engine.signals": (
        "ModelSequences SignalType SystemTrajectory TimeSeries construct_ts_from_defaults "
        "create_initial_state render_rollout with_wrenches wrench_inputs"
    ),
    "engine.simulation": "BatchState RolloutPool SimulationBatch sysid_rollout",
    "engine.uncertainty": "calculate_intervals",
    "sysid.fitting": "bias_check fit",
    "sysid.library_report": "Report default_report",
    "sysid.model_saving": "save_model",
    "sysid.results_io": "save_results",
}
_ROOMS = {name: room for room, names in _OFFERED.items() for name in names.split()}
__all__ = list(_ROOMS)

if TYPE_CHECKING:
    from sysid_ros.engine.attributes import lookup as lookup
    from sysid_ros.engine.elements import InertiaType as InertiaType
    from sysid_ros.engine.elements import matching as matching
    from sysid_ros.engine.elements import remove_visuals as remove_visuals
    from sysid_ros.engine.estimation import BiasCheck as BiasCheck
    from sysid_ros.engine.estimation import FitResult as FitResult
    from sysid_ros.engine.estimation import FitSettings as FitSettings
    from sysid_ros.engine.estimation import Landscape as Landscape
    from sysid_ros.engine.estimation import SignalNoise as SignalNoise
    from sysid_ros.engine.estimation import TorqueSettings as TorqueSettings
    from sysid_ros.engine.estimation import landscape as landscape
    from sysid_ros.engine.estimation import optimize as optimize
    from sysid_ros.engine.least_squares import FitStatus as FitStatus
    from sysid_ros.engine.least_squares import Iteration as Iteration
    from sysid_ros.engine.parameters import AttributeModifier as AttributeModifier
    from sysid_ros.engine.parameters import BodyInertiaModifier as BodyInertiaModifier
    from sysid_ros.engine.parameters import Parameter as Parameter
    from sysid_ros.engine.parameters import ParameterDict as ParameterDict
    from sysid_ros.engine.parameters import SignalModifier as SignalModifier
    from sysid_ros.engine.parameters import StartModifier as StartModifier
    from sysid_ros.engine.parameters import apply_body_inertia as apply_body_inertia
    from sysid_ros.engine.parameters import apply_dgain as apply_dgain
    from sysid_ros.engine.parameters import apply_param_modifiers as apply_param_modifiers
    from sysid_ros.engine.parameters import apply_param_modifiers_spec as apply_param_modifiers_spec
    from sysid_ros.engine.parameters import apply_pdgain as apply_pdgain
    from sysid_ros.engine.parameters import apply_pgain as apply_pgain
    from sysid_ros.engine.parameters import body_inertia_param as body_inertia_param
    from sysid_ros.engine.parameters import start_params as start_params
    from sysid_ros.engine.problem import build_residual_fn as build_residual_fn
    from sysid_ros.engine.problem import model_residual as model_residual
    from sysid_ros.engine.problem import residual as residual
    from sysid_ros.engine.residuals import BuildModelFn as BuildModelFn
    from sysid_ros.engine.residuals import CustomRolloutFn as CustomRolloutFn
    from sysid_ros.engine.residuals import ModifyResidualFn as ModifyResidualFn
    from sysid_ros.engine.residuals import SignalTransform as SignalTransform
    from sysid_ros.engine.residuals import apply_bias as apply_bias
    from sysid_ros.engine.residuals import apply_delay as apply_delay
    from sysid_ros.engine.residuals import apply_delayed_ts_window as apply_delayed_ts_window
    from sysid_ros.engine.residuals import apply_gain as apply_gain
    from sysid_ros.engine.residuals import apply_resample_and_delay as apply_resample_and_delay
    from sysid_ros.engine.residuals import get_sensor_indices as get_sensor_indices
    from sysid_ros.engine.residuals import normalize_residual as normalize_residual
    from sysid_ros.engine.residuals import weighted_diff as weighted_diff
    from sysid_ros.engine.signals import ModelSequences as ModelSequences
    from sysid_ros.engine.signals import SignalType as SignalType
    from sysid_ros.engine.signals import SystemTrajectory as SystemTrajectory
    from sysid_ros.engine.signals import TimeSeries as TimeSeries
    from sysid_ros.engine.signals import construct_ts_from_defaults as construct_ts_from_defaults
    from sysid_ros.engine.signals import create_initial_state as create_initial_state
    from sysid_ros.engine.signals import render_rollout as render_rollout
    from sysid_ros.engine.signals import with_wrenches as with_wrenches
    from sysid_ros.engine.signals import wrench_inputs as wrench_inputs
    from sysid_ros.engine.simulation import BatchState as BatchState
    from sysid_ros.engine.simulation import RolloutPool as RolloutPool
    from sysid_ros.engine.simulation import SimulationBatch as SimulationBatch
    from sysid_ros.engine.simulation import sysid_rollout as sysid_rollout
    from sysid_ros.engine.uncertainty import calculate_intervals as calculate_intervals
    from sysid_ros.sysid.fitting import bias_check as bias_check
    from sysid_ros.sysid.fitting import fit as fit
    from sysid_ros.sysid.library_report import Report as Report
    from sysid_ros.sysid.library_report import default_report as default_report
    from sysid_ros.sysid.model_saving import save_model as save_model
    from sysid_ros.sysid.results_io import save_results as save_results
else:

    def __getattr__(name: str) -> object:
        """Load what is offered under a name, which is found without this from then on."""
        if name not in _ROOMS:
            raise AttributeError(unknown_name("name", name, _ROOMS, where=__name__), name=name)
        from importlib import import_module

        found = getattr(import_module(f"sysid_ros.{_ROOMS[name]}"), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        """All names that are offered, loaded or not."""
        return sorted(_ROOMS)
