# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the node ``estimator``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rclpy.node import Node

from sysid_ros.engine.moving_horizon import HorizonSettings
from sysid_ros.nodes.parameters import NodeParameters

_SEARCH = 0.05  # s of an update that a search may take


@dataclass(frozen=True)
class EstimatorSettings:
    """The node's settings, the experiment aside."""

    data_dir: Path | None  # where models are looked for
    robot: str  # which of several robots: its namespace
    autostart: bool  # whether the node configures and activates itself
    horizon: HorizonSettings
    most_behind: float  # s of data that may wait
    live_page_port: int  # port of the page that shows estimates; 0 for none
    state_file: Path | None  # carries what is known over a restart
    trend_file: Path | None  # what ``sysid_ros trend --json`` printed


def declare_estimator(node: Node) -> EstimatorSettings:
    """Declare all parameters and read them.

    Raises:
      ExperimentError: A value is not valid.
    """
    given = NodeParameters(node)
    port = given.integer(
        "live_page_port", 0, "port of a page that shows estimates; 0: none", low=0, high=65535
    )
    length = given.positive(
        "horizon", 10.0, "seconds that are simulated anew when the estimate moves"
    )
    forgetting = given.number(
        "forgetting", 0.0, "seconds after which what was counts by 1/e; 0: never", low=0.0
    )
    return EstimatorSettings(
        data_dir=given.path("data_dir", "folder where models are looked for"),
        robot=given.text("robot", "", "which of several robots: its namespace"),
        autostart=given.flag("autostart", True, "whether the node configures and activates itself"),
        horizon=HorizonSettings(length, forgetting or None, search_time=_SEARCH, traced=port > 0),
        most_behind=given.positive(
            "most_behind", 2.0, "seconds of data that may wait; older windows are left out"
        ),
        live_page_port=port,
        state_file=given.path("state_file", "file that carries what is known over a restart"),
        trend_file=given.path(
            "trend_file", "what sysid_ros trend --json printed, for /diagnostics"
        ),
    )
