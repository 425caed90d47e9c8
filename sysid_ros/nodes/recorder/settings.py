# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rclpy.node import Node

from sysid_ros.nodes import parameters
from sysid_ros.nodes.recorder.bag_session import BagSettings

READ_WHEN_CONFIGURED = ("experiment", "robot", "topics", "regex", "exclude", "qos_overrides")


@dataclass(frozen=True)
class RecorderSettings:
    """Settings that do not change while the node lives."""

    bag: BagSettings  # where and how bags are written
    # topic with the robot's description, which goes into every bag; or empty
    robot_description: str
    queue_depth: int  # messages per topic that may wait to be written
    max_gap_ns: int  # longer intervals between messages count as gaps
    stop_timeout: float  # seconds that the end of a bag waits at most for messages on their way
    record_on_activate: bool  # whether activation starts a bag
    autostart: bool  # whether the node configures and activates itself
    snapshot_mode: bool  # whether messages are kept in memory and written when asked to
    snapshot_size: int  # bytes kept at most in that mode
    snapshot_duration: float  # seconds likewise


def declare_recorder(node: Node) -> RecorderSettings:
    """Declare all parameters and read those that are fixed.

    Those in :data:`READ_WHEN_CONFIGURED` may change until the node is configured.

    Raises:
      ExperimentError: A value is not valid.
    """
    text, number = parameters.text, parameters.number
    text(node, "experiment", "", "experiment file whose topics are recorded", read_only=False)
    text(
        node,
        "robot",
        "",
        "which robot is recorded, of several in the experiment: its namespace",
        read_only=False,
    )
    parameters.texts(
        node,
        "topics",
        "further topics to record: names, or patterns such as /arm/*",
        read_only=False,
    )
    text(
        node,
        "regex",
        "",
        "further topics to record: those whose whole name matches",
        read_only=False,
    )
    parameters.texts(
        node, "exclude", "names or patterns left out of what patterns match", read_only=False
    )
    text(
        node, "qos_overrides", "", "YAML file of QoS by topic, as rosbag2 takes it", read_only=False
    )
    gap = number(
        node, "max_gap", 0.1, "seconds; longer intervals between messages are gaps", low=0.0
    )
    flag = parameters.flag
    return RecorderSettings(
        bag=_bag_settings(node),
        robot_description=text(
            node,
            "robot_description",
            "robot_description",
            "latched topic whose text is attached to every bag; empty for none",
        ),
        queue_depth=parameters.integer(
            node, "queue_depth", 2000, "messages per topic that may wait to be written", low=1
        ),
        max_gap_ns=round(1e9 * gap),
        stop_timeout=number(
            node,
            "stop_timeout",
            2.0,
            "seconds that the end of a bag waits at most for messages on their way",
            low=0.0,
        ),
        record_on_activate=flag(
            node, "record_on_activate", False, "whether activation starts a bag"
        ),
        autostart=flag(node, "autostart", True, "whether the node configures and activates itself"),
        snapshot_mode=flag(
            node, "snapshot_mode", False, "keep messages in memory and write them on ~/snapshot"
        ),
        snapshot_size=round(
            1e6 * parameters.positive(node, "snapshot_size", 100.0, "MB kept in snapshot mode")
        ),
        snapshot_duration=parameters.positive(
            node, "snapshot_duration", 30.0, "seconds kept in snapshot mode"
        ),
    )


def _bag_settings(node: Node) -> BagSettings:
    text, number = parameters.text, parameters.number
    return BagSettings(
        output_dir=Path(text(node, "output_dir", "bags", "folder for the bags")).expanduser(),
        prefix=text(node, "prefix", "rosbag2", "how names of bags begin"),
        compression=parameters.choice(
            node, "compression", ("none", "zstd", "lz4"), "compression of the bag's chunks"
        ),
        split_size=number(node, "split_size", 0.0, "MB per file of a bag; 0: no limit", low=0.0),
        split_duration=number(
            node, "split_duration", 0.0, "seconds per file; 0: no limit", low=0.0
        ),
        max_size=number(
            node, "max_size", 0.0, "MB at which a bag is completed; 0: no limit", low=0.0
        ),
        max_duration=number(
            node,
            "max_duration",
            0.0,
            "seconds after which a bag is completed; 0: no limit",
            low=0.0,
        ),
        min_free_disk=number(
            node, "min_free_disk", 100.0, "MB that stay free; below, the bag is completed", low=0.0
        ),
    )
