# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A fit server whose child processes run the functions of :mod:`fits`; for ``python -m``."""

from __future__ import annotations

import sys

from rclpy.executors import MultiThreadedExecutor

from sysid_ros.nodes.fit_server.node import FitServer
from sysid_ros.nodes.process import run_node

if __name__ == "__main__":
    sys.exit(
        run_node(
            lambda: FitServer(program=("fits", "by_name")),
            make_executor=lambda: MultiThreadedExecutor(num_threads=3),
            ready_to_end=FitServer.ready_to_end,
        )
    )
