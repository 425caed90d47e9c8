"""Reports: HTML files of one piece that need no network."""

from __future__ import annotations

from sysid_ros.report.render import render_comparison, render_report

__all__ = ["render_comparison", "render_report"]
