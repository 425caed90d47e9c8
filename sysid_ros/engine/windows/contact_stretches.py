# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stretches of a recording in which bodies of the model touch at times.

Bodies that touch most of the time rest on each other, as feet on a floor. Those that touch now and
then are what an experiment on joints would rather leave out: when they do depends on where surfaces
are, which models know to a few millimetres, and their simulation takes up to three times as long.
"""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.engine.signals import ModelSequences, base_is_known, joint_signal
from sysid_ros.engine.windows.model_group import usable_span
from sysid_ros.engine.windows.orientations import with_rotation_vectors
from sysid_ros.engine.windows.postures import (
    EVERY,
    NOTHING_TOUCHES,
    Pair,
    Touches,
    can_touch,
    touches_at,
)
from sysid_ros.engine.windows.starts import StartReader

_AWAY = 0.05  # s before and after a touch
_SHORTEST = 0.3  # s between touches that is worth a window
_VELOCITY_FILTER = 30.0  # Hz; velocities do not matter here


def touches(
    model: mujoco.MjModel, sequences: ModelSequences, number: int, *, most: int | None = None
) -> Touches:
    """Look for bodies that touch in the recorded postures of a sequence.

    Args:
      model: The sequences' model.
      sequences: Recordings of one model.
      number: Which of them.
      most: Postures to look at, at most; otherwise one every 20 ms.
    """
    begin, end = usable_span(sequences, number)
    if not can_touch(model) or end <= begin:
        return NOTHING_TOUCHES
    measured = with_rotation_vectors(model, sequences.sensordata[number])
    base = sequences.initial_state[number]
    reader = StartReader(model, measured, base, velocity_filter=_VELOCITY_FILTER)
    count = max(2, int((end - begin) / EVERY) + 1)
    times = np.linspace(begin, end, count if most is None else min(count, most))
    states = reader.states(times, 0.0, {})
    known = base_is_known(model, (joint_signal(model, name) for name in reader.sensors))
    return touches_at(model, times, states[:, 1 : 1 + model.nq], base_is_known=known)


def touching_stretches(
    seen: Touches, now_and_then: frozenset[Pair]
) -> tuple[tuple[float, float], ...]:
    """Stretches [s] in which one of some pairs of bodies touches, with a margin.

    What is left between two of them is at least 0.3 s long.
    """
    stretches: list[tuple[float, float]] = []
    for time, pairs in zip(seen.times, seen.pairs(), strict=True):
        if not pairs & now_and_then:
            continue
        if stretches and time - _AWAY - stretches[-1][1] < _SHORTEST:
            stretches[-1] = stretches[-1][0], float(time + _AWAY)
        else:
            stretches.append((float(time - _AWAY), float(time + _AWAY)))
    return tuple(stretches)
