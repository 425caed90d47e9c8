# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A page that shows estimates while a robot moves, served on this machine alone."""

from __future__ import annotations

from sysid_ros.estimate_page.estimate_history import EstimateHistory
