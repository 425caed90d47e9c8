# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A comparison of models as one HTML page: the choice, a table, a plot, and the predictions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from markupsafe import Markup

from sysid_ros.comparison.compare import Comparison, predicted
from sysid_ros.comparison.model_rows import joint_rows, model_rows
from sysid_ros.comparison.paired import LEVEL, HeldOut
from sysid_ros.report import compared_parameters, number, overlay_content, render_page, unit
from sysid_ros.report.svg import Axis, Frame, NamedAxis, element, group, with_unit


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
