# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that something else than servos and loads pushes, in the recorded postures."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.diagnosis.evidence.recorded import Recorded
from sysid_ros.engine.windows import ClosedLoops, pushed

_PUSHED = 0.1  # share of them in which a joint is pushed


def is_pushed(recorded: Recorded, joint: int) -> bool:
    """Return whether a tendon's limit or another body that moves keeps a joint from following.

    Only where every position is measured, or tied by an equality to those that are, as a gripper's
    second finger; servos that cannot follow say nothing of commands.
    """
    postures = _postures(recorded)
    if not len(postures):
        return False
    share = pushed(recorded.model, postures)
    return bool(share[recorded.model.jnt_dofadr[joint]] > _PUSHED)


def closed_postures(recorded: Recorded) -> tuple[FloatArray, IntArray]:
    """Some recorded postures, in which equalities say where joints are that nothing measures.

    Returns:
      (n, nq), and the degrees of freedom that equalities determine.
    """
    model, postures = recorded.model, recorded.postures()
    loops = ClosedLoops.of(model, {int(model.jnt_dofadr[joint]) for joint in recorded.positions})
    if loops is None or not len(postures):
        return postures, np.empty(0, dtype=np.intp)
    states = np.zeros((len(postures), 1 + model.nq + model.nv))  # time, qpos, qvel
    states[:, 1 : 1 + model.nq] = postures
    loops.close(states)
    return states[:, 1 : 1 + model.nq], loops.tied


def _postures(recorded: Recorded) -> FloatArray:
    """Some recorded postures of hinges and slides, (n, nq); none where one is unknown."""
    model, positions = recorded.model, recorded.positions
    postures, tied = closed_postures(recorded)
    known = {int(model.jnt_dofadr[joint]) for joint in positions}.union(tied.tolist())
    if not positions or not model.nq == model.nv == len(known):
        return np.empty((0, model.nq))
    return postures
