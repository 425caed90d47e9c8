# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The page of estimates, for reading only."""

from __future__ import annotations

from sysid_ros.estimate_page.estimate_history import EstimateHistory
from sysid_ros.fit_page import LivePage


class EstimatePage(LivePage):
    """Serves estimates as they come."""

    def __init__(self, port: int, history: EstimateHistory) -> None:
        """Begin to serve.

        Args:
          port: TCP port on the loopback address; 0 for any free one.
          history: What is shown.

        Raises:
          FitPageError: The port is no port or in use.
        """
        super().__init__(port, history, "sysid_ros.estimate_page")
