# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the node ``fit_server``."""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.node import Node

from sysid_ros.fit_worker import FitRequest
from sysid_ros.nodes.parameters import NodeParameters


@dataclass(frozen=True)
class FitServerSettings:
    """The node's settings."""

    experiment_dir: str  # folder for experiment files given by relative path; empty for none
    request: FitRequest  # the part of every request that is the node's
    live_page_port: int  # port of the page that shows fits; 0 for none
    keeps_ahead: bool  # whether the process of the next fit waits with all imports done


def declare_fit_server(node: Node) -> FitServerSettings:
    """Declare all parameters and read them.

    Raises:
      ExperimentError: A value is not valid.
    """
    given = NodeParameters(node)
    experiment_dir = given.text(
        "experiment_dir", "", "folder for experiment files given by relative path"
    )
    request = FitRequest(
        data_dir=given.text("data_dir", "", "folder where bags are looked for"),
        output_dir=given.text("output_dir", "results", "folder for the result folders"),
        allow_hooks=given.flag(
            "allow_hooks", False, "whether experiments may run their own Python code"
        ),
        allow_outside_output=given.flag(
            "allow_outside_output",
            False,
            "whether experiments may keep a study of trials elsewhere than below output_dir",
        ),
        threads=given.integer("threads", 0, "threads per fit; 0 lets the experiment decide", low=0),
        nice=given.integer(
            "nice", 0, "how much a fit stands back behind the robot's processes", low=0, high=19
        ),
    )
    port = given.integer(
        "live_page_port",
        0,
        "port of a page on this machine that shows fits; 0: none",
        low=0,
        high=65535,
    )
    ahead = given.flag(
        "ahead", True, "whether the process of the next fit waits with all imports done"
    )
    return FitServerSettings(experiment_dir, request, port, ahead)
