# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``result.json``: an :class:`~sysid_ros.judgement.outcome.Outcome` as plain numbers and words.

The arrays of the signals are in ``residuals.npz`` (:mod:`sysid_ros.results.signals_file`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sysid_ros.engine.estimation import BiasCheck, Combination, FitResult, Landscape
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.files import (
    LIST,
    MAPPING,
    TEXT,
    FormError,
    Record,
    by_name,
    matrix,
    named,
    number,
    optional,
    several,
)
from sysid_ros.judgement import (
    HASH_PREFIX,
    VERSION_PREFIX,
    AppliedParameter,
    Evaluation,
    Outcome,
    Score,
    SequenceFit,
)

FORMAT = 1

SCORE = optional(Record(Score).form)
APPLIED = several(Record(AppliedParameter).form)
_TEXTS = by_name(TEXT)
STEP = Record(Iteration)
_STEP = Record(Iteration, without=("names", "units"))  # all steps of a fit have the same
_PARAMETER = Record(
    ParameterEstimate,
    without=("name",),
    lower=number(-math.inf),
    upper=number(math.inf),
    dof=number(math.inf),
)
PARAMETERS = named(_PARAMETER)
_FIT = Record(
    FitResult,
    without=("trace", "residuals", "first_errors"),
    parameters=PARAMETERS,
    covariance=matrix(),
    landscapes=several(Record(Landscape, cost=matrix(math.inf)).form),
)
_OUTCOME = Record(
    Outcome,
    without=("fit", "sequences", "provenance"),
    keys={"bias": "bias_check", "trends": "residual_trends"},
    combinations=named(Record(Combination, without=("name",))),
)


def document_from(outcome: Outcome) -> dict[str, Any]:
    """Lay an outcome out as the content of ``result.json``.

    Returns:
      Nested dictionaries. Numbers that are unknown or unbounded are NaN or infinite here and
      become ``null`` in the file. Provenance entries named ``version ...`` and ``sha256 ...``
      stand under ``versions`` and ``hashes``, without the prefix.
    """
    fit = outcome.fit
    written = _OUTCOME.write(outcome)
    head = {key: written.pop(key) for key in ("title", "verdict", "judgement", "warnings")}
    return {
        "format": FORMAT,
        **head,
        **_FIT.write(fit),
        **written,
        "parameters": {p.name: parameter_entry(p) for p in fit.parameters},
        "bias_check": _bias_entry(outcome.bias, written["bias_check"]),
        **_provenance_entry(outcome.provenance),
        "trace": trace_entry(fit.trace),
    }


def outcome_from(document: Mapping[str, Any], sequences: tuple[SequenceFit, ...]) -> Outcome:
    """Return the outcome that :func:`document_from` laid out.

    Raises:
      FormError: Something is missing or of another type.
    """
    fit = _FIT.read(document, "", trace=trace_from(document.get("trace"), "trace"))
    provenance = {
        prefix + name: text
        for key, prefix in _PROVENANCE.items()
        for name, text in _TEXTS.read(document.get(key), key).items()
    }
    return _OUTCOME.read(document, "", fit=fit, sequences=sequences, provenance=provenance)


def trace_entry(trace: Sequence[Iteration]) -> dict[str, Any]:
    """Return the steps of a fit as in ``result.json``: the names once, then the numbers."""
    return {
        "names": trace[-1].names if trace else (),
        "steps": [_STEP.write(step) for step in trace],
    }


def trace_from(entry: Any, key: str) -> tuple[Iteration, ...]:
    """Return the steps that :func:`trace_entry` gave.

    Raises:
      FormError: Something is missing, of another type, or not one value for each name.
    """
    parts = MAPPING.read(entry, key)
    names = several(TEXT).read(parts.get("names"), f"{key}.names")
    steps = enumerate(LIST.read(parts.get("steps"), f"{key}.steps"))
    found = tuple(_STEP.read(step, f"{key}.steps[{i}]", names=names) for i, step in steps)
    for i, step in enumerate(found):
        if np.shape(step.values) != (len(names),):
            raise FormError(f"{key}.steps[{i}].values are not one for each of {len(names)} names")
    return found


def evaluation_document(found: Evaluation) -> dict[str, Any]:
    """Return what ``sysid_ros evaluate --json`` prints: scores as in ``result.json``."""
    return {
        "parameters": found.parameters,
        "training": SCORE.write(found.training),
        "validation": SCORE.write(found.validation),
        "sequences": {
            sequence.name: {
                "role": sequence.role,
                "rmse": {s.name: s.rmse for s in sequence.signals},
            }
            for sequence in found.sequences
        },
    }


def parameter_entry(parameter: ParameterEstimate) -> dict[str, Any]:
    """Return one parameter as in ``result.json``, with its 95 % interval."""
    return {**_PARAMETER.write(parameter), "interval": parameter.interval(0.95)}


def _bias_entry(check: BiasCheck | None, entry: dict[str, Any] | None) -> dict[str, Any] | None:
    """The check as written, with the parameters that each refit moves."""
    if check is None or entry is None:
        return None
    moved = [{"moved": check.moved(refit)} for refit in check.refits]
    return {**entry, "refits": [a | b for a, b in zip(entry["refits"], moved, strict=True)]}


_PROVENANCE = {"versions": VERSION_PREFIX, "hashes": HASH_PREFIX, "provenance": ""}


def _provenance_entry(provenance: Mapping[str, str]) -> dict[str, dict[str, str]]:
    entry: dict[str, dict[str, str]] = {key: {} for key in _PROVENANCE}
    for name, text in provenance.items():
        key = next(key for key, prefix in _PROVENANCE.items() if name.startswith(prefix))
        entry[key][name.removeprefix(_PROVENANCE[key])] = text
    return entry
