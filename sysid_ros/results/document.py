# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``result.json``: an :class:`~sysid_ros.judgement.outcome.Outcome` as plain numbers and words.

The arrays of the signals are in ``residuals.npz`` (:mod:`sysid_ros.results.signals_file`); with
both files :mod:`sysid_ros.results.reading` gives the outcome back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sysid_ros.engine.estimation import BiasCheck, Combination
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.judgement import Evaluation, Outcome, Score, judge

FORMAT = 1
VERSION_PREFIX = "version "
HASH_PREFIX = "sha256 "


def document_from(outcome: Outcome) -> dict[str, Any]:
    """Lay an outcome out as the content of ``result.json``.

    Args:
      outcome: What the pipeline delivered.

    Returns:
      Nested dictionaries. Numbers that are unknown or unbounded are NaN or infinite here and
      become ``null`` in the file. Provenance entries named ``version ...`` and ``sha256 ...``
      stand under ``versions`` and ``hashes``, without the prefix.
    """
    fit = outcome.fit
    return {
        "format": FORMAT,
        "title": outcome.title,
        "status": fit.status.value,
        "message": fit.message,
        "verdict": outcome.verdict,
        "judgement": judge(fit, outcome.training, outcome.validation),
        "warnings": outcome.warnings,
        "cost_initial": fit.cost_initial,
        "cost_final": fit.cost_final,
        "iterations": fit.iterations,
        "evaluations": fit.evaluations,
        "jacobians": fit.jacobians,
        "derivatives": dict(fit.derivatives),
        "elapsed": fit.elapsed,
        "optimizer": fit.optimizer,
        "parameters": {p.name: parameter_entry(p) for p in fit.parameters},
        "validation": score_entry(outcome.validation),
        "training": score_entry(outcome.training),
        "interval_method": fit.interval_method,
        "noise": fit.noise,
        "unidentifiable": fit.unidentifiable,
        "quality": [asdict(topic) for topic in outcome.quality],
        **_provenance(outcome.provenance),
        "trace": {
            "names": fit.trace[0].names if fit.trace else (),
            "steps": [iteration_entry(step) for step in fit.trace],
        },
        "singular_values": fit.singular_values,
        "covariance": fit.covariance,
        "landscapes": [asdict(landscape) for landscape in fit.landscapes],
        "bias_check": _bias(outcome.bias),
        "combinations": {c.name: _combination_entry(c) for c in outcome.combinations},
        "residual_trends": [asdict(trend) for trend in outcome.trends],
        "applied": [asdict(parameter) for parameter in outcome.applied],
    }


def evaluation_document(found: Evaluation) -> dict[str, Any]:
    """Return what ``sysid_ros evaluate --json`` prints: scores, also by recording."""
    return {
        "parameters": found.parameters,
        "training": score_entry(found.training),
        "validation": score_entry(found.validation),
        "sequences": {
            sequence.name: {
                "role": sequence.role,
                "rmse": {s.name: s.rmse for s in sequence.signals},
            }
            for sequence in found.sequences
        },
    }


def parameter_entry(parameter: ParameterEstimate) -> dict[str, Any]:
    """One parameter as in ``result.json`` and ``parameters.yaml``, with its 95 % interval."""
    return {
        "value": parameter.value,
        "unit": parameter.unit,
        "initial": parameter.initial,
        "lower": parameter.lower,
        "upper": parameter.upper,
        "standard_error": parameter.standard_error,
        "interval": parameter.interval(0.95),
        "dof": parameter.dof,
        "flags": parameter.flags,
    }


def score_entry(score: Score | None) -> dict[str, Any] | None:
    """Scores as in ``result.json``; ``None`` where nothing was scored."""
    if score is None:
        return None
    return {
        "rmse": score.rmse,
        "rmse_initial": score.rmse_initial,
        "units": score.units,
        "rmse_all": score.rmse_all,
        "rmse_all_initial": score.rmse_all_initial,
        "unit_all": score.unit_all,
        "windows": score.windows,
        "mae": score.mae,
        "mae_initial": score.mae_initial,
        "mae_all": score.mae_all,
        "mae_all_initial": score.mae_all_initial,
    }


def _combination_entry(combination: Combination) -> dict[str, Any]:
    entry = asdict(combination)
    del entry["name"]
    return entry


def iteration_entry(step: Iteration) -> dict[str, Any]:
    """One step of the optimizer as in ``result.json`` and ``checkpoint.json``."""
    return {
        "iteration": step.iteration,
        "cost": step.cost,
        "gradient_norm": step.gradient_norm,
        "elapsed": step.elapsed,
        "values": step.values,
    }


def _bias(check: BiasCheck | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return {
        "names": check.names,
        "units": check.units,
        "values": check.values,
        "half_widths": check.half_widths,
        "refits": [
            {
                "change": refit.change,
                "values": refit.values,
                "half_widths": refit.half_widths,
                "status": refit.status.value,
                "problem": refit.problem,
                "moved": check.moved(refit),
            }
            for refit in check.refits
        ],
    }


def _provenance(provenance: Mapping[str, str]) -> dict[str, dict[str, str]]:
    versions: dict[str, str] = {}
    hashes: dict[str, str] = {}
    rest: dict[str, str] = {}
    for key, text in provenance.items():
        if key.startswith(VERSION_PREFIX):
            versions[key[len(VERSION_PREFIX) :]] = text
        elif key.startswith(HASH_PREFIX):
            hashes[key[len(HASH_PREFIX) :]] = text
        else:
            rest[key] = text
    return {"versions": versions, "hashes": hashes, "provenance": rest}
