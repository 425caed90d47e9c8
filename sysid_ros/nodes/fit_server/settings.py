# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the node ``fit_server``."""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.node import Node

from sysid_ros.fit_worker import FitRequest
from sysid_ros.nodes import parameters


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
    text, flag, integer = parameters.text, parameters.flag, parameters.integer
    experiment_dir = text(
        node, "experiment_dir", "", "folder for experiment files given by relative path"
    )
    request = FitRequest(
        data_dir=text(node, "data_dir", "", "folder where bags are looked for"),
        output_dir=text(node, "output_dir", "results", "folder for the result folders"),
        allow_hooks=flag(
            node, "allow_hooks", False, "whether experiments may run their own Python code"
        ),
        allow_outside_output=flag(
            node,
            "allow_outside_output",
            False,
            "whether experiments may keep a study of trials elsewhere than below output_dir",
        ),
        threads=integer(node, "threads", 0, "threads per fit; 0 lets the experiment decide", low=0),
        nice=integer(
            node,
            "nice",
            0,
            "how much a fit stands back behind the robot's processes",
            low=0,
            high=19,
        ),
    )
    port = integer(
        node,
        "live_page_port",
        0,
        "port of a page on this machine that shows fits; 0: none",
        low=0,
        high=65535,
    )
    ahead = flag(
        node, "ahead", True, "whether the process of the next fit waits with all imports done"
    )
    return FitServerSettings(experiment_dir, request, port, ahead)
