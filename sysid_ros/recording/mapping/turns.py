# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Angles that drivers tell modulo one turn, as of wheels, turntables and continuous joints."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray

_TURN = 2.0 * np.pi  # rad
_BEYOND = 1e-2  # rad, by which such angles may leave one turn: noise and rounding
_FASTEST = 0.25 * _TURN  # rad, between samples; of faster ones nobody knows which way they went

_ANGLES = ("pos", "angle")  # in the fields of messages
_METRES = ("position.x", "position.y", "position.z")  # at the end of those that are none


def names_angle(field: str) -> bool:
    """Tell whether a field of a message may be an angle by its name."""
    return any(part in field.lower() for part in _ANGLES) and not field.endswith(_METRES)


def joined_turns(angles: FloatArray) -> tuple[FloatArray, int]:
    """Join what jumps by whole turns, as at the end of -pi to pi or of 0 to 2 pi.

    Angles are of that kind if they stay within one turn and if all that is left of their jumps
    are steps of less than a quarter of one.

    Args:
      angles: (n,) rad; NaN where nothing was measured.

    Returns:
      Angles that begin as before, the same ones if they are of no such kind, and the jumps.
    """
    known = np.flatnonzero(np.isfinite(angles))
    told = angles[known]
    if len(told) < 2 or not 0.5 * _TURN < np.ptp(told) < _TURN + _BEYOND:
        return angles, 0
    turns = np.round(np.diff(told) / _TURN)
    joined = told - _TURN * np.concatenate([[0.0], np.cumsum(turns)])
    if not turns.any() or np.abs(np.diff(joined)).max() > _FASTEST:
        return angles, 0
    found = angles.copy()
    found[known] = joined
    return found, int(np.count_nonzero(turns))
