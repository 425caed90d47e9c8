# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stretches of a recording in which bodies of the model touch at times.

An impact throws a simulation off that meets it a moment too early or too late, and exact
derivatives do not know it. Bodies that touch most of the time rest on each other, as feet on a
floor; those that touch now and then are what an experiment on joints would rather leave out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.residuals import SignalSettings
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.windows.model_group import usable_span
from sysid_ros.engine.windows.orientations import with_rotation_vectors
from sysid_ros.engine.windows.starts import StartReader

EVERY = 0.02  # s between postures that are looked at
RESTING = 0.3  # share of the postures; bodies that touch as often do so by their shape or weight
_AWAY = 0.05  # s before and after a touch
_SHORTEST = 0.3  # s between touches that is worth a window
_VELOCITY_FILTER = 30.0  # Hz; velocities do not matter here
_POSE = (int(mujoco.mjtSensor.mjSENS_FRAMEPOS), int(mujoco.mjtSensor.mjSENS_FRAMEQUAT))

Pair = tuple[int, int]  # of bodies, or of geoms


@dataclass(frozen=True)
class Touches:
    """Geoms that touch in the recorded postures of one sequence.

    Attributes:
      times: Instants of the postures, (n,), s.
      depths: By pair of geoms that touch at each of them, m.
      bodies: The bodies of each such pair.
    """

    times: FloatArray
    depths: tuple[Mapping[Pair, float], ...]
    bodies: Mapping[Pair, Pair]

    def pairs(self) -> list[set[Pair]]:
        """The bodies that touch in each posture."""
        return [{self.bodies[geoms] for geoms in found} for found in self.depths]


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
    able = np.any(model.geom_contype) or np.any(model.geom_conaffinity) or model.npair
    disabled = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    if disabled or not able or end <= begin:
        return Touches(np.zeros(0), (), {})
    measured = with_rotation_vectors(model, sequences.sensordata[number])
    base = sequences.initial_state[number]
    reader = StartReader(model, measured, base, velocity_filter=_VELOCITY_FILTER)
    count = max(2, int((end - begin) / EVERY) + 1)
    times = np.linspace(begin, end, count if most is None else min(count, most))
    states = reader.states(times, 0.0, [SignalSettings()] * len(reader.sensors))
    known = _base_is_known(model, reader.sensors)
    data = mujoco.MjData(model)
    found = []
    for state in states:
        data.qpos[:] = state[1 : 1 + model.nq]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        found.append(_deepest(model, data, known))
    bodies = {geoms: _bodies(model, geoms) for depths in found for geoms in depths}
    return Touches(times, tuple(found), bodies)


def shares(seen: Sequence[Touches]) -> dict[Pair, float]:
    """The share of all postures in which each pair of bodies touches."""
    looked = sum(len(one.times) for one in seen)
    counts = Counter(pair for one in seen for pairs in one.pairs() for pair in pairs)
    return {pair: count / looked for pair, count in sorted(counts.items())}


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


def _deepest(model: mujoco.MjModel, data: mujoco.MjData, base_is_known: bool) -> dict[Pair, float]:
    """Depth [m] of every pair of geoms that touch; with the world only where the base is known."""
    found: dict[Pair, float] = {}
    for contact in data.contact:
        pair = (int(contact.geom[0]), int(contact.geom[1]))
        if min(pair) < 0 or contact.dist > 0.0 or contact.exclude:
            continue
        fixed = any(model.body_weldid[model.geom_bodyid[geom]] == 0 for geom in pair)
        if base_is_known or not fixed:
            found[pair] = max(found.get(pair, 0.0), -float(contact.dist))
    return found


def _base_is_known(model: mujoco.MjModel, sensors: Sequence[str]) -> bool:
    """Tell whether the pose of every free body is measured, or there is none."""
    free = np.count_nonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))
    poses = [name for name in set(sensors) if int(model.sensor(name).type[0]) in _POSE]
    return bool(len(poses) >= 2 * free)


def _bodies(model: mujoco.MjModel, geoms: Pair) -> Pair:
    one, other = sorted(int(model.geom_bodyid[geom]) for geom in geoms)
    return one, other
