# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What in a recording is what, said without an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sysid_ros.experiment.experiment_schema import SignalConfig
from sysid_ros.recording.bags import open_recording
from sysid_ros.recording.mapping import (
    ClockCorrection,
    MappedRecording,
    MaskRequest,
    SignalRequest,
    map_recording,
)
from sysid_ros.recording.mapping.mapping_settings import SignalKind
from sysid_ros.recording.messages import Clock


@dataclass(frozen=True)
class Mapping:
    """As :class:`~sysid_ros.recording.mapping.MappingRequest`, with an experiment's defaults."""

    signals: Sequence[SignalRequest]
    clock: Clock = Clock.HEADER
    max_gap: float = 0.1
    enabled_when: Sequence[MaskRequest] = ()
    clock_correction: ClockCorrection = ClockCorrection.NONE


SHOULDER = SignalConfig(SignalKind.SENSOR, "shoulder", "/joint_states", "position[shoulder]")
COMMAND = SignalConfig(SignalKind.ACTUATOR, "motor", "/command", "data[0]")


def mapped(
    path: Path,
    *signals: SignalRequest,
    start: float | None = None,
    end: float | None = None,
    **settings: Any,
) -> MappedRecording:
    """Some signals of a bag, all of it or from ``start`` to ``end`` [s]."""
    with open_recording(path) as recording:
        mapping = Mapping(signals, **settings)
        return map_recording(recording, mapping, name="run", start=start, end=end)
