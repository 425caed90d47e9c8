"""The report: one HTML file that needs no network."""

from __future__ import annotations

from sysid_ros.report.render import render_report

__all__ = ["render_report"]
