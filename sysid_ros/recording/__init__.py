# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From bags of any format to signals of the model; knows nothing of rclpy."""

from sysid_ros.recording.bags import Recording, TopicInfo, open_recording
from sysid_ros.recording.mapping import MappedRecording, MappedSignal, TopicQuality, map_recording

__all__ = [
    "MappedRecording",
    "MappedSignal",
    "Recording",
    "TopicInfo",
    "TopicQuality",
    "map_recording",
    "open_recording",
]
