# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators that low-pass their command, and what they have made of it when a window starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import is_low_passed
from sysid_ros.engine.signals import JoinedIntegrals, input_actuators

_EXACT = int(mujoco.mjtDyn.mjDYN_FILTEREXACT)
_FORGOTTEN = 1e-3  # share of a command that counts no longer
_LONGEST = 10_000  # steps
_AT_ONCE = 1 << 20  # steps that are asked for together


@dataclass(frozen=True)
class FilteredInput:
    """An input that reaches its actuator through a low-pass of first order."""

    input: int  # its column of the controls
    actuator: int  # its number
    address: int  # of the filter's output in an ``mjSTATE_FULLPHYSICS`` vector
    exact: bool  # whether the filter is integrated exactly or by Euler steps
    timestep: float  # of the model, s

    def passed(
        self, commands: JoinedIntegrals, begins: FloatArray, own: Sequence[slice], constant: float
    ) -> FloatArray:
        """The filter's output at some instants, (w,).

        Args:
          commands: Of all recordings.
          begins: When the steps begin that the output acts in, (w,) s.
          own: The instants of each recording.
          constant: The filter's time constant, s.
        """
        ago, weights = _memory(self.exact, self.timestep, constant)
        found = np.empty(len(begins))
        at_once = max(1, _AT_ONCE // len(ago))
        for first in range(0, len(begins), at_once):
            last = min(first + at_once, len(begins))
            inside = ((max(one.start, first), max(min(one.stop, last), first)) for one in own)
            rows = [slice(start - first, stop - first) for start, stop in inside]
            asked = begins[first:last, np.newaxis] - ago
            means = commands.means(asked, self.timestep, rows)
            found[first:last] = np.concatenate([means[part] @ weights for part in rows])
        return found


@lru_cache(maxsize=8)  # the same for all recordings
def _memory(exact: bool, timestep: float, constant: float) -> tuple[FloatArray, FloatArray]:
    """Return how long ago the steps began that a filter remembers, s, and their shares in it."""
    share = timestep / max(constant, 1e-9)
    kept = float(np.exp(-share)) if exact else max(0.0, 1.0 - share)
    count = 1 if kept <= _FORGOTTEN else int(np.ceil(np.log(_FORGOTTEN) / np.log(kept)))
    ago = np.arange(min(count, _LONGEST), 0, -1, dtype=np.float64)
    weights: FloatArray = kept ** (ago - 1.0)
    return np.multiply(timestep, ago), np.divide(weights, weights.sum())


def filtered_inputs(model: mujoco.MjModel) -> tuple[FilteredInput, ...]:
    """All inputs of a model that are filtered so."""
    first = 1 + int(model.nq) + int(model.nv)
    found = []
    for column, actuator in enumerate(input_actuators(model)):
        kind, address = int(model.actuator_dyntype[actuator]), int(model.actuator_actadr[actuator])
        if is_low_passed(model, actuator):
            step = float(model.opt.timestep)
            own = FilteredInput(column, int(actuator), first + address, kind == _EXACT, step)
            found.append(own)
    return tuple(found)
