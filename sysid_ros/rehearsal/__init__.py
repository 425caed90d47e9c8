# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings with a known truth, and experiments rehearsed on them."""

from __future__ import annotations

from sysid_ros.rehearsal.generate import GeneratedRecording, GeneratedSignal, generate
from sysid_ros.rehearsal.plan import (
    CommandForm,
    Controller,
    ImuReadings,
    JointStates,
    Motion,
    OdometryReadings,
    Reading,
    RecordingPlan,
    RehearsalError,
    StateForm,
    Timing,
    WrenchReadings,
)
from sysid_ros.rehearsal.rehearse import Attempt, Prospect, prospects, rehearse
from sysid_ros.rehearsal.true_model import Base, based, true_model, with_true_values
from sysid_ros.rehearsal.true_parameters import TrueParameter, read_true_parameters

# What the documentation shows to users; the rest is for other rooms.
__all__ = [
    "Base",
    "CommandForm",
    "Controller",
    "GeneratedRecording",
    "ImuReadings",
    "JointStates",
    "Motion",
    "OdometryReadings",
    "RecordingPlan",
    "StateForm",
    "Timing",
    "WrenchReadings",
    "generate",
    "prospects",
    "rehearse",
]
