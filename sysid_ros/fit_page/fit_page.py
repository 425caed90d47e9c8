# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The page of a running fit, with a button that cancels it."""

from __future__ import annotations

from collections.abc import Callable

from sysid_ros.fit_page.fit_progress import PageProgress
from sysid_ros.fit_page.page_server import LivePage


class FitPage(LivePage):
    """Serves the progress of fits."""

    def __init__(self, port: int, progress: PageProgress, cancel: Callable[[], None]) -> None:
        """Begin to serve.

        Args:
          port: TCP port on the loopback address; 0 for any free one.
          progress: What is shown.
          cancel: Called, in a thread of the server, when somebody cancels the running fit.

        Raises:
          FitPageError: The port is no port or in use.
        """

        def cancel_running() -> bool:
            if not progress.running:
                return False
            progress.canceling()
            cancel()
            return True

        super().__init__(port, progress, "sysid_ros.fit_page", cancel_running)
