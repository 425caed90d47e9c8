# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reports: HTML files of one piece that need no network."""

from __future__ import annotations

from sysid_ros.report.overlay_data import overlay_content
from sysid_ros.report.render import render_comparison, render_page, render_report
from sysid_ros.report.several_results import compared_parameters
from sysid_ros.report.svg import number, unit
from sysid_ros.report.trend_page import render_trends
