# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Logs of runs, for people and for the tools that they watch runs with."""

from __future__ import annotations

from sysid_ros.run_logs.run_log import Run, RunLogs, settings_of
