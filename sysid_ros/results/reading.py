# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A result folder read back, so that its report can be rendered again or compared."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import BiasCheck, Combination, FitResult, Landscape, Refit
from sysid_ros.engine.least_squares import FitStatus, Iteration
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.errors import ErrorCode, SysidError
from sysid_ros.judgement import AppliedParameter, Outcome, ResidualTrend, Score
from sysid_ros.recording.mapping import TopicQuality
from sysid_ros.results.document import FORMAT, HASH_PREFIX, VERSION_PREFIX
from sysid_ros.results.result_folder import RESIDUALS, RESULT
from sysid_ros.results.signals_file import read_signals


class ResultError(SysidError):
    """A result folder is missing, incomplete or not one of ours."""

    code = ErrorCode.DATA_UNUSABLE


def read_results(folder: str | os.PathLike[str], *, signals: bool = True) -> Outcome:
    """Read what :func:`~sysid_ros.results.write_results` wrote.

    Args:
      folder: A result folder.
      signals: Whether to read the signals, which are most of it.

    Returns:
      The outcome, number for number. Signals are absent where the folder has no
      ``residuals.npz``, as after a cancelled fit.

    Raises:
      ResultError: If the folder holds no ``result.json`` that this version understands.
    """
    path = Path(folder)
    document = _read_document(path / RESULT)
    try:
        return Outcome(
            title=document["title"],
            fit=_fit(document),
            training=_score(document["training"]),
            validation=_score(document["validation"]),
            sequences=read_signals(path / RESIDUALS) if signals else (),
            quality=tuple(TopicQuality(**topic) for topic in document["quality"]),
            verdict=document["verdict"],
            warnings=tuple(document["warnings"]),
            provenance=_provenance(document),
            bias=_bias(document.get("bias_check")),
            combinations=tuple(
                Combination(name, **{**entry, "parameters": tuple(entry["parameters"])})
                for name, entry in document.get("combinations", {}).items()
            ),
            trends=tuple(_trend(entry) for entry in document.get("residual_trends", ())),
            applied=tuple(_applied(entry) for entry in document.get("applied", ())),
        )
    except SysidError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise ResultError(f"{path} is not a complete result folder: {error!r}") from error


def _read_document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ResultError(f"{path.parent} is not a result folder: it has no {path.name}") from error
    except (OSError, ValueError) as error:
        raise ResultError(f"cannot read {path}: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        given = document.get("format") if isinstance(document, dict) else None
        raise ResultError(f"{path} has result format {given!r}; this version reads {FORMAT}")
    return document


def _fit(document: Mapping[str, Any]) -> FitResult:
    parameters = tuple(_parameter(name, p) for name, p in document["parameters"].items())
    names = tuple(document["trace"]["names"])
    return FitResult(
        status=FitStatus(document["status"]),
        message=document["message"],
        parameters=parameters,
        covariance=_array(document["covariance"], (len(parameters), len(parameters))),
        cost_initial=_number(document["cost_initial"]),
        cost_final=_number(document["cost_final"]),
        iterations=document["iterations"],
        evaluations=document["evaluations"],
        jacobians=document["jacobians"],
        derivatives=document.get("derivatives", {}),
        elapsed=_number(document["elapsed"]),
        trace=tuple(iteration_from(step, names) for step in document["trace"]["steps"]),
        noise={name: _number(value) for name, value in document["noise"].items()},
        interval_method=document["interval_method"],
        singular_values=_array(document["singular_values"], (-1,)),
        unidentifiable=tuple(document["unidentifiable"]),
        optimizer=document["optimizer"],
        landscapes=tuple(_landscape(entry) for entry in document.get("landscapes", ())),
    )


def _landscape(entry: Mapping[str, Any]) -> Landscape:
    x, y = (_array(entry[axis], (-1,)) for axis in ("x", "y"))
    cost = _array(entry["cost"], (len(y), len(x)))
    first, second = entry["optimum"]
    return Landscape(
        x_name=entry["x_name"],
        y_name=entry["y_name"],
        x=x,
        y=y,
        cost=np.where(np.isnan(cost), np.inf, cost),
        optimum=(_number(first), _number(second)),
    )


def _bias(entry: Mapping[str, Any] | None) -> BiasCheck | None:
    if entry is None:
        return None
    return BiasCheck(
        names=tuple(entry["names"]),
        units=tuple(entry["units"]),
        values=_array(entry["values"], (-1,)),
        half_widths=_array(entry["half_widths"], (-1,)),
        refits=tuple(
            Refit(
                refit["change"],
                _array(refit["values"], (-1,)),
                _array(refit["half_widths"], (-1,)),
                FitStatus(refit["status"]),
                refit["problem"],
            )
            for refit in entry["refits"]
        ),
    )


def _trend(entry: Mapping[str, Any]) -> ResidualTrend:
    curves = {name: _array(entry[name], (-1,)) for name in ("edges", "mean", "low", "high")}
    return ResidualTrend(**{**entry, **curves})


def _applied(entry: Mapping[str, Any]) -> AppliedParameter:
    values = tuple(_number(value) for value in entry["values"])
    return AppliedParameter(entry["name"], values, entry["modifier"], entry.get("robot"))


def _parameter(name: str, entry: Mapping[str, Any]) -> ParameterEstimate:
    return ParameterEstimate(
        name=name,
        unit=entry["unit"],
        initial=_number(entry["initial"]),
        value=_number(entry["value"]),
        lower=_number(entry["lower"], unknown=-np.inf),
        upper=_number(entry["upper"], unknown=np.inf),
        standard_error=entry["standard_error"],
        dof=_number(entry["dof"], unknown=np.inf),
        flags=tuple(entry["flags"]),
    )


def _score(entry: Mapping[str, Any] | None) -> Score | None:
    if entry is None:
        return None
    return Score(
        rmse={name: _number(value) for name, value in entry["rmse"].items()},
        rmse_initial={name: _number(value) for name, value in entry["rmse_initial"].items()},
        units=dict(entry["units"]),
        rmse_all=_number(entry["rmse_all"]),
        rmse_all_initial=_number(entry["rmse_all_initial"]),
        unit_all=entry["unit_all"],
        windows=entry["windows"],
        mae={name: _number(value) for name, value in entry.get("mae", {}).items()},
        mae_initial={name: _number(v) for name, v in entry.get("mae_initial", {}).items()},
        mae_all=_number(entry.get("mae_all")),
        mae_all_initial=_number(entry.get("mae_all_initial")),
    )


def iteration_from(entry: Mapping[str, Any], names: tuple[str, ...]) -> Iteration:
    """The opposite of :func:`~sysid_ros.results.document.iteration_entry`."""
    return Iteration(
        iteration=entry["iteration"],
        cost=_number(entry["cost"]),
        gradient_norm=_number(entry["gradient_norm"]),
        names=names,
        values=_array(entry["values"], (-1,)),
        elapsed=_number(entry["elapsed"]),
    )


def _provenance(document: Mapping[str, Any]) -> dict[str, str]:
    return {
        **document["provenance"],
        **{VERSION_PREFIX + name: text for name, text in document["versions"].items()},
        **{HASH_PREFIX + name: text for name, text in document["hashes"].items()},
    }


def _number(value: float | None, *, unknown: float = float("nan")) -> float:
    return unknown if value is None else float(value)


def _array(values: list[Any], shape: tuple[int, ...]) -> FloatArray:
    return np.array(values, dtype=np.float64).reshape(shape)  # None becomes NaN
