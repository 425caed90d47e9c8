# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stretches of recordings that findings name, and how far a signal goes to and fro in one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray


@dataclass(frozen=True)
class Stretch:
    """A part of one recording."""

    recording: int  # its number
    begin: float  # s on the recording's axis
    end: float  # likewise
    is_last: bool  # whether it lasts as long as the recording

    def words(self, *, several: bool) -> str:
        """In words, with the recording's number where there are several."""
        until = "s on" if self.is_last else f"to {self.end:.1f} s"
        where = f" of recording {self.recording + 1}" if several else ""
        return f"from {self.begin:.1f} {until}{where}"


def to_and_fro(values: FloatArray) -> float:
    """The largest way up, and down, that a signal (n,) goes, whichever is less."""
    up = values - np.minimum.accumulate(values)
    down = np.maximum.accumulate(values) - values
    return float(min(up.max(), down.max()))
