# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits: of windows with estimated starts, of whole recordings, and checks of their results."""

from __future__ import annotations

from sysid_ros.engine.estimation.alternatives import groups_of
from sysid_ros.engine.estimation.bias_check import BiasCheck, Refit, bias_check, flagged
from sysid_ros.engine.estimation.chunked_fit import fit_in_chunks, sums_at, survey_of
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.estimation.fit_settings import (
    DEFAULT_SETTINGS,
    NOTHING_KNOWN,
    FitSettings,
    SignalNoise,
    TorqueSettings,
)
from sysid_ros.engine.estimation.fit_state import FitState
from sysid_ros.engine.estimation.friction_parameters import friction_provenance, without_meaningless
from sysid_ros.engine.estimation.landscape import Landscape, landscape
from sysid_ros.engine.estimation.optimize import optimize
from sysid_ros.engine.estimation.other_interpolations import beats, without_noise
from sysid_ros.engine.estimation.servo_combinations import (
    Combination,
    sentences,
    servo_combinations,
)
from sysid_ros.engine.estimation.shifts import Shift, changed_at_once, model_error_sentences
from sysid_ros.engine.estimation.stuck_friction import sliding_inertia
from sysid_ros.engine.estimation.torque_findings import (
    BaseParameter,
    BodyFinding,
    JointFinding,
    TorqueFindings,
    thinned,
)
from sysid_ros.engine.estimation.window_check import WindowCheck, WindowEstimate, window_check
