# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contact: where the model touches something, torque says nothing about its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.inverse_dynamics import Recording

_EVERY = 0.02  # s between poses that are looked at
_ALWAYS = 0.3  # share of a recording; geometry that overlaps so often is drawn so, not touching


def without_contacts(
    model: mujoco.MjModel, recordings: Sequence[Recording]
) -> tuple[list[Recording], float, tuple[str, ...]]:
    """Forget the torque of samples during which the model touches something.

    Args:
      model: With its geometry.
      recordings: Motion and torque.

    Returns:
      The recordings, the seconds that were left out, and sentences about geometry that overlaps all
      the time, which is ignored.
    """
    found = [_touching(model, one) for one in recordings]
    counts: dict[tuple[int, int], int] = {}
    looked = 0
    for _, touched in found:
        looked += len(touched)
        for pairs in touched:
            for pair in pairs:
                counts[pair] = counts.get(pair, 0) + 1
    drawn = {pair for pair, count in counts.items() if count > _ALWAYS * looked}
    kept, masked = [], 0.0
    for recording, (times, touched) in zip(recordings, found, strict=True):
        bad = np.array([bool(pairs - drawn) for pairs in touched], dtype=np.bool_)
        if not bad.any():
            kept.append(recording)
            continue
        away = _near(recording.times, times[bad])
        torque = np.array(recording.torque)
        torque[away] = np.nan
        masked += float(bad.sum()) * _EVERY
        kept.append(replace(recording, torque=torque))
    return kept, masked, _sentences(model, drawn, masked)


def _touching(
    model: mujoco.MjModel, recording: Recording
) -> tuple[FloatArray, list[set[tuple[int, int]]]]:
    """Pairs of bodies in contact at some instants."""
    disabled = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    able = np.any(model.geom_contype) or np.any(model.geom_conaffinity) or model.npair
    if disabled or not model.ngeom or not able:
        return np.zeros(0), []
    step = float(np.median(np.diff(recording.times)))
    rows = np.arange(0, len(recording.times), max(1, round(_EVERY / step)))
    data = mujoco.MjData(model)
    found = []
    for row in rows:
        data.qpos[:] = recording.qpos[row]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        deep = [c for c in range(data.ncon) if data.contact.dist[c] < 0.0]
        found.append({_pair(model, data.contact.geom[c]) for c in deep})
    return recording.times[rows], found


def _pair(model: mujoco.MjModel, geoms: npt.NDArray[np.int32]) -> tuple[int, int]:
    one, other = (int(model.geom_bodyid[int(geom)]) for geom in geoms)
    return min(one, other), max(one, other)


def _near(times: FloatArray, bad: FloatArray) -> BoolArray:
    """Samples within one look of a bad instant."""
    after = np.searchsorted(bad, times)
    before = bad[np.clip(after - 1, 0, len(bad) - 1)]
    behind = bad[np.clip(after, 0, len(bad) - 1)]
    return np.asarray(np.minimum(np.abs(times - before), np.abs(behind - times)) <= _EVERY)


def _sentences(
    model: mujoco.MjModel, drawn: set[tuple[int, int]], masked: float
) -> tuple[str, ...]:
    said = []
    if masked:
        said.append(f"Torque of {masked:.1f} s is left out, where the model is in contact.")
    if drawn:
        pairs = [f"{model.body(a).name} and {model.body(b).name}" for a, b in sorted(drawn)]
        said.append(
            f"The geometry of {', '.join(pairs[:3])} overlaps all the time, which is not taken for "
            "contact."
        )
    return tuple(said)
