# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The settings of a fit, and what is known of its measurements beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TorqueSettings:
    """The settings of a fit by inverse dynamics."""

    # Hz, of the low-pass in front of derivatives; ``None`` to choose it from the positions' spectra
    motion_cutoff: float | None = None
    row_cutoff: float | None = None  # Hz, of that on both sides of the equations; ``None`` likewise
    prior: str = "entropic"  # ``entropic`` or ``gaussian`` distance of bodies from the model's
    spread: float = 1.0  # how wrong the model's bodies may be, relative to themselves
    hulls: bool = True  # whether centres of mass stay within their body's geometry
    total_mass: float | None = None  # kg of all moving bodies; ``None`` where unknown
    # by joint, N m/rad and N m s/rad of drives whose torque is sampled once in each set point
    drive_stiffness: Mapping[str, float] = field(default_factory=dict)
    drive_damping: Mapping[str, float] = field(default_factory=dict)
    # whether a fit by simulation compares measured torque with what the measured motion takes,
    # rather than with the simulated servo's
    beside_simulation: bool = True


@dataclass(frozen=True)
class FitSettings:
    """The settings of a fit."""

    window_length: float | None = 1.0  # seconds per window, ``None`` for whole sequences
    # estimate each window's start instead of taking it from measurements
    estimate_starts: bool = True
    velocity_filter: float = 30.0  # low-pass in front of the derivative of positions, Hz
    # a name in :data:`sysid_ros.engine.least_squares.optimizers.OPTIMIZERS`; ``auto`` is
    # Levenberg-Marquardt with starts eliminated
    optimizer: str = "auto"
    loss: str = "linear"  # a name in :data:`sysid_ros.engine.least_squares.losses.LOSSES`
    max_iterations: int = 100  # accepted steps at most, noise rounds included
    time_limit: float | None = None  # seconds at most, or ``None``
    threads: int | None = None  # simulation threads, ``None`` for one per core
    intervals: str = "clustered"  # ``clustered`` or ``white``
    landscapes: int = 0  # for how many pairs of parameters to map the cost around the optimum
    # ``auto`` for exact derivatives where they are known, ``reference`` for finite differences
    # throughout
    engine: str = "auto"
    # widen intervals by what another time step, window or filter moves, and by what recordings
    # differ
    model_error: bool = True
    # ``forward`` compares simulated with measured signals, ``inverse_dynamics`` torque
    method: str = "forward"
    torque: TorqueSettings = field(default_factory=TorqueSettings)  # settings of the latter


@dataclass(frozen=True)
class SignalNoise:
    """Prior knowledge about the measurements of one sequence set."""

    # standard deviation by sensor name where it is known, in the sensor's unit
    levels: Mapping[str, float] = field(default_factory=dict)


DEFAULT_SETTINGS = FitSettings()
NOTHING_KNOWN = SignalNoise()
