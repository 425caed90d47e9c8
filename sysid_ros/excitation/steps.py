# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The commands that may follow the last two, message by message."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.excitation.limits import CommandLimits

# Beyond rounding: a share of the limit, and an absolute size.
_SLACK = 1e-3
_ROUNDING = 1e-9


@dataclass(frozen=True)
class StepLimits:
    """By how much commands that are sent a nominal period apart may differ."""

    step: FloatArray  # (n,) between two commands
    turn: FloatArray  # (n,) between two steps

    @classmethod
    def at(cls, period: float, limits: CommandLimits) -> StepLimits:
        """The limits for messages ``period`` seconds apart."""
        return cls(limits.rate * period, limits.acceleration * period**2)

    def allow(self, commands: FloatArray, last: FloatArray, before: FloatArray) -> BoolArray:
        """Tell which of ``commands`` (m, n) may follow ``last`` and ``before`` it; (m,).

        ``last`` and ``before`` are the same for all commands, (n,), or those of each, (m, n).
        """
        steps = commands - last
        turns = steps - (last - before)
        most_step, most_turn = self._most
        return np.asarray(((np.abs(steps) <= most_step) & (np.abs(turns) <= most_turn)).all(axis=1))

    @cached_property
    def _most(self) -> tuple[FloatArray, FloatArray]:
        """Both limits with room for rounding, (n,) each."""
        return self.step * (1.0 + _SLACK) + _ROUNDING, self.turn * (1.0 + _SLACK) + _ROUNDING

    def nearest(self, command: FloatArray, last: FloatArray, before: FloatArray) -> FloatArray:
        """The command nearest to ``command`` (n,) that may follow ``last`` and ``before`` it."""
        step = np.where(np.isfinite(command), command - last, 0.0)
        previous = last - before
        step = np.clip(step, previous - self.turn, previous + self.turn)
        result: FloatArray = last + np.clip(step, -self.step, self.step)
        return result
