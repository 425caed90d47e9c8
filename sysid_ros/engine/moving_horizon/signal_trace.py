# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The latest signals beside what the model makes of them, to be looked at."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import total_torques
from sysid_ros.engine.measured_torque import TorqueEstimate, TorqueProblem
from sysid_ros.engine.moving_horizon.simulated_window import SimulatedWindow
from sysid_ros.engine.regressor import Filters, SmoothStretch
from sysid_ros.engine.signals import force_unit, sensor_unit

SHOWN = 30.0  # s of torque


@dataclass(frozen=True)
class SignalTrace:
    """One signal of the latest seconds."""

    signal: str  # its name
    unit: str  # of the values
    times: FloatArray  # (n,) s
    measured: FloatArray  # (n,)
    simulated: FloatArray  # (n,)


def simulated_traces(windows: Sequence[SimulatedWindow]) -> tuple[SignalTrace, ...]:
    """The signals of windows as they were simulated last; orientations are left out."""
    found = []
    if not windows:
        return ()
    model = windows[0].window.model
    for number, signal in enumerate(windows[0].window.sequence.signals):
        if signal.rotation is not None:
            continue
        parts = []
        for one in windows:
            samples = one.window.window.samples
            own = samples.signals == number
            measured = samples.values[own]
            times = one.begin + samples.times[own]
            parts.append(np.stack([times, measured, measured + one.residuals[own]]))
        unit = sensor_unit(model, model.sensor(signal.sensor).id)
        found.append(SignalTrace(signal.name, unit, *np.concatenate(parts, axis=1)))
    return tuple(found)


class TorqueTraces:
    """Measured torque, and what was expected when it was measured."""

    def __init__(self) -> None:
        self._rows: deque[tuple[FloatArray, FloatArray, FloatArray]] = deque()

    def add(
        self,
        problem: TorqueProblem,
        stretches: Sequence[SmoothStretch],
        filters: Filters,
        found: TorqueEstimate,
    ) -> None:
        """Take over new rows with the estimate from those before."""
        (theta,) = found.theta.values()
        for one in stretches:
            _, (expected,) = total_torques(problem.regressor, one, filters, theta[None])
            self._rows.append((one.times, one.torque, found.gains * expected))
        while self._rows and self._rows[0][0][-1] < self._rows[-1][0][-1] - SHOWN:
            self._rows.popleft()

    def clear(self) -> None:
        """Forget all of them."""
        self._rows.clear()

    def traces(self, problem: TorqueProblem) -> tuple[SignalTrace, ...]:
        """The torques that are measured."""
        if not self._rows:
            return ()
        times, measured, expected = (np.concatenate(part) for part in zip(*self._rows, strict=True))
        model = problem.declared.model
        return tuple(
            SignalTrace(name, force_unit(model, dof), times, measured[:, dof], expected[:, dof])
            for dof, name in problem.sources.known.items()
        )
