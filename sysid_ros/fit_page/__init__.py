# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A page that shows a running fit, served on this machine alone, and the server of such pages."""

from __future__ import annotations

from sysid_ros.fit_page.fit_progress import PageProgress
from sysid_ros.fit_page.page_server import LivePage
