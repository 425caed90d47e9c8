# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that something else than servos and loads pushes, in the recorded postures."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
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


def _postures(recorded: Recorded) -> FloatArray:
    """Some recorded postures of hinges and slides, (n, nq); none where one is unknown."""
    model, positions = recorded.model, recorded.positions
    measured = {int(model.jnt_dofadr[joint]) for joint in positions}
    loops = ClosedLoops.of(model, measured)
    known = measured.union([] if loops is None else loops.tied.tolist())
    if not measured or not model.nq == model.nv == len(known):
        return np.empty((0, model.nq))
    postures = recorded.postures()
    if loops is None:
        return postures
    states = np.zeros((len(postures), 1 + model.nq + model.nv))  # time, qpos, qvel
    states[:, 1 : 1 + model.nq] = postures
    loops.close(states)
    return states[:, 1 : 1 + model.nq]
