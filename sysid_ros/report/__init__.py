# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reports: HTML files of one piece that need no network."""

from __future__ import annotations

from sysid_ros.report.render import render_comparison, render_report

__all__ = ["render_comparison", "render_report"]
