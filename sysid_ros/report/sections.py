# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The sections of a report: one row of a table each.

A new section is a template of its name, with an element of that id, and a row in :data:`SECTIONS`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sysid_ros.judgement import Judgement, Outcome, residual_diagnostics
from sysid_ros.report import several_results, table_rows
from sysid_ros.report.history import history_rows
from sysid_ros.report.next_experiment import next_experiment
from sysid_ros.video import Video, telling_stretch

Content = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """The inputs of a report."""

    outcome: Outcome  # the result
    # earlier results of the same model by their label, the latest first
    previous: Mapping[str, Outcome]
    video: Video  # an animation of the robot, or why there is none

    @cached_property
    def history(self) -> Any:
        """The rows of the earlier results."""
        return history_rows(self.outcome, self.previous)


@dataclass(frozen=True)
class Section:
    """One section of a report."""

    name: str  # of its template, and its anchor
    title: str  # in the list of sections; empty for what stands at the top anyway
    # what its template asks for beside ``outcome`` and ``fit``; ``None`` leaves it out
    content: Callable[[Shown], Content | None]


def _verdict(shown: Shown) -> Content:
    score = shown.outcome.score
    return {
        "tone": _tone(shown.outcome),
        "score": score,
        "errors": table_rows.errors(score, shown.outcome),
        "history": shown.history,
    }


def _tone(outcome: Outcome) -> str:
    """``good``, ``caution`` or ``bad``: how the verdict is coloured."""
    score = outcome.score
    worse = score is not None and not score.rmse_all < score.rmse_all_initial
    if worse or outcome.judgement in _BAD:
        return "bad"
    clean = outcome.fit.status.value == "CONVERGED" and not outcome.warnings
    return "good" if clean and outcome.validation is not None else "caution"


_BAD = (
    Judgement.SUSPECT_DATA,
    Judgement.WINDOWS_TOO_LONG,
    Judgement.CONTRADICTED,
    Judgement.OVERFIT,
    Judgement.NO_SKILL,
    Judgement.NO_IMPROVEMENT,
    Judgement.UNEXPLAINED,
)


def _parameters(shown: Shown) -> Content:
    fit = shown.outcome.fit
    return {
        "parameters": table_rows.parameter_rows(fit),
        "parameters_yaml": table_rows.parameters_as_yaml(fit),
    }


def _signals(shown: Shown) -> Content | None:
    if not shown.outcome.sequences:
        return None
    columns, rows = table_rows.sequence_rows(shown.outcome.sequences)
    first = table_rows.first_shown(shown.outcome.sequences)
    return {"signal_columns": columns, "sequence_rows": rows, "first_shown": first}


def _torque(shown: Shown) -> Content | None:
    findings = shown.outcome.fit.torque
    return None if findings is None else {"torque": findings}


def _residuals(shown: Shown) -> Content | None:
    sequences = shown.outcome.sequences
    held_out = [s for s in sequences if s.role == "validation"]
    diagnostics = residual_diagnostics(held_out or sequences)
    diagnosed = "held-out" if held_out else "training"
    return {"diagnosed": diagnosed, "diagnostics": diagnostics} if diagnostics else None


def _identifiability(shown: Shown) -> Content:
    return {
        "correlations": table_rows.correlations(shown.outcome.fit),
        "unclaimed": table_rows.unclaimed_rows(shown.outcome.fit),
        "suggestions": next_experiment(shown.outcome),
    }


def _forecast(shown: Shown) -> Content | None:
    found = shown.outcome.forecast
    return None if found is None else {"forecast": found}


def _optimisation(shown: Shown) -> Content | None:
    return {} if shown.outcome.fit.trace or shown.outcome.fit.landscapes else None


def _bias(shown: Shown) -> Content | None:
    outcome = shown.outcome
    if outcome.fit.torque is not None and not (outcome.bias or outcome.fit.model_error):
        return None  # it simulated nothing that could be refitted otherwise
    return {"refit_shift": table_rows.refit_shift, "error_shift": table_rows.error_shift}


def _windows(shown: Shown) -> Content | None:
    check = shown.outcome.window_check
    return None if check is None else {"window_estimate": table_rows.window_estimate}


def _video(shown: Shown) -> Content:
    if shown.video.content is None:
        return {"video": None, "video_reason": shown.video.reason}
    stretch = telling_stretch(shown.outcome.sequences)
    return {
        "video": base64.b64encode(shown.video.content).decode("ascii"),
        "shown": shown.outcome.sequences[stretch.sequence] if stretch else None,
        "stretch": stretch,
    }


def _data(shown: Shown) -> Content | None:
    quality = shown.outcome.quality
    return {"clock_relation": table_rows.clock_relation} if quality else None


def _history(shown: Shown) -> Content | None:
    return {"significant": several_results.SIGNIFICANT} if shown.history else None


SECTIONS = (
    Section("verdict", "", _verdict),
    Section("parameters", "Parameters", _parameters),
    Section("signals", "Signals", _signals),
    Section("torque", "Torque", _torque),
    Section("residuals", "Residuals", _residuals),
    Section("identifiability", "Identifiability", _identifiability),
    Section("forecast", "Predicted errors", _forecast),
    Section("optimisation", "Optimisation", _optimisation),
    Section("bias", "Bias", _bias),
    Section("windows", "Windows", _windows),
    Section("video", "Video", _video),
    Section("data", "Data", _data),
    Section("provenance", "Provenance", lambda shown: {}),
    Section("history", "History", _history),
)


def shown_sections(shown: Shown) -> tuple[list[Section], dict[str, Any]]:
    """Return the sections that have something to say, and what all their templates ask for."""
    contents = [(section, section.content(shown)) for section in SECTIONS]
    sections = [section for section, content in contents if content is not None]
    return sections, {key: value for _, part in contents for key, value in (part or {}).items()}
