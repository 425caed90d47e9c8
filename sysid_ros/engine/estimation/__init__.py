# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits: of windows with estimated starts, of whole recordings, and checks of their results."""

from __future__ import annotations

from sysid_ros.engine.estimation.bias_check import BiasCheck, Refit, bias_check, flagged
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.estimation.fit_state import FitState
from sysid_ros.engine.estimation.friction_parameters import friction_provenance
from sysid_ros.engine.estimation.landscape import Landscape, landscape
from sysid_ros.engine.estimation.model_error import ModelError, Shift, model_error_sentences
from sysid_ros.engine.estimation.optimize import optimize
from sysid_ros.engine.estimation.running_information import Information, RunningInformation
from sysid_ros.engine.estimation.servo_combinations import (
    Combination,
    sentences,
    servo_combinations,
)

__all__ = [
    "BiasCheck",
    "Combination",
    "FitResult",
    "FitSettings",
    "FitState",
    "Information",
    "Landscape",
    "ModelError",
    "Refit",
    "RunningInformation",
    "Shift",
    "SignalNoise",
    "bias_check",
    "fit",
    "flagged",
    "friction_provenance",
    "landscape",
    "model_error_sentences",
    "optimize",
    "sentences",
    "servo_combinations",
]
