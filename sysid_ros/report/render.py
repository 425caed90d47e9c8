# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reports as single HTML files: of one fit, and of several compared."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from sysid_ros.judgement import Outcome, residual_diagnostics
from sysid_ros.report import several_results, table_rows
from sysid_ros.report.bias_table import bias_rows
from sysid_ros.report.history import history_rows
from sysid_ros.report.next_experiment import next_experiment
from sysid_ros.report.signal_data import signal_data
from sysid_ros.report.svg import charts, heatmap, numbers, pairs
from sysid_ros.video import Video, telling_stretch

_TEMPLATES = Path(__file__).parent / "templates"


def render_report(
    outcome: Outcome,
    previous: Mapping[str, Outcome] | None = None,
    video: Video | None = None,
) -> str:
    """Render ``outcome`` as one HTML document.

    The document loads nothing: style, script (uPlot for the signals) and data are inside, and a
    content security policy forbids the browser every request.

    Args:
      outcome: What the pipeline delivered, or what was read back from a result folder.
      previous: Earlier results of the same model by their label, the latest first.
      video: An animation of the robot, or why there is none.

    Returns:
      The text of ``report.html``.
    """
    return render_page(
        "report.html.j2",
        ("tables.js", "uplot.js", "signals.js", "video.js"),
        title=f"{outcome.title}: identification report",
        history=history_rows(outcome, previous or {}),
        significant=several_results.SIGNIFICANT,
        **_content(outcome),
        **_video(outcome, video or Video(None, "none was made")),
    )


def render_comparison(results: Mapping[str, Outcome]) -> str:
    """Render several results beside each other as one HTML document.

    Args:
      results: At least two outcomes by the name each is shown under.

    Returns:
      The text of the document, self-contained like a report.
    """
    return render_page(
        "comparison.html.j2",
        ("tables.js",),
        title=f"Comparison of {len(results)} results",
        results=several_results.result_rows(results),
        parameters=several_results.compared_parameters(list(results.values())),
        cautions=several_results.cautions(results),
        significant=several_results.SIGNIFICANT,
    )


def render_page(template: str, scripts: Sequence[str], **content: Any) -> str:
    """Render a template as one HTML document that loads nothing.

    Args:
      template: Its file name; it extends ``base.html.j2``.
      scripts: File names of the scripts to put inside.
      **content: What the template asks for.
    """
    script = "\n".join(asset(name) for name in scripts)
    return (
        _environment()
        .get_template(template)
        .render(
            style=asset("uplot.css") + asset("report.css"),
            script=script,
            script_hash=_content_hash(script),
            **content,
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=numbers.number,
        plural=numbers.plural,
        unit=numbers.unit,
    )
    environment.globals.update(
        charts=charts, heatmap=heatmap, pairs=pairs, percent_change=numbers.percent_change
    )
    return environment


def _content(outcome: Outcome) -> dict[str, Any]:
    held_out = [s for s in outcome.sequences if s.role == "validation"]
    columns, sequences = table_rows.sequence_rows(outcome.sequences)
    return {
        "outcome": outcome,
        "fit": outcome.fit,
        "tone": _tone(outcome),
        "score": outcome.validation or outcome.training,
        "error_rows": table_rows.error_rows(outcome.validation or outcome.training),
        "parameters": table_rows.parameter_rows(outcome.fit),
        "parameters_yaml": table_rows.parameters_as_yaml(outcome.fit),
        "signal_columns": columns,
        "sequence_rows": sequences,
        "diagnosed": "held-out" if held_out else "training",
        "diagnostics": residual_diagnostics(held_out or outcome.sequences),
        "correlations": table_rows.correlations(outcome.fit),
        "suggestions": next_experiment(outcome),
        "bias_rows": bias_rows(outcome.bias),
        "licence": asset("uplot.LICENSE"),
        "data": json_for_html(signal_data(outcome.sequences, outcome.fit.noise)),
    }


def _video(outcome: Outcome, video: Video) -> dict[str, Any]:
    """Return the content of the animation's section."""
    if video.content is None:
        return {"video": None, "video_reason": video.reason}
    stretch = telling_stretch(outcome.sequences)
    return {
        "video": base64.b64encode(video.content).decode("ascii"),
        "shown": outcome.sequences[stretch.sequence] if stretch else None,
        "stretch": stretch,
    }


def _tone(outcome: Outcome) -> str:
    """``good``, ``caution`` or ``bad``: how the verdict is coloured."""
    score = outcome.validation or outcome.training
    if score is not None and not score.rmse_all < score.rmse_all_initial:
        return "bad"
    clean = outcome.fit.status.value == "CONVERGED" and not outcome.warnings
    return "good" if clean and outcome.validation is not None else "caution"


def asset(name: str) -> str:
    """The text of a file that lies among the templates."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _content_hash(script: str) -> str:
    """The source expression by which the content security policy admits exactly this script."""
    digest = hashlib.sha256(script.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def json_for_html(document: object) -> str:
    """JSON that cannot end the script element it stands in, whatever its texts contain."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
