# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What in a recording is what, said without an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sysid_ros.recording.mapping import ClockCorrection, MaskRequest, SignalRequest
from sysid_ros.recording.messages import Clock


@dataclass(frozen=True)
class Mapping:
    """As :class:`~sysid_ros.recording.mapping.MappingRequest`, with an experiment's defaults."""

    signals: Sequence[SignalRequest]
    clock: Clock = Clock.HEADER
    max_gap: float = 0.1
    enabled_when: Sequence[MaskRequest] = ()
    clock_correction: ClockCorrection = ClockCorrection.NONE
