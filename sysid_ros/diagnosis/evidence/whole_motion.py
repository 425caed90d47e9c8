# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The motion of all joints of a robot of which some are measured."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.filtered import Filtered
from sysid_ros.diagnosis.evidence.recorded import Recorded
from sysid_ros.engine.windows import ClosedLoops


def whole_motion(recorded: Recorded, data: Filtered) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The motion of all joints: (n, nq), (n, nv), (n, nv).

    What is not measured stays where the model has it, but for what equalities tie to the rest.
    """
    model, positions = recorded.model, recorded.positions
    joints = list(positions)
    own = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
    value, rate, second = data.motion(list(positions.values()))
    states = np.tile([0.0, *model.qpos0, *np.zeros(model.nv)], (len(value), 1))
    states[:, 1 + own[0]], states[:, 1 + model.nq + own[1]] = value, rate
    loops = ClosedLoops.of(model, own[1].tolist())
    if loops is not None:
        loops.close(states)
    accelerations = np.zeros((len(value), model.nv))
    accelerations[:, own[1]] = second
    return states[:, 1 : 1 + model.nq], states[:, 1 + model.nq :], accelerations
