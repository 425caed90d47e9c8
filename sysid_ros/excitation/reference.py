# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The origin of a motion: a command for each joint as a function of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import SysidError


class ExcitationError(SysidError):
    """A motion that cannot be planned, read, or played within its limits."""


class Reference(Protocol):
    """A command as a function of time, for ``n`` joints over ``duration`` seconds."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Joint names, in the order of the values."""

    @property
    def duration(self) -> float:
        """Length in seconds."""

    @property
    def rests(self) -> bool:
        """True if it begins and ends at rest, so that nothing needs to fade it in and out."""

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) seconds after the start, clipped to the duration."""


@dataclass(frozen=True)
class SlowReference:
    """Another reference at a share of its speed."""

    reference: Reference
    speed: float  # above 0, at most 1

    @property
    def joints(self) -> tuple[str, ...]:
        """Joint names, in the order of the values."""
        return self.reference.joints

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.reference.duration / self.speed

    @property
    def rests(self) -> bool:
        """True if it begins and ends at rest."""
        return self.reference.rests

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) seconds after the start."""
        return self.reference.values(self.speed * times)
