# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Control signals between their samples, averaged over each simulation step.

A simulation step holds one control value. The value that carries the signal's effect is its mean
over the interval the step stands for, and that mean is differentiable in a delay even where the
command jumps.

For the semi-implicit integrators (Euler, implicit, implicitfast) the velocity lives half a step
before the position, so the force of step i acts from ``t_i - h/2`` to ``t_i + h/2``; under RK4 and
for actuators with an activation state it acts from ``t_i`` to ``t_i + h``.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.signals.interpolation import is_held, smooth_curve
from sysid_ros.engine.signals.mappings import input_actuators


class SignalIntegral:
    """The running integral of one sampled signal, held, linear or a spline between samples.

    Before the first and after the last sample the signal keeps the nearest sample's value.

    Args:
      times: Strictly increasing instants, shape (n,), s.
      values: Samples, shape (n,).
      method: zoh for a signal that keeps its last value, linear, or cubic.
    """

    def __init__(self, times: FloatArray, values: FloatArray, method: str) -> None:
        self._times = np.asarray(times, dtype=float)
        self._values = np.asarray(values, dtype=float)
        self._method = method
        steps = np.diff(self._times)
        # Of the signal behind each sample, the highest power first, without the sample itself.
        self._powers = np.zeros((0, len(self._times)))
        if method == "cubic" and len(steps):
            powers = smooth_curve(self._times, self._values).c[:-1]
            self._powers = np.hstack([powers, np.zeros((len(powers), 1))])
        elif not is_held(method):
            self._powers = np.append(np.diff(self._values) / steps, 0.0)[None]
        areas = steps * self._mean_behind(np.arange(len(steps)), steps)
        self._areas = np.concatenate([[0.0], np.cumsum(areas)])

    def is_of(self, times: FloatArray, values: FloatArray, method: str) -> bool:
        """Return whether this is the integral of some samples."""
        same = method == self._method and np.array_equal(times, self._times)
        return same and np.array_equal(values, self._values)

    def __call__(self, t: FloatArray) -> FloatArray:
        """Integral from the first sample to ``t``, any shape, in value-seconds."""
        return self._area(t, self._times[1:].searchsorted(t, side="right"))

    def _area(self, t: FloatArray, index: IndexArray) -> FloatArray:
        """The same where the sample before each instant is known."""
        dt = t - self._times[index]
        area: FloatArray = self._areas[index] + dt * self._mean_behind(index, dt)
        return area

    def _mean_behind(self, index: IndexArray, dt: FloatArray) -> FloatArray:
        """Mean of the signal from some samples on, over times [s] up to the next; none before."""
        mean: FloatArray = self._values[index]
        degree = len(self._powers)
        if not degree:
            return mean
        dt, total = np.maximum(dt, 0.0), np.zeros(np.shape(dt))
        for place, factors in enumerate(self._powers):
            total = (total + factors[index] / (degree - place + 1)) * dt
        return np.asarray(mean + total)

    def mean(self, start: FloatArray, width: float) -> FloatArray:
        """Mean over ``[start, start + width]``, shape as that of ``start``."""
        before, after = self(np.stack([start, start + width]))
        return np.asarray((after - before) / width)


class JoinedIntegrals(SignalIntegral):
    """The integrals of one input in several recordings, asked together.

    Each instant is looked up in its own recording, so that means are those of each to the last bit:
    where friction sticks, searches show another.

    Args:
      integrals: By recording; of those in which nothing drives, ``None``, means are zero.
    """

    def __init__(self, integrals: Sequence[SignalIntegral | None]) -> None:
        idle = SignalIntegral(np.zeros(1), np.zeros(1), "zoh")
        parts = [idle if one is None else one for one in integrals]
        self._behind = [one._times[1:] for one in parts]
        self._first = np.cumsum([0, *(len(one._times) for one in parts[:-1])])
        self._times = np.concatenate([one._times for one in parts])
        self._values = np.concatenate([one._values for one in parts])
        self._areas = np.concatenate([one._areas for one in parts])
        degree = max(len(one._powers) for one in parts)
        padded = [
            np.vstack([np.zeros((degree - len(one._powers), len(one._times))), one._powers])
            for one in parts
        ]
        self._powers = np.hstack(padded)

    def means(self, start: FloatArray, width: float, own: Sequence[slice]) -> FloatArray:
        """Means over ``[start, start + width]``.

        Args:
          start: The rows of all recordings, (n, ...), s.
          width: In s.
          own: The rows of each recording.

        Returns:
          Shape as that of ``start``.
        """
        index = np.empty(start.shape, dtype=np.intp)
        areas = []
        for t in (start, start + width):
            for behind, first, rows in zip(self._behind, self._first, own, strict=True):
                np.add(behind.searchsorted(t[rows], side="right"), first, out=index[rows])
            areas.append(self._area(t, index))
        return np.asarray((areas[1] - areas[0]) / width)


def step_offsets(model: mujoco.MjModel) -> FloatArray:
    """Return the instant at which each control acts, relative to the step's own.

    Returns:
      Shape (nu,), s: the start of the averaging interval of length ``timestep``.
    """
    offsets = np.zeros(model.nu)
    if is_semi_implicit(model):
        actuators = np.asarray(input_actuators(model), dtype=int)
        stateless = np.asarray(model.actuator_dyntype)[actuators] == int(mujoco.mjtDyn.mjDYN_NONE)
        offsets[stateless] = -0.5 * model.opt.timestep
    return offsets


def is_semi_implicit(model: mujoco.MjModel) -> bool:
    """Tell whether velocities lie half a step before the positions (all integrators but RK4)."""
    return int(model.opt.integrator) != int(mujoco.mjtIntegrator.mjINT_RK4)
