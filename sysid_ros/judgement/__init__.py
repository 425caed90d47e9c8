# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The worth of a fit: scores, plausibility, trends in what is left, and the verdict."""

from __future__ import annotations

from sysid_ros.judgement.evaluation import evaluate, evaluate_model, scored_windows
from sysid_ros.judgement.forecast_check import ForecastCheck, forecast_check
from sysid_ros.judgement.motion_forecast import (
    MotionForecast,
    forecast_path,
    motion_digest,
    write_forecast,
)
from sysid_ros.judgement.outcome import (
    HASH_PREFIX,
    RECORDED_PREFIX,
    VERSION_PREFIX,
    AppliedParameter,
    Evaluation,
    JointTorque,
    Judgement,
    Outcome,
    ResidualTrend,
    Score,
    SequenceFit,
    SignalFit,
    versions,
)
from sysid_ros.judgement.prediction_errors import PredictionError, prediction_errors
from sysid_ros.judgement.residual_diagnostics import ResidualDiagnostics, residual_diagnostics
from sysid_ros.judgement.scored_fit import applied_parameters, outcome_of, title_of, with_provenance
from sysid_ros.judgement.scoring import pooled_score
from sysid_ros.judgement.signal_corrections import signal_corrections
from sysid_ros.judgement.verdict import result_warnings, scored_warnings, with_verdict
