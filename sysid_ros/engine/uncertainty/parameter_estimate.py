# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One estimated scalar with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import scipy


@dataclass(frozen=True)
class ParameterEstimate:
    """One scalar parameter with its uncertainty, in its own unit.

    ``standard_error`` and the interval are ``None`` where none can be claimed: at a bound, or
    where the data does not determine the parameter (see ``flags``).
    """

    name: str
    unit: str
    initial: float
    value: float
    lower: float
    upper: float
    standard_error: float | None
    dof: float
    flags: tuple[str, ...] = ()  # "at lower bound", "at upper bound", "unidentifiable", ...

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Two-sided Student-t interval at ``level``, or ``None`` where none is claimed."""
        if self.standard_error is None:
            return None
        half = float(scipy.special.stdtrit(self.dof, 0.5 + level / 2.0)) * self.standard_error
        return self.value - half, self.value + half
