# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Small static charts as inline SVG: sharp in print, styled by the page, no script."""

from __future__ import annotations

from sysid_ros.report.svg.axis import Axis, NamedAxis
from sysid_ros.report.svg.bounds import bounds_bar
from sysid_ros.report.svg.charts import (
    autocorrelation_chart,
    cost_chart,
    histogram_chart,
    limited_chart,
    normal_chart,
    parameter_chart,
    rounds,
    singular_value_chart,
    spectrum_chart,
    trend_chart,
)
from sysid_ros.report.svg.element import element, group
from sysid_ros.report.svg.forest import forest
from sysid_ros.report.svg.frame import Frame
from sysid_ros.report.svg.heatmap import heatmap
from sysid_ros.report.svg.numbers import number, percent_change, plural, to_error, unit, with_unit
from sysid_ros.report.svg.pairs import ellipse_chart, landscape_chart
from sysid_ros.report.svg.torque_charts import (
    friction_chart,
    inertia_ellipsoid_charts,
    parts_chart,
    torque_chart,
)
