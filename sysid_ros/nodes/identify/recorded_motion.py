# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording that an identification has made, and whether it can be fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sysid_ros.errors import DataError
from sysid_ros.files import dumps
from sysid_ros_interfaces.srv import Stop

_TOLERABLE = 0.01  # lost messages by recorded ones; gaps are masked, but not without end


@dataclass(frozen=True)
class RecordedMotion:
    """A recording of a motion."""

    bag: str  # on the recorder's machine
    motion: str | None = None  # the file of a designed motion that was played; ``None`` for others


def as_yaml(recorded: Sequence[RecordedMotion]) -> str:
    """Recordings as a list of sequences of an experiment, on one line of YAML."""
    entries = [
        {"bag": one.bag} if one.motion is None else {"bag": one.bag, "motion": one.motion}
        for one in recorded
    ]
    return dumps(entries, indent=None)


def refuse_unfit(stopped: Stop.Response) -> None:
    """Refuse a recording that failed or has lost too much for a fit.

    Args:
      stopped: The recorder's answer at its end.

    Raises:
      DataError: Says why, in the recorder's words.
    """
    if not stopped.success:
        raise DataError(f"the recording failed: {stopped.message}")
    if stopped.lost > _TOLERABLE * stopped.messages:
        raise DataError(
            f"the recording lost {stopped.lost} of {stopped.lost + stopped.messages} messages, "
            f"too many for a fit: {stopped.message}"
        )
