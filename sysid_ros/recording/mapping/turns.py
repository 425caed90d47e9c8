# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Angles that drivers tell modulo one turn, as of wheels, turntables and continuous joints."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray

TURN = 2.0 * np.pi  # rad
DEGREES = 360.0  # in one turn, where nobody said that they are degrees
_BEYOND = 2e-3  # of a turn, by which such angles may leave one: noise and rounding
_FASTEST = 0.25  # of a turn, between samples; of faster ones nobody knows which way they went

_ANGLES = ("pos", "angle")  # in the fields of messages
_METRES = ("position.x", "position.y", "position.z")  # at the end of those that are none


def names_angle(field: str) -> bool:
    """Tell whether a field of a message may be an angle by its name."""
    return any(part in field.lower() for part in _ANGLES) and not field.endswith(_METRES)


def joined_turns(angles: FloatArray) -> tuple[FloatArray, int]:
    """Join what jumps by whole turns, as at the end of -pi to pi, of 0 to 2 pi or of 0 to 360.

    Angles are of that kind if they stay within one turn and if all that is left of their jumps
    are steps of less than a quarter of one.

    Args:
      angles: (n,) rad, or degrees; NaN where nothing was measured.

    Returns:
      Angles that begin as before, the same ones if they are of no such kind, and the jumps.
    """
    known = np.flatnonzero(np.isfinite(angles))
    told = angles[known]
    for turn in (TURN, DEGREES):
        if len(told) < 2 or not 0.5 * turn < np.ptp(told) or not within_one(told, turn):
            continue
        turns = np.round(np.diff(told) / turn)
        joined = told - turn * np.concatenate([[0.0], np.cumsum(turns)])
        if not turns.any() or np.abs(np.diff(joined)).max() > _FASTEST * turn:
            continue
        found = angles.copy()
        found[known] = joined
        return found, int(np.count_nonzero(turns))
    return angles, 0


def within_one(angles: FloatArray, turn: float = TURN) -> bool:
    """Return whether angles, NaN where nothing was measured, stay within one turn."""
    known = angles[np.isfinite(angles)]
    return not known.size or bool(np.ptp(known) < (1.0 + _BEYOND) * turn)
