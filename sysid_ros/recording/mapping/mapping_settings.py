# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Requests to the signal map; the experiment file's signals and masks have this shape."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from sysid_ros.recording.messages import Clock


class ClockCorrection(str, Enum):
    """The choices for translating stamps to the recorder's clock."""

    NONE = "none"
    OFFSET = "offset"  # one shift for each topic
    DRIFT = "drift"  # a shift that grows with time, for clocks that run apart


class Interpolation(str, Enum):
    """The behaviour of a signal between its samples."""

    HOLD = "hold"  # commands: the last value stays in force
    LINEAR = "linear"  # measurements
    CUBIC = "cubic"  # samples of a planned motion: a spline joins them


class SignalKind(str, Enum):
    """The elements of a model that a signal can be tied to."""

    ACTUATOR = "actuator"
    SENSOR = "sensor"
    QPOS = "qpos"
    QVEL = "qvel"
    WRENCH = "wrench"  # read as six signals of kind ACTUATOR
    EFFORT = "effort"  # read as one of kind ACTUATOR
    SERVO = "servo"  # read as one of kind ACTUATOR
    VELOCITY_SERVO = "velocity_servo"  # read as one of kind ACTUATOR


class MaskRequest(Protocol):
    """A message field that says when something counts: powered, in a mode, in sight."""

    @property
    def topic(self) -> str:
        """Topic of the recording."""

    @property
    def field(self) -> str:
        """Path of a boolean or number within the message."""

    @property
    def equals(self) -> float | tuple[float, ...] | None:
        """The value, or the values, that mean enabled; ``None`` for any but 0."""

    @property
    def invert(self) -> bool:
        """True if it is enabled when this does not hold."""

    @property
    def clock(self) -> Clock | None:
        """The time of a message that counts; ``None`` for the experiment's choice."""


class SignalRequest(Protocol):
    """A message field tied to an element of the model."""

    @property
    def kind(self) -> SignalKind:
        """The kind of element that the signal is tied to."""

    @property
    def name(self) -> str:
        """The actuator, sensor or joint."""

    @property
    def topic(self) -> str:
        """Topic of the recording."""

    @property
    def field(self) -> str:
        """Path of the field within the message."""

    @property
    def factor(self) -> float:
        """The model's units in one of the field's: the value is factor * field + offset."""

    @property
    def offset(self) -> float:
        """In the model's unit."""

    @property
    def z_down(self) -> bool:
        """True if y and z of the field's frames, the world's and the body's, point oppositely."""

    @property
    def noise(self) -> float | None:
        """Standard deviation in the model's unit; ``None`` if it is to be estimated."""

    @property
    def interpolation(self) -> Interpolation | None:
        """Between samples; ``None`` to go by the message type."""

    @property
    def clock(self) -> Clock | None:
        """The time of a message that counts; ``None`` for the experiment's choice."""

    @property
    def enabled_when(self) -> Sequence[MaskRequest]:
        """The conditions under which the signal counts."""


class MappingRequest(Protocol):
    """Settings of the signal map; the experiment file has this shape."""

    @property
    def signals(self) -> Sequence[SignalRequest]:
        """The signals to read."""

    @property
    def clock(self) -> Clock:
        """The time of a message that counts, where a signal does not say."""

    @property
    def clock_correction(self) -> ClockCorrection:
        """The translation of stamps to the recorder's clock."""

    @property
    def max_gap(self) -> float:
        """Longer intervals [s] without a sample are listed as gaps."""

    @property
    def enabled_when(self) -> Sequence[MaskRequest]:
        """The conditions under which anything counts, besides each signal's own."""
