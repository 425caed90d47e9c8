# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bags as files: reading every format, following, recovering and writing them."""

from __future__ import annotations

from sysid_ros.recording.bags.bag import Recording, open_recording
from sysid_ros.recording.bags.bag_files import find_bag_files
from sysid_ros.recording.bags.bag_folder import BagFolder, BagTopic, QosProfile
from sysid_ros.recording.bags.bag_info import describe
from sysid_ros.recording.bags.clock_relation import FASTEST_CLOCK, ClockRelation, relate
from sysid_ros.recording.bags.column_reader import ColumnReader, read_columns
from sysid_ros.recording.bags.growing_bag import GrowingBag
from sysid_ros.recording.bags.mcap_extras import (
    DESCRIPTION_RECORD,
    MODEL_RECORD,
    TOPIC_RECORD,
    read_extras,
)
from sysid_ros.recording.bags.message_text import read_text
from sysid_ros.recording.bags.qos_text import read_profiles
from sysid_ros.recording.bags.recovery import BagCopy, Recovery, recover
from sysid_ros.recording.bags.spacing import LARGEST_DISORDER_NS, sampling
from sysid_ros.recording.bags.topic_types import LiveTopics, TopicTypes
