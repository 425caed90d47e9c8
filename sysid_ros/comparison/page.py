# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A comparison of models as one HTML page: the choice, a table, a plot, and the predictions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from markupsafe import Markup

from sysid_ros.comparison.compare import Comparison, predicted
from sysid_ros.comparison.comparison_table import notes
from sysid_ros.comparison.paired import LEVEL, HeldOut
from sysid_ros.report import compared_parameters, number, overlay_content, render_page, unit
from sysid_ros.report.svg import Axis, Frame, NamedAxis, element, group


def render_models(comparison: Comparison) -> str:
    """Render a comparison of models as one HTML document that loads nothing.

    Args:
      comparison: What was compared.

    Returns:
      The text of ``comparison.html``.
    """
    return render_page(
        "models.html.j2",
        ("tables.js", "uplot.js", "overlay.js"),
        title=f"{comparison.title}: comparison of {len(comparison.outcomes)} models",
        chosen=f"{comparison.overall.chosen or 'No model'} is chosen",
        reason=comparison.overall.reason,
        warnings=comparison.warnings,
        models=_models(comparison),
        failures=comparison.failures,
        chart=_chart(comparison.errors),
        units=comparison.errors.units,
        level=f"{LEVEL:.0%}",
        penalty=number(math.log(max(comparison.effective_samples, 1.0)), 3),
        effective=f"{comparison.effective_samples:.0f}",
        joints=_joints(comparison),
        parameters=compared_parameters(list(comparison.outcomes.values())),
        **overlay_content({name: predicted(o) for name, o in comparison.outcomes.items()}),
    )


def _models(comparison: Comparison) -> list[dict[str, Any]]:
    least = min(comparison.bic.values())
    rows = []
    for name, outcome in comparison.outcomes.items():
        score = outcome.validation
        rows.append(
            {
                "name": name,
                "parameters": len(outcome.fit.parameters),
                "rmse": number(score.rmse_all if score else None, zeros=True),
                "untuned": number(score.rmse_all_initial if score else None, zeros=True),
                "unit": unit(score.unit_all) if score else "",
                "bic": f"{comparison.bic[name] - least:.1f}",
                "p_worse": number(comparison.overall.p_worse[name], 2),
                "note": ", ".join(notes(comparison, name)),
            }
        )
    return rows


def _joints(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "name": joint,
            "chosen": found.chosen or "-",
            "errors": [number(found.rmse[name], zeros=True) for name in comparison.outcomes],
            "unit": unit(found.unit),
            "reason": found.reason,
        }
        for joint, found in comparison.joints.items()
    ]


def _chart(errors: HeldOut) -> Markup:
    """Every model's error on each unit, and over all of them."""
    label = f"held-out RMSE [{unit(errors.unit)}]" if errors.unit else "held-out RMSE"
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
