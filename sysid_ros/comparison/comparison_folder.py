# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One comparison of models as a result folder: its numbers, and a page that shows the choice."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from markupsafe import Markup

from sysid_ros.comparison.compare import Comparison, predicted
from sysid_ros.comparison.comparison_document import comparison_document
from sysid_ros.comparison.model_rows import joint_rows, model_rows
from sysid_ros.comparison.paired import LEVEL, HeldOut
from sysid_ros.files import replace_file, translated_os_errors, write_json
from sysid_ros.report import compared_parameters, number, overlay_content, render_page, unit
from sysid_ros.report.svg import Axis, Frame, NamedAxis, element, group, with_unit
from sysid_ros.results import discard, open_work_folder, publish, write_parameters

COMPARISON = "comparison.json"
PAGE = "comparison.html"


def write_comparison(comparison: Comparison, output_dir: Path) -> Path:
    """Write a comparison into a new folder below ``output_dir``, created if missing.

    Returns:
      The folder, with ``comparison.json``, ``comparison.html``, and each model's
      ``parameters.yaml`` in a folder of its name.

    Raises:
      OutputError: If it cannot be written; nothing is left behind then.
    """
    work = open_work_folder(output_dir, f"{comparison.title}-models")
    try:
        with translated_os_errors(output_dir):
            write_json(work / COMPARISON, comparison_document(comparison))
            replace_file(work / PAGE, render_models(comparison))
            for name, outcome in comparison.outcomes.items():
                (work / name).mkdir()
                write_parameters(work / name / "parameters.yaml", outcome)
        return publish(work)
    except BaseException:
        discard(work)
        raise


def render_models(comparison: Comparison) -> str:
    """Render a comparison of models as one HTML document that loads nothing."""
    return render_page(
        "models.html.j2",
        "overlay.js",
        title=f"{comparison.title}: comparison of {len(comparison.outcomes)} models",
        chosen=f"{comparison.overall.chosen or 'No model'} is chosen",
        reason=comparison.overall.reason,
        warnings=comparison.warnings,
        models=[replace(row, unit=unit(row.unit)) for row in model_rows(comparison)],
        failures=comparison.failures,
        chart=_chart(comparison.errors),
        units=comparison.errors.units,
        level=f"{LEVEL:.0%}",
        penalty=number(math.log(max(comparison.effective_samples, 1.0)), 3),
        effective=f"{comparison.effective_samples:.0f}",
        joints=[replace(row, unit=unit(row.unit)) for row in joint_rows(comparison)],
        parameters=compared_parameters(list(comparison.outcomes.values())),
        **overlay_content({name: predicted(o) for name, o in comparison.outcomes.items()}),
    )


def _chart(errors: HeldOut) -> Markup:
    """Every model's error on each unit, and over all of them."""
    label = with_unit("held-out RMSE", errors.unit)
    total = [errors.rmse(model) for model in errors.models]
    frame = Frame(
        NamedAxis.of(errors.models),
        Axis.over([*errors.errors.ravel(), *total], label, logarithmic=True),
        "Held-out error by model: "
        + ", ".join(f"{m} {number(v)}" for m, v in zip(errors.models, total, strict=True)),
    )
    parts = []
    for place, model in enumerate(errors.models):
        values = errors.of(model)
        spread = place + 0.5 * (np.linspace(0.0, 1.0, values.size) - 0.5)
        parts.append(group([frame.dots(spread.tolist(), values.tolist())], css="dots faint"))
        row = frame.row(total[place])
        ends = {"x1": frame.column(place - 0.35), "x2": frame.column(place + 0.35)}
        parts.append(element("line", css="mark", y1=row, y2=row, **ends))
    return frame.svg(*parts)
