# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that have rested since a recording began, until they move.

What only motion shows of them, such as friction, keeps its initial value; as soon as they move it
is estimated like that of the others, from then on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.elements import SLIDE
from sysid_ros.engine.regressor import Filters, SmoothStretch, slow_speeds

_WAY = 0.01  # rad or m from where a joint rested: it does not sag, it moves
_UNSEEN = 1.0  # s without rows, in which a joint may have been put elsewhere
_NOISES = 30.0  # times the noise of a sample, that a way is at least


class RestingJoints:
    """Joints that have not moved so far.

    Attributes:
      joints: Their ids.
      model: The robot.
    """

    def __init__(self, model: mujoco.MjModel, joints: Sequence[int], filters: Filters) -> None:
        """Take over the joints that did not move while filters were chosen."""
        self.joints, self.model = list(joints), model
        self._places = _coordinates(model, joints)
        self._noises = {
            j: filters.choices[at].noise_density ** 0.5 * filters.motion[at] ** 0.5
            for j, at in self._places.items()
            if at in filters.choices
        }
        self._rest: dict[int, float] = {}
        self._seen = -math.inf

    def begun(self, rows: Sequence[SmoothStretch]) -> bool:
        """Return whether joints move in the latest rows, and no longer count them."""
        moving: set[int] = set()
        for one in rows:
            if not self._seen <= one.times[0] <= self._seen + _UNSEEN:  # gap, other time axis
                self._rest.clear()
            self._seen = float(one.times[-1])
            moving |= {j for j in self.joints if j in self._places and self._left(j, one)}
        self.joints = [j for j in self.joints if j not in moving]
        return bool(moving)

    def _left(self, joint: int, rows: SmoothStretch) -> bool:
        path = rows.motion.qpos[:, self._places[joint]]
        rest = self._rest.setdefault(joint, float(path[0]))
        least = max(_WAY, _NOISES * self._noises.get(joint, 0.0))
        return bool(np.abs(path - rest).max() > least)


def followed_from_rest(model: mujoco.MjModel, filters: Filters, still: Sequence[int]) -> Filters:
    """Filters whose motion cut-offs let through what joints at rest may do later.

    A cut-off is chosen for the motion that a joint shows; those that show none get the highest of
    the others.
    """
    motion = filters.motion.copy()
    resting = list(_coordinates(model, still).values())
    motion[resting] = np.delete(motion, resting).max(initial=filters.rows)
    return replace(filters, motion=motion)


def at_rest(model: mujoco.MjModel, rows: Sequence[SmoothStretch]) -> bool:
    """Return whether no joint moves in rows."""
    slow = slow_speeds(model)
    return all(bool(np.all(np.abs(one.motion.qvel) < slow)) for one in rows)


def _coordinates(model: mujoco.MjModel, joints: Sequence[int]) -> dict[int, int]:
    """The coordinates in qpos of those joints that have one each, hinges and slides."""
    return {j: int(model.jnt_qposadr[j]) for j in joints if model.jnt_type[j] >= SLIDE}
