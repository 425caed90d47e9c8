# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contact: where the model touches something, torque says nothing about its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.inverse_dynamics import Recording
from sysid_ros.engine.windows import EVERY, RESTING, Pair, Touches, shares, touches_at

# What pushes lightly is as deep as an encoder's noise: one look in two would miss it.
_CLOSE = 1e-3  # m


def without_contacts(
    model: mujoco.MjModel, recordings: Sequence[Recording], *, base_is_known: bool
) -> tuple[list[Recording], float, tuple[str, ...]]:
    """Forget the torque of samples during which the model touches something.

    Args:
      model: With its geometry.
      recordings: Motion and torque.
      base_is_known: Whether the poses of free bodies were measured.

    Returns:
      The recordings, the seconds that were left out, and sentences about geometry that overlaps,
      or is closer than a millimetre, more than 30 % of the time: it is drawn so, which is ignored.
    """
    seen = [_touches(model, one, base_is_known) for one in recordings]
    drawn = {pair for pair, share in shares(seen).items() if share > RESTING}
    kept, masked = [], 0.0
    for recording, one in zip(recordings, seen, strict=True):
        bad = np.array([bool(pairs - drawn) for pairs in one.pairs()], dtype=np.bool_)
        if not bad.any():
            kept.append(recording)
            continue
        away = _near(recording.times, one.times[bad])
        torque = np.array(recording.torque)
        torque[away] = np.nan
        masked += float(bad.sum()) * EVERY
        kept.append(replace(recording, torque=torque))
    return kept, masked, _sentences(model, drawn, masked)


def _touches(model: mujoco.MjModel, recording: Recording, base_is_known: bool) -> Touches:
    """Look at postures of a recording, about where torque is known."""
    step = float(np.median(np.diff(recording.times)))
    every = max(1, round(EVERY / step))
    known = np.asarray(np.isfinite(recording.torque).any(axis=1))
    starts = np.arange(0, len(recording.times), every)
    told = np.logical_or.reduceat(known, starts)
    rows = starts[told | np.append(False, told[:-1])]
    times, postures = recording.times[rows], recording.qpos[rows]
    return touches_at(model, times, postures, base_is_known=base_is_known, within=_CLOSE)


def _near(times: FloatArray, bad: FloatArray) -> BoolArray:
    """Samples within one look of a bad instant."""
    after = np.searchsorted(bad, times)
    before = bad[np.clip(after - 1, 0, len(bad) - 1)]
    behind = bad[np.clip(after, 0, len(bad) - 1)]
    return np.asarray(np.minimum(np.abs(times - before), np.abs(behind - times)) <= EVERY)


def _sentences(model: mujoco.MjModel, drawn: set[Pair], masked: float) -> tuple[str, ...]:
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
