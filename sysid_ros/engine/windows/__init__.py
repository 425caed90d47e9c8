# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows of recordings, each simulated from a start of its own."""

from __future__ import annotations

from sysid_ros.engine.windows.closed_loops import ClosedLoops
from sysid_ros.engine.windows.contact_stretches import touches, touching_stretches
from sysid_ros.engine.windows.cutting import SequenceData, SignalColumn, window_bounds
from sysid_ros.engine.windows.measured_joints import MeasuredJoint, measured_joints
from sysid_ros.engine.windows.model_group import (
    WindowGroup,
    cut_sequence,
    driven_otherwise,
    error_in_shifts,
    model_group,
    told_from,
    usable_span,
)
from sysid_ros.engine.windows.orientations import first_orientation
from sysid_ros.engine.windows.postures import (
    EVERY,
    RESTING,
    Pair,
    Touches,
    any_touch,
    can_touch,
    drawn_overlaps,
    pushed,
    shares,
    touches_at,
)
from sysid_ros.engine.windows.starts import StartReader
from sysid_ros.engine.windows.window_batch import WindowBatch
from sysid_ros.engine.windows.window_simulation import START_SAMPLE, WindowKey, WindowSimulation
