# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contact: where the model touches something, torque says nothing about its parameters.

Unless it is the model alone that touches: meshes collide as their convex hulls, and are drawn with
room about the links. Then torque is explained there as well as elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.elements import FREE
from sysid_ros.engine.inverse_dynamics import (
    Recording,
    Regressor,
    Settings,
    free_parameters,
    gather,
    one_thread,
    settled_estimate,
    total_torques,
    without_effect,
)
from sysid_ros.engine.regressor import row_classes, row_weights
from sysid_ros.engine.windows import EVERY, RESTING, Pair, Touches, shares, touches_at

# What pushes lightly is as deep as an encoder's noise: one look in two would miss it.
_CLOSE = 1e-3  # m
_KINDS = ("armature", "damping", "frictionloss", "offset")  # besides inertia, of a plain robot
_FELT = 2.0  # times the squared residuals elsewhere, that contact leaves in some joint's torque
_FEWEST = 10  # rows of a joint, in contact and elsewhere, that tell


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
      or is closer than a millimetre, more than 30 % of the time, or where torque does not show it:
      it is drawn so, which is ignored.
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
    if masked and not _is_felt(model, recordings, kept):
        return list(recordings), 0.0, (*_sentences(model, drawn, 0.0), _unfelt(masked))
    return kept, masked, _sentences(model, drawn, masked)


@one_thread()
def _is_felt(
    model: mujoco.MjModel, recordings: Sequence[Recording], kept: Sequence[Recording]
) -> bool:
    """Tell whether contact leaves more of some joint's torque unexplained than there is elsewhere.

    A robot with any inertia and friction is fitted to all torque, and rows in which the sign of
    friction is known are compared. What stands on something is in contact, whatever torque says.
    """
    if np.any(model.jnt_type == FREE):
        return True
    regressor = Regressor(model, kinds=_KINDS, sharp_friction=True)
    conditions = tuple(dict.fromkeys(one.condition for one in recordings))
    free = free_parameters(
        regressor.columns, frozen=without_effect(regressor.columns), conditions=conditions
    )
    # No sum is wanted by block; of robots with hands there are gigabytes of forty.
    settings = Settings(kinds=_KINDS, reversals_count=False, blocks=1)
    evidence = gather(regressor, recordings, settings)
    x = settled_estimate(model, free, evidence, settings)
    squares, rows = np.zeros((2, model.nv)), np.zeros((2, model.nv))  # elsewhere, in contact
    for s in evidence.smooth:
        own, away = recordings[s.recording], kept[s.recording]
        lost = np.isfinite(own.torque).any(axis=1) & ~np.isfinite(away.torque).any(axis=1)
        touched = _near(s.times, own.times[lost]) if lost.any() else np.zeros(len(s.times), bool)
        theta = free.theta(x, own.condition)
        _, (total,) = total_torques(regressor, s, evidence.filters, theta[None])
        weights = row_weights(evidence.filters, s.inner)
        sure = row_classes(model, s.motion, weights, s.every, len(s.times)) == 0
        for where, at in enumerate((~touched, touched)):
            used = sure & at[:, None] & np.isfinite(s.torque)
            squares[where] += np.sum(np.where(used, s.torque - total, 0.0) ** 2, axis=0)
            rows[where] += used.sum(axis=0)
    told = np.all(rows >= _FEWEST, axis=0)
    mean = squares[:, told] / rows[:, told]
    return not told.any() or bool(np.any(mean[1] > _FELT * mean[0]))


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


def _unfelt(seconds: float) -> str:
    return (
        f"The geometry touches for {seconds:.1f} s in which torque is explained as well as "
        "elsewhere: it is larger than the robot, and not taken for contact."
    )


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
