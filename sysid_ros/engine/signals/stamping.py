# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The instants that simulated values belong to.

``mujoco.rollout`` returns, in row i, the state *after* step i and the sensors *before* it. The
notebook of ``mujoco.sysid`` stamps both with the state's time, which is right for states and one
time step late for sensors; data that was built that way is compared that way ("notebook").
Recordings are compared at the true instants ("true"): sensors one step earlier, and velocities of
the semi-implicit integrators another half step, because there ``v_{i+1} = v_i + h a_i`` precedes
``q_{i+1} = q_i + h v_{i+1}``: a leapfrog whose velocities live between the positions (Hairer,
Lubich & Wanner, Geometric Numerical Integration, I.1.4).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals.control import is_semi_implicit
from sysid_ros.engine.signals.mappings import SignalMapping, SignalType, sensor_id, width_of
from sysid_ros.engine.signals.observation import cubic_weights, row_offset
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.errors import SignalError, unknown_name

Stamping = Literal["notebook", "true"]


def stamp_offsets(model: Any, mapping: SignalMapping, stamping: Stamping) -> FloatArray:
    """Return the delay of each column's value after its row's time, s; never above 0.

    Args:
      model: The simulated MjModel.
      mapping: The columns.
      stamping: "notebook" gives zeros.

    Raises:
      SignalError: The stamping is neither "notebook" nor "true".
    """
    check_stamping(stamping)
    offsets = np.zeros(width_of(mapping))
    if stamping == "notebook":
        return offsets
    timestep = float(model.opt.timestep)
    for name, (kind, columns) in mapping.items():
        if kind is SignalType.MjSensor:
            sensor = sensor_id(model, name)
            offsets[columns] = -timestep + (row_offset(model, sensor) if sensor >= 0 else 0.0)
        elif kind is SignalType.MjStateQVel and is_semi_implicit(model):
            offsets[columns] = -0.5 * timestep
    return offsets


def check_stamping(stamping: str) -> None:
    """Refuse an unknown stamping.

    Raises:
      SignalError: It is neither "notebook" nor "true".
    """
    if stamping not in ("notebook", "true"):
        raise SignalError(unknown_name("stamping", str(stamping), ["notebook", "true"]))


def at_true_times(ts: TimeSeries, times: FloatArray, delays: FloatArray) -> FloatArray:
    """Values of column j at ``times - delays[j]``, (m, d), from equally spaced samples.

    The cubic through the four nearest samples is used, whose error is of fourth order in the
    spacing: linear interpolation would spoil what an integrator of fourth order achieves.
    """
    if len(ts) < 4:
        result = np.empty((len(times), ts.data.shape[1]))
        for j, delay in enumerate(delays):
            result[:, j] = ts.interpolate(times - delay)[:, j]
        return result
    spacing = (ts.times[-1] - ts.times[0]) / (len(ts) - 1)
    result = np.empty((len(times), ts.data.shape[1]))
    for delay in np.unique(delays):
        columns = np.flatnonzero(delays == delay)
        position = np.clip((times - delay - ts.times[0]) / spacing, 0.0, len(ts) - 1.0)
        weights = cubic_weights(position, len(ts))
        result[:, columns] = np.einsum(
            "mkd,mk->md", ts.data[weights.rows][:, :, columns], weights.weights
        )
    return result
