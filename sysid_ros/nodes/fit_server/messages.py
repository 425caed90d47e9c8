# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Between the action's messages and the fit's own types."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from sysid_ros.engine.least_squares import FitStatus, Iteration
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.errors import ErrorCode
from sysid_ros.judgement import HASH_PREFIX, Outcome
from sysid_ros.results import ResultFolder
from sysid_ros_interfaces.action import FitModel
from sysid_ros_interfaces.msg import IdentifiedParameter, IdentifiedParameters, Report

_NAN = float("nan")


def error_of(outcome: Outcome) -> tuple[ErrorCode, str]:
    """The error code and sentence of a fit that delivered parameters."""
    if outcome.fit.status is FitStatus.CONVERGED:
        return ErrorCode.NONE, ""
    if outcome.fit.status is FitStatus.CANCELED:
        return ErrorCode.CANCELED, outcome.fit.message
    return ErrorCode.NOT_CONVERGED, outcome.fit.message


def fit_result(
    code: ErrorCode, message: str, outcome: Outcome, files: ResultFolder, stamp: Any
) -> FitModel.Result:
    """The result of a fit that delivered, with a message unless the code is NONE."""
    held_out = outcome.validation
    return FitModel.Result(
        error_code=int(code),
        error_msg=message,
        status=outcome.fit.status.value,
        parameters=identified_parameters(outcome, files, stamp),
        cost_initial=float(outcome.fit.cost_initial),
        cost_final=float(outcome.fit.cost_final),
        holdout_rmse=float(held_out.rmse_all) if held_out else _NAN,
        holdout_rmse_initial=float(held_out.rmse_all_initial) if held_out else _NAN,
        result_dir=str(files.folder),
        report_file=_text(files.report),
        model_file=_text(files.model),
    )


def identified_parameters(
    outcome: Outcome, files: ResultFolder, stamp: Any
) -> IdentifiedParameters:
    """All parameters of an outcome as one message."""
    hashes = sorted(
        f"{HASH_PREFIX}{name} {digest}" for name, digest in outcome.input_hashes.items()
    )
    message = IdentifiedParameters(
        model=_text(files.model),
        data_hash=hashlib.sha256("\n".join(hashes).encode()).hexdigest() if hashes else "",
        verdict=outcome.verdict,
        parameters=[identified_parameter(estimate) for estimate in outcome.fit.parameters],
    )
    message.header.stamp = stamp
    return message


def report_message(report_file: Path) -> Report:
    """Return the report's place, as a path and for a browser."""
    return Report(file=str(report_file), url=report_file.absolute().as_uri())


def feedback(iteration: Iteration, progress: float) -> FitModel.Feedback:
    """One iteration as feedback."""
    message = FitModel.Feedback(
        iteration=iteration.iteration,
        cost=float(iteration.cost),
        progress=progress,
        names=list(iteration.names),
        values=iteration.values.tolist(),
    )
    nanoseconds = round(1e9 * iteration.elapsed)
    message.elapsed.sec, message.elapsed.nanosec = divmod(nanoseconds, 1_000_000_000)
    return message


def identified_parameter(estimate: ParameterEstimate) -> IdentifiedParameter:
    """One parameter with its interval and flags."""
    low, high = estimate.interval(0.95) or (_NAN, _NAN)
    return IdentifiedParameter(
        name=estimate.name,
        unit=estimate.unit,
        initial=float(estimate.initial),
        value=float(estimate.value),
        standard_error=_NAN if estimate.standard_error is None else float(estimate.standard_error),
        lower=float(estimate.lower),
        upper=float(estimate.upper),
        interval_low=float(low),
        interval_high=float(high),
        flags=list(estimate.flags),
    )


def _text(path: Path | None) -> str:
    return str(path) if path else ""
