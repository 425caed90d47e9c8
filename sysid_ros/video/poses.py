# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From signals to poses: which seconds of a result to show, and where each joint was then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.errors import DataError
from sysid_ros.judgement import SequenceFit, SignalFit
from sysid_ros.pictures import FRAMES_PER_SECOND, Poses
from sysid_ros.playback import configurations, shown_joints

SECONDS = 4.0


@dataclass(frozen=True)
class Stretch:
    """The part of a result that is shown: a sequence by its place, from ``start`` to ``end`` s."""

    sequence: int
    start: float
    end: float


def telling_stretch(sequences: Sequence[SequenceFit]) -> Stretch | None:
    """The seconds in which the initial model errs most, of the first held-out sequence.

    Args:
      sequences: What was scored; the first one serves where none is held out.

    Returns:
      A stretch of at most :data:`SECONDS`, or ``None`` where no position is measured.
    """
    if not sequences:
        return None
    chosen = next((i for i, s in enumerate(sequences) if s.role == "validation"), 0)
    positions = [s for s in sequences[chosen].signals if s.is_position and s.times.size]
    if not positions:
        return None
    begin = min(float(s.times[0]) for s in positions)
    end = max(float(s.times[-1]) for s in positions)
    starts = np.arange(begin, max(end - SECONDS, begin) + 1e-9, 0.5)
    errors = [_error(positions, t, t + SECONDS) for t in starts]
    start = float(starts[int(np.argmax(errors))])
    return Stretch(chosen, start, min(start + SECONDS, end))


def _error(signals: Sequence[SignalFit], start: float, end: float) -> float:
    """Sum over signals of the mean square of the initial model's error relative to the motion."""
    total = 0.0
    for signal in signals:
        inside = (signal.times >= start) & (signal.times <= end)
        known = inside & np.isfinite(signal.initial) & np.isfinite(signal.measured)
        if known.any():
            square = np.mean((signal.initial[known] - signal.measured[known]) ** 2)
            total += float(square / (np.nanvar(signal.measured) or 1.0))
    return total


def poses(model: mujoco.MjModel, sequence: SequenceFit, stretch: Stretch) -> Poses:
    """Return the joints' positions at :data:`FRAMES_PER_SECOND`.

    Args:
      model: The identified model; joints that nothing measures stay as in its first keyframe, or
        at its reference.
      sequence: The one that ``stretch`` names.
      stretch: What to show.

    Raises:
      DataError: No signal is the position of a joint.
    """
    count = max(2, round((stretch.end - stretch.start) * FRAMES_PER_SECOND))
    times = stretch.start + np.arange(count) / FRAMES_PER_SECOND
    shown = shown_joints(model, sequence)
    if not shown:
        raise DataError("no signal is the position of a joint of the model")
    return Poses(
        *(configurations(model, shown, which, times) for which in ("measured", "initial", "fitted"))
    )
