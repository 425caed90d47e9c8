# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A load that a robot takes up or puts down in the midst of a recording, told by torque.

No model holds then for all of the recording: what is estimated lies between the two. Each body's
mass is given another value in a part of a recording, beside other masses throughout and whatever
friction, armature and offsets there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics.evidence import Evidence
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.wrong_masses import OFF, Moments, Suspects
from sysid_ros.engine.regressor import Recording
from sysid_ros.engine.uncertainty import ChangedLoad, change_in_time

FEWEST = 5  # blocks of a recording, with the load and without


def changed_load(
    model: mujoco.MjModel,
    recordings: Sequence[Recording],
    evidence: Evidence,
    free: FreeParameters,
    x: FloatArray,
) -> ChangedLoad | None:
    """Find the load that explains most; ``None`` where none is decisive."""
    suspects = Suspects.of(free, estimated=True)
    count = 1 + max(int(numbers.max()) for numbers in evidence.blocks)
    moments = Moments.of(evidence.grams, free, suspects, x, count)
    inner = np.arange(moments.known + len(suspects.bodies))
    blocks: dict[str, list[int]] = {}
    for stretch, numbers in zip(evidence.smooth, evidence.blocks, strict=True):
        blocks.setdefault(recordings[stretch.recording].name, []).extend(np.unique(numbers))
    found = change_in_time(moments.sums, inner, inner[moments.known :], blocks, FEWEST)
    if found is None or not found.is_sure(OFF):
        return None
    body = suspects.bodies[found.suspect]
    name = str(model.body(body).name) or f"body_{body}"
    mass = float(free.columns.nominal[free.columns.place[body, "m"]])
    return ChangedLoad.of(found, "torque", name, mass, partial(_begin, evidence))


def _begin(evidence: Evidence, block: int) -> float:
    """The time [s] at which a block begins."""
    return min(
        float(stretch.times[numbers == block].min())
        for stretch, numbers in zip(evidence.smooth, evidence.blocks, strict=True)
        if np.any(numbers == block)
    )
