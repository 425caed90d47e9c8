# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured signals that stay the same throughout a recording: dead sensors, or wrong fields.

Not so where a joint rests while others are moved one by one, held by friction or a brake: others of
its kind move in that recording, and it moves in another; in one that is fitted, as a fit of a dead
one is right about nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from sysid_ros.errors import DataError
from sysid_ros.recording.mapping import MappedRecording


def check_steady_signals(
    fitted: Sequence[MappedRecording], held_out: Sequence[MappedRecording] = ()
) -> None:
    """Refuse signals that stay the same and are not of joints at rest.

    Args:
      fitted: Recordings of an experiment, each with the same signals.
      held_out: Those that are not fitted.

    Raises:
      DataError: One does; the message is that of the first recording in which it does.
    """
    live = {(one.kind, one.name) for all_ in fitted for one in all_.measured if not one.steady}
    for mapped in (*fitted, *held_out):
        moving = {one.kind for one in mapped.measured if not one.steady}
        for one in mapped.measured:
            if one.steady and not (one.kind in moving and (one.kind, one.name) in live):
                raise DataError(f"{mapped.name}: {one.steady}")
