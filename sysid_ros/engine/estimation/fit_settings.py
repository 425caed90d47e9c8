# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The settings of a fit, and what is known of its measurements beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TorqueSettings:
    """The settings of a fit by inverse dynamics.

    Attributes:
      motion_cutoff: Hz, of the low-pass in front of derivatives; ``None`` to choose it from the
        positions' spectra.
      row_cutoff: Hz, of that on both sides of the equations; ``None`` likewise.
      prior: ``entropic`` or ``gaussian`` distance of bodies from the model's.
      spread: How wrong the model's bodies may be, relative to themselves.
      hulls: Whether centres of mass stay within their body's geometry.
      total_mass: kg of all moving bodies; ``None`` where unknown.
      beside_simulation: Whether a fit by simulation compares measured torque with what the measured
        motion takes, rather than with the simulated servo's.
    """

    motion_cutoff: float | None = None
    row_cutoff: float | None = None
    prior: str = "entropic"
    spread: float = 1.0
    hulls: bool = True
    total_mass: float | None = None
    beside_simulation: bool = True


@dataclass(frozen=True)
class FitSettings:
    """The settings of a fit.

    Attributes:
      window_length: Seconds per window, ``None`` for whole sequences.
      estimate_starts: Estimate each window's start instead of taking it from measurements.
      velocity_filter: Low-pass in front of the derivative of positions, Hz.
      optimizer: A name in :data:`sysid_ros.engine.least_squares.optimizers.OPTIMIZERS`; ``auto`` is
        Levenberg-Marquardt with starts eliminated.
      loss: A name in :data:`sysid_ros.engine.least_squares.losses.LOSSES`.
      max_iterations: Accepted steps at most, noise rounds included.
      time_limit: Seconds at most, or ``None``.
      threads: Simulation threads, ``None`` for one per core.
      intervals: ``clustered`` or ``white``.
      landscapes: For how many pairs of parameters to map the cost around the optimum.
      engine: ``auto`` for exact derivatives where they are known, ``reference`` for finite
        differences throughout.
      model_error: Widen intervals by what another time step, window or filter moves, and by what
        recordings differ.
      method: ``forward`` compares simulated with measured signals, ``inverse_dynamics`` torque.
      torque: Settings of the latter.
    """

    window_length: float | None = 1.0
    estimate_starts: bool = True
    velocity_filter: float = 30.0
    optimizer: str = "auto"
    loss: str = "linear"
    max_iterations: int = 100
    time_limit: float | None = None
    threads: int | None = None
    intervals: str = "clustered"
    landscapes: int = 0
    engine: str = "auto"
    model_error: bool = True
    method: str = "forward"
    torque: TorqueSettings = field(default_factory=TorqueSettings)


@dataclass(frozen=True)
class SignalNoise:
    """Prior knowledge about the measurements of one sequence set.

    Attributes:
      levels: Standard deviation by sensor name where it is known, in the sensor's unit.
    """

    levels: Mapping[str, float] = field(default_factory=dict)


DEFAULT_SETTINGS = FitSettings()
NOTHING_KNOWN = SignalNoise()
