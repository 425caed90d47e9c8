# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``comparison.json``: several models compared, as plain numbers and words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sysid_ros.comparison.compare import Comparison
from sysid_ros.comparison.pick import Pick
from sysid_ros.judgement import Outcome
from sysid_ros.results import SCORE, parameter_entry

FORMAT = 1


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Lay a comparison out as the content of ``comparison.json``.

    Returns:
      Nested dictionaries; ``models`` has the parameters and scores of each model as in
      ``result.json``, ``chosen`` is the model chosen for the whole (``None`` where fits have not
      converged), and ``joints`` has the choice for each joint.
    """
    overall = comparison.overall
    return {
        "format": FORMAT,
        "title": comparison.title,
        "models": {
            name: _model(comparison, name, outcome) for name, outcome in comparison.outcomes.items()
        },
        "failures": comparison.failures,
        "chosen": overall.chosen or None,
        "best": overall.best,
        "reason": overall.reason,
        "joints": {joint: _pick(found) for joint, found in comparison.joints.items()},
        "paired_over": comparison.errors.units,
        "effective_samples": comparison.effective_samples,
        "warnings": comparison.warnings,
    }


def _model(comparison: Comparison, name: str, outcome: Outcome) -> Mapping[str, Any]:
    fit = outcome.fit
    return {
        "status": fit.status.value,
        "message": fit.message,
        "number_of_parameters": len(fit.parameters),
        "parameters": {p.name: parameter_entry(p) for p in fit.parameters},
        "validation": SCORE.write(outcome.validation),
        "training": SCORE.write(outcome.training),
        "bic": comparison.bic[name],
        "p_worse": comparison.overall.p_worse[name],
        "elapsed": fit.elapsed,
    }


def _pick(found: Pick) -> Mapping[str, Any]:
    return {
        "chosen": found.chosen or None,
        "best": found.best,
        "reason": found.reason,
        "rmse": found.rmse,
        "unit": found.unit,
        "p_worse": found.p_worse,
    }
