# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From fields of messages to signals of the model: clocks, masks, gaps, the signal map."""

from __future__ import annotations

from sysid_ros.recording.mapping.dating import differing_clocks, stamp_relation
from sysid_ros.recording.mapping.even_rate import at_even_rate
from sysid_ros.recording.mapping.mapped_recording import MappedRecording, MappedSignal
from sysid_ros.recording.mapping.mapped_series import (
    control_time_series,
    export,
    measured_columns,
    measured_time_series,
)
from sysid_ros.recording.mapping.mapping_settings import (
    ClockCorrection,
    Interpolation,
    MaskRequest,
    SignalKind,
    SignalRequest,
)
from sysid_ros.recording.mapping.restarts import split_at_restarts
from sysid_ros.recording.mapping.samples import are_measurements
from sysid_ros.recording.mapping.sending_habits import SendingHabit
from sysid_ros.recording.mapping.signal_map import WantedFields, map_columns, map_recording
from sysid_ros.recording.mapping.simulation_time import CLOCK_TOPIC, SimulationTime, simulation_time
from sysid_ros.recording.mapping.stamps import are_set, choose_stamps, telling_clock
from sysid_ros.recording.mapping.topic_quality import TopicQuality, doubts_of
from sysid_ros.recording.mapping.turns import DEGREES, joined_turns, names_angle, within_one
