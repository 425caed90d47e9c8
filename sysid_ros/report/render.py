# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reports as single HTML files: of one fit, and of several compared."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from sysid_ros.judgement import Outcome
from sysid_ros.report import several_results, svg
from sysid_ros.report.sections import Shown, shown_sections
from sysid_ros.report.signal_data import signal_data
from sysid_ros.video import Video

_TEMPLATES = Path(__file__).parent / "templates"


def render_report(
    outcome: Outcome, previous: Mapping[str, Outcome] | None = None, video: Video | None = None
) -> str:
    """Render ``outcome`` as one HTML document.

    The document loads nothing: style, script (uPlot for the signals) and data are inside, and a
    content security policy forbids the browser every request.

    Args:
      outcome: What the pipeline delivered, or what was read back from a result folder.
      previous: Earlier results of the same model by their label, the latest first.
      video: An animation of the robot, or why there is none.
    """
    shown = Shown(outcome, previous or {}, video or Video(None, "none was made"))
    sections, content = shown_sections(shown)
    return render_page(
        "report.html.j2",
        "signals.js",
        "video.js",
        title=f"{outcome.title}: identification report",
        outcome=outcome,
        fit=outcome.fit,
        sections=sections,
        data=json_for_html(signal_data(outcome.sequences, outcome.fit.noise)),
        **content,
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
        title=f"Comparison of {len(results)} results",
        results=results,
        parameters=several_results.compared_parameters(list(results.values())),
        cautions=several_results.cautions(results),
        significant=several_results.SIGNIFICANT,
    )


def render_page(template: str, *plots: str, alone: tuple[str, ...] = (), **content: Any) -> str:
    """Render a template as one HTML document that loads nothing.

    Args:
      template: Its file name; it extends ``base.html.j2``.
      *plots: File names of the scripts that draw, if any do; uPlot and ``curves.js`` serve them.
      alone: File names of scripts that need nothing else.
      **content: What the template asks for.
    """
    scripts = ("tables.js", *alone, *(("uplot.js", "curves.js", *plots) if plots else ()))
    script = "\n".join(asset(name) for name in scripts)
    return (
        _environment()
        .get_template(template)
        .render(
            style=asset("uplot.css") + asset("report.css"),
            script=script,
            script_hash=_content_hash(script),
            licence=asset("uplot.LICENSE") if plots else "",
            **content,
        )
    )


@functools.cache
def _environment() -> jinja2.Environment:
    """The templates, each compiled once; they may call what ``report.svg`` offers."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=svg.number, plural=svg.plural, unit=svg.unit)
    environment.globals.update({name: each for name, each in vars(svg).items() if callable(each)})
    return environment


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
