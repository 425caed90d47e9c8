# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions in files: straight from row to row with rounded corners, or cubic splines at rest."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.excitation.reference import ExcitationError, Reference
from sysid_ros.files import read_regular_text, replace_file

_CORNER_SHARE = 0.8  # of the acceleration limit; the rest is for soft start and stop
CUBIC = "# cubic spline through the rows, at rest at both ends"  # first line of a designed motion
_ROUNDING = 1e-6  # by which two corners may overlap, as a share of the rows' distance


@dataclass(frozen=True)
class TabulatedReference:
    """A recorded or planned trajectory: linear between its rows, with parabolic blends at them.

    A straight line from row to row turns a corner at each, which no joint can follow. Around each
    row the command is a parabola at the given acceleration (linear segments with parabolic
    blends, Craig 2005, section 7.3), so that it passes the row at a distance of at most
    ``acceleration * blend**2 / 8``.
    """

    joints: tuple[str, ...]
    times: FloatArray  # (m,) s, starting at 0
    table: FloatArray  # (m, n)
    acceleration: FloatArray  # (n,) at which corners are taken; infinite: not blended
    rests: bool = field(default=False, init=False)
    _turns: FloatArray = field(init=False, repr=False)  # (m, n) change of velocity at each row
    _blends: FloatArray = field(init=False, repr=False)  # (m, n) s, length of each blend

    def __post_init__(self) -> None:
        slopes = np.diff(self.table, axis=0) / np.diff(self.times)[:, None]
        turns = np.zeros_like(self.table)
        turns[1:-1] = np.diff(slopes, axis=0)
        object.__setattr__(self, "_turns", turns)
        object.__setattr__(self, "_blends", np.abs(turns) / self.acceleration)
        self._refuse_overlaps()

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return float(self.times[-1])

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) in seconds."""
        clipped = np.clip(times, 0.0, self.duration)
        after = np.clip(np.searchsorted(self.times, clipped), 1, len(self.times) - 1)
        start, end = self.times[after - 1], self.times[after]
        share = ((clipped - start) / (end - start))[:, None]
        result: FloatArray = (1.0 - share) * self.table[after - 1] + share * self.table[after]
        result += self._rounding(after - 1, clipped - start)
        result += self._rounding(after, end - clipped)
        return result

    def _rounding(self, rows: IndexArray, distance: FloatArray) -> FloatArray:
        """Distance of the blends (m, n) of some rows from the corner, ``distance`` s from it."""
        blend = self._blends[rows]
        inside = np.maximum(0.5 * blend - distance[:, None], 0.0)
        result: FloatArray = self._turns[rows] * inside**2 / (2.0 * np.where(blend > 0, blend, 1.0))
        return result

    def _refuse_overlaps(self) -> None:
        between = np.diff(self.times)[:, None]
        needed = 0.5 * (self._blends[1:] + self._blends[:-1])
        overlap = needed / between
        if np.any(overlap > 1.0 + _ROUNDING):
            row, joint = np.unravel_index(np.argmax(overlap), overlap.shape)
            takes = self.acceleration[joint] * overlap[row, joint]
            raise ExcitationError(
                f"the trajectory turns joint {self.joints[joint]!r} around {self.times[row]:.4g} s "
                f"with an acceleration of {takes:.4g}, above {self.acceleration[joint]:.4g} "
                f"({_CORNER_SHARE:g} of its limit): smooth it, slow it down, or raise "
                "limits.acceleration"
            )


@dataclass(frozen=True)
class SplineReference:
    """The cubic spline through a table's rows, with velocity zero at both ends.

    It is the only one (Farin, Curves and Surfaces for CAGD, 2002, section 9.4), so that the rows
    of a designed motion at its knots say all of it.
    """

    joints: tuple[str, ...]
    times: FloatArray  # (m,) s, starting at 0
    table: FloatArray  # (m, n)
    rests: bool = True

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return float(self.times[-1])

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) in seconds."""
        return np.asarray(self._spline(np.clip(times, 0.0, self.duration)))

    @cached_property
    def _spline(self) -> scipy.interpolate.CubicSpline:
        return scipy.interpolate.CubicSpline(self.times, self.table, bc_type="clamped")


@dataclass(frozen=True)
class TrajectoryTable:
    """The content of a trajectory file."""

    joints: tuple[str, ...]
    times: FloatArray  # (m,) s, starting at 0
    table: FloatArray  # (m, n)
    cubic: bool = False  # a spline through the rows, where others go straight from row to row

    def reference(self, joints: tuple[str, ...], acceleration: FloatArray) -> Reference:
        """The motion of ``joints``, in that order.

        Args:
          joints: The same joints as the table's.
          acceleration: Limits (n,) of the joints in that order.

        Raises:
          ExcitationError: The table has other joints, or corners that the limits forbid.
        """
        if set(self.joints) != set(joints):
            raise ExcitationError(
                f"the trajectory moves {', '.join(self.joints)}; "
                f"parameter joints names {', '.join(joints)}"
            )
        columns = [self.joints.index(joint) for joint in joints]
        if self.cubic:
            return SplineReference(joints, self.times, self.table[:, columns])
        corners = _CORNER_SHARE * acceleration
        return TabulatedReference(joints, self.times, self.table[:, columns], corners)


def read_trajectory(path: Path) -> TrajectoryTable:
    """Read a trajectory from a CSV file with the header ``time,<joint>,<joint>...``.

    Args:
      path: The file; times in seconds, strictly increasing. The line ``CUBIC`` before the header
        makes it the spline through its rows.

    Returns:
      The table, its times shifted to start at zero.

    Raises:
      ExcitationError: The file is missing or is not such a table.
    """
    try:
        first, _, rest = (text := read_regular_text(path)).partition("\n")
        cubic = first.strip() == CUBIC
        rows = [row for row in csv.reader(io.StringIO(rest if cubic else text)) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ExcitationError(f"trajectory {path} cannot be read: {reason}") from None
    if len(rows) < 3 or rows[0][0].strip() != "time" or len(rows[0]) < 2:
        raise ExcitationError(
            f"trajectory {path} needs a first line 'time,<joint>,...' and at least two rows"
        )
    try:
        table = np.array(rows[1:], dtype=np.float64)
    except ValueError as error:
        raise ExcitationError(f"trajectory {path} is not a table of numbers: {error}") from None
    if table.ndim != 2 or table.shape[1] != len(rows[0]) or not np.all(np.isfinite(table)):
        raise ExcitationError(f"trajectory {path} needs {len(rows[0])} finite numbers in every row")
    if not np.all(np.diff(table[:, 0]) > 0):
        raise ExcitationError(f"trajectory {path}: times must increase from row to row")
    names = tuple(name.strip() for name in rows[0][1:])
    return TrajectoryTable(names, table[:, 0] - table[0, 0], table[:, 1:], cubic)


def write_trajectory(
    path: Path, joints: tuple[str, ...], times: FloatArray, table: FloatArray
) -> None:
    """Write a motion that is the cubic spline through its rows, for :func:`read_trajectory`.

    Rows are positions (m, n) of n joints in rad or m, at (m,) s.

    Raises:
      OutputError: The file cannot be written.
    """
    rows = [",".join(("time", *joints))]
    rows += [
        ",".join(repr(float(x)) for x in (t, *row)) for t, row in zip(times, table, strict=True)
    ]
    replace_file(path, "\n".join((CUBIC, *rows, "")))
