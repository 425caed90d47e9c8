# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Static charts: round ticks, everything inside, everything escaped."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from outcomes import outcome as synthetic

from sysid_ros.engine.estimation.landscape import Landscape
from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate
from sysid_ros.judgement.residual_diagnostics import residual_diagnostics
from sysid_ros.report.svg import charts, pairs
from sysid_ros.report.svg.axis import Axis
from sysid_ros.report.svg.bounds import bounds_bar
from sysid_ros.report.svg.element import element
from sysid_ros.report.svg.frame import HEIGHT, WIDTH, Frame
from sysid_ros.report.svg.heatmap import heatmap
from sysid_ros.report.svg.numbers import with_unit

finite = st.floats(-1e12, 1e12)


@given(st.lists(finite, max_size=20), st.booleans())
@example([0.0, 5e-324], False)
@example([5e-324], True)
@example([0.0199927, 0.0200065], False)
def test_ticks_are_few_and_inside(values: list[float], logarithmic: bool) -> None:
    axis = Axis.over(values, "x", logarithmic=logarithmic)
    ticks = axis.ticks()
    assert axis.low < axis.high
    assert 1 <= len(ticks) <= 12
    slack = 1e-9 * (axis.high - axis.low)
    assert all(axis.low - slack <= tick <= axis.high + slack for tick in ticks)
    exact = max(abs(axis.low), abs(axis.high)) < 1e12 * (axis.high - axis.low)
    assert len({axis.tick_text(tick) for tick in ticks}) == len(ticks) or not exact


def test_labels_stay_within_the_picture() -> None:
    x, y = (
        Axis.over([-0.00095, 0.00105], "x"),
        Axis.over([0.0, 1.0], "shoulder_damping [N m s/rad]"),
    )
    drawing = str(Frame(x, y, "title").svg())
    for place, label in re.findall(
        r'<text class="tick" x="([\d.]+)" y="165"[^>]*>([^<]+)<', drawing
    ):
        assert float(place) + 3.0 * len(label) <= WIDTH
    (middle,) = re.findall(r"translate\(11.0 ([\d.]+)\)", drawing)
    assert float(middle) - 3.0 * len(y.label) >= 0.0


def test_a_label_longer_than_the_picture_is_pressed_into_it() -> None:
    axes = Axis.over([0.0, 1.0], "x"), Axis.over([0.0, 1.0], "shoulder_joint_damping [N m s/rad]")
    drawing = str(Frame(*axes, "title").svg())
    (length,) = re.findall(r'textLength="([\d.]+)" lengthAdjust="spacingAndGlyphs"', drawing)
    assert float(length) <= HEIGHT


@pytest.mark.parametrize("half", [0.00044, 0.00049, 0.00083, 0.00093, 0.0012, 12345.0])
def test_an_axis_of_long_numbers_keeps_its_scale(half: float) -> None:
    frame = Frame(Axis(-half, half, "x"), Axis(0.0, 1.0, "y"), "title")
    labels = re.findall(r'<text class="tick" x="[\d.]+" y="165"[^>]*>([^<]+)<', str(frame.svg()))
    assert 2 <= len(labels) <= 5
    assert sum(map(len, labels)) * 6.0 <= 212.0  # the width of the picture between the axis' ends


def test_escaping() -> None:
    svg = element("text", "<script>", aria_label='"><b>')
    assert str(svg) == '<text aria-label="&#34;&gt;&lt;b&gt;">&lt;script&gt;</text>'


def test_parameters_over_iterations_have_their_units() -> None:
    fit = synthetic().fit
    units = {parameter.name: parameter.unit for parameter in fit.parameters}
    for index, name in enumerate(fit.trace[0].names):
        assert f"{with_unit(name, units[name])} over" in charts.parameter_chart(fit, index)
    assert any(units.values())


def test_every_chart_is_well_formed() -> None:
    made = synthetic()
    fit = made.fit
    (entry, *_) = residual_diagnostics(made.sequences)
    matrix = np.array([[1.0, -0.5], [-0.5, 1.0]])
    for svg in (
        charts.cost_chart(fit.trace),
        charts.parameter_chart(fit, 1),
        charts.histogram_chart(entry),
        charts.normal_chart(entry),
        charts.autocorrelation_chart(entry),
        charts.spectrum_chart(entry),
        charts.trend_chart(made.trends[0]),
        charts.singular_value_chart(fit.singular_values),
        charts.singular_value_chart(np.zeros(3)),
        pairs.ellipse_chart(fit, "shoulder_armature", "link2_mass"),
        pairs.landscape_chart(fit, fit.landscapes[0]),
        heatmap(["a", "b & c"], matrix),
        heatmap([f"p{i}" for i in range(40)], np.eye(40)),
    ):
        root = ET.fromstring(svg)  # noqa: S314
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"]
        assert "nan" not in str(svg) and "inf" not in str(svg).replace("info", "")


def test_a_landscape_is_darkest_at_its_lowest_point() -> None:
    fit = synthetic().fit
    (made,) = fit.landscapes
    root = ET.fromstring(pairs.landscape_chart(fit, made))  # noqa: S314
    cells = [cell for cell in root.iter("rect") if cell.attrib.get("class") in {"low", "diverged"}]
    assert len(cells) == made.cost.size
    opacity = np.array([float(cell.attrib["fill-opacity"]) for cell in cells])
    darkest = np.flatnonzero(opacity == opacity.max())
    assert (
        np.argmin(made.cost) in darkest and len(darkest) <= 2
    )  # the optimum's neighbour is as low
    assert [cell.attrib["class"] for cell in cells].count("diverged") == 1


@pytest.mark.parametrize("shape", [(1, 1), (2, 1)])
def test_a_landscape_may_be_flat_or_infinite(shape: tuple[int, int]) -> None:
    fit = synthetic().fit
    for cost in (np.ones(shape), np.full(shape, np.inf)):
        flat = Landscape(
            "shoulder_armature", "link2_mass", np.ones(shape[1]), np.arange(shape[0]) + 1.0,
            cost, (1.0, 1.0),
        )  # fmt: skip
        assert "nan" not in str(pairs.landscape_chart(fit, flat))


def test_rounds_of_the_cost_are_separate_lines() -> None:
    trace = synthetic().fit.trace
    assert len(charts.rounds(trace)) == 1
    assert [len(part) for part in charts.rounds([*trace[:3], *trace[2:5]])] == [3, 3]


@pytest.mark.parametrize("lower", [-np.inf, 0.0])
@pytest.mark.parametrize("upper", [np.inf, 2.0])
@pytest.mark.parametrize("value", [0.0, 1.0, np.nan])
@pytest.mark.parametrize("error", [None, 0.1, 50.0])
def test_bounds_bar(lower: float, upper: float, value: float, error: float | None) -> None:
    parameter = ParameterEstimate("p", "kg", 0.5, value, lower, upper, error, 10.0)
    root = ET.fromstring(bounds_bar(parameter))  # noqa: S314
    stops = [line for line in root if line.attrib.get("class") == "stop"]
    assert len(stops) == int(np.isfinite(lower)) + int(np.isfinite(upper))
    for shape in root:
        for key in ("x", "x1", "x2", "cx"):
            assert 0.0 <= float(shape.attrib.get(key, 0.0)) <= 140.0
