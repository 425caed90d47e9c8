# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fields of messages as signals of the model: which are which, in the lines of an experiment."""

from __future__ import annotations

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import driven_joints, moved_by, tied_joints
from sysid_ros.proposal.signals.given_signals import signals_in
from sysid_ros.proposal.signals.lines import SERVOS, Line
from sysid_ros.proposal.signals.mapping import Mapping, as_drafted, servo_sensors, unzeroed
from sysid_ros.proposal.signals.recorded_signals import (
    MOST_READ,
    RecordedSignals,
    at_commanded_speeds,
    in_no_frame,
    recorded_signals,
    without_efforts,
    without_mistaken,
)
from sysid_ros.proposal.signals.rotor_speeds import as_straight, shares_as_thrusts
from sysid_ros.proposal.signals.unread import unread
