# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rclpy.node import Node

from sysid_ros.nodes.parameters import NodeParameters
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
    given = NodeParameters(node)
    given.text("experiment", "", "experiment file whose topics are recorded", read_only=False)
    given.text(
        "robot",
        "",
        "which robot is recorded, of several in the experiment: its namespace",
        read_only=False,
    )
    given.texts(
        "topics", "further topics to record: names, or patterns such as /arm/*", read_only=False
    )
    given.text(
        "regex", "", "further topics to record: those whose whole name matches", read_only=False
    )
    given.texts("exclude", "names or patterns left out of what patterns match", read_only=False)
    given.text(
        "qos_overrides", "", "YAML file of QoS by topic, as rosbag2 takes it", read_only=False
    )
    gap = given.number(
        "max_gap", 0.1, "seconds; longer intervals between messages are gaps", low=0.0
    )
    return RecorderSettings(
        bag=_bag_settings(given),
        robot_description=given.text(
            "robot_description",
            "robot_description",
            "latched topic whose text is attached to every bag; empty for none",
        ),
        queue_depth=given.integer(
            "queue_depth", 2000, "messages per topic that may wait to be written", low=1
        ),
        max_gap_ns=round(1e9 * gap),
        stop_timeout=given.number(
            "stop_timeout",
            2.0,
            "seconds that the end of a bag waits at most for messages on their way",
            low=0.0,
        ),
        record_on_activate=given.flag(
            "record_on_activate", False, "whether activation starts a bag"
        ),
        autostart=given.flag("autostart", True, "whether the node configures and activates itself"),
        snapshot_mode=given.flag(
            "snapshot_mode", False, "keep messages in memory and write them on ~/snapshot"
        ),
        snapshot_size=round(
            1e6 * given.positive("snapshot_size", 100.0, "MB kept in snapshot mode")
        ),
        snapshot_duration=given.positive(
            "snapshot_duration", 30.0, "seconds kept in snapshot mode"
        ),
    )


def _bag_settings(given: NodeParameters) -> BagSettings:
    return BagSettings(
        output_dir=Path(given.text("output_dir", "bags", "folder for the bags")).expanduser(),
        prefix=given.text("prefix", "rosbag2", "how names of bags begin"),
        compression=given.choice(
            "compression", ("none", "zstd", "lz4"), "compression of the bag's chunks"
        ),
        split_size=given.number("split_size", 0.0, "MB per file of a bag; 0: no limit", low=0.0),
        split_duration=given.number(
            "split_duration", 0.0, "seconds per file; 0: no limit", low=0.0
        ),
        max_size=given.number(
            "max_size", 0.0, "MB at which a bag is completed; 0: no limit", low=0.0
        ),
        max_duration=given.number(
            "max_duration", 0.0, "seconds after which a bag is completed; 0: no limit", low=0.0
        ),
        min_free_disk=given.number(
            "min_free_disk", 100.0, "MB that stay free; below, the bag is completed", low=0.0
        ),
    )
