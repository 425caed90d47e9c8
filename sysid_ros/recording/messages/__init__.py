# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages by themselves: definitions, trees of values, field paths, fast decoding."""

from __future__ import annotations

from sysid_ros.recording.messages.components import (
    HEADING,
    Components,
    headings,
    unit_quaternions,
)
from sysid_ros.recording.messages.definitions import Definitions
from sysid_ros.recording.messages.field_paths import EVERY, FieldPath, parse_field, texts_of
from sysid_ros.recording.messages.field_units import unit_of
from sysid_ros.recording.messages.message_layout import FieldReader
from sysid_ros.recording.messages.message_tree import (
    Group,
    GroupArray,
    Node,
    Number,
    NumberArray,
    Text,
    TextArray,
    locate,
)
from sysid_ros.recording.messages.message_types import (
    CLOCK,
    HEADER,
    is_asked,
    is_command,
    is_reported,
    message_type,
    reports_command,
)
from sysid_ros.recording.messages.owners import Owner, Turns, lack_name, owner_name
from sysid_ros.recording.messages.stored_message import Clock, Definition, RawMessage, ros2_type
from sysid_ros.recording.messages.topic_columns import TimeCount, TopicColumns, TopicDecoder
from sysid_ros.recording.messages.trajectories import TrajectoryReader, is_expanded, is_goal, played
from sysid_ros.recording.messages.weighted_fields import is_played, numbers_of, parse_fields
