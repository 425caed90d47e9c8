# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Noise level of every signal: as given, or estimated from the residuals."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from sysid_ros.engine.least_squares import Linearization
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.windows import WindowGroup

MIN_RELATIVE_NOISE = 1e-6  # of a signal's spread; keeps noise-free data from infinite weights
_COMPONENT = re.compile(r"\[\d+\]$")  # which one of a sensor's values


def estimated_noise(
    problem: WindowedProblem, linearization: Linearization, known: Mapping[str, float]
) -> dict[str, float]:
    """Root mean square residual of every signal, corrected for the unknowns it was fitted with.

    Returns:
      A level for every signal, the known ones unchanged.
    """
    unknowns = problem.lower.size + sum(problem.start_sizes)
    total = sum(count for _, count in linearization.squares.values())
    correction = total / max(1, total - unknowns)
    levels, spreads = dict(problem.noise), problem.spreads
    for name, (square, count) in linearization.squares.items():
        if not is_known(name, known) and count:
            level = math.sqrt(square / count * correction)
            # An axis without motion or noise is as good as the sensor's others.
            same = [other for other in levels if sensor_of(other) == sensor_of(name)]
            spread = spreads.get(name, 0.0) or max(spreads.get(each, 0.0) for each in same) or 1.0
            levels[name] = max(level, MIN_RELATIVE_NOISE * spread)
    return levels


def first_noise(groups: Sequence[WindowGroup], known: Mapping[str, float]) -> dict[str, float]:
    """Known levels, and a tenth of the signal's spread for the others."""
    noise: dict[str, float] = {}
    windows = (window for group in groups for window in group.windows)
    for sequence in {id(window.sequence): window.sequence for window in windows}.values():
        for signal in sequence.signals:
            if signal.name not in noise:
                spread = float(np.nanstd(sequence.sensordata.data[:, signal.measured_column]))
                noise[signal.name] = known.get(signal.sensor, 0.1 * spread or 1.0)
    return noise


def sensor_of(signal_name: str) -> str:
    """The sensor's name of a channel: ``imu[2]`` belongs to ``imu``, ``leg[0]_pos`` to itself."""
    return _COMPONENT.sub("", signal_name)


def is_known(signal_name: str, known: Collection[str]) -> bool:
    """Return whether a channel is of one of some sensors, by their names."""
    return signal_name in known or sensor_of(signal_name) in known
