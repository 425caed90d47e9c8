# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gravity from elsewhere than the model has it, or none, that simulated windows ask for.

A mount that leans or hangs has all of gravity from another direction. Drives that bear the robot's
weight beside what they are told, as those of arms that are commanded torques mostly do, leave none
of it, and so does motion in a level plane.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.diagnosis.evidence import Turned
from sysid_ros.diagnosis.fits import Linearized, WindowScores, size_of_gravity, turned_first_joint
from sysid_ros.engine.parameters import Parameter

_LESS = 0.95  # of what is left, that windows nearer to a gravity must leave
_TIMES = 3.0  # what is left, that one along the model's own may leave
_MOUNTED = 0.25  # of what is left, that another gravity may leave
_WORTH = 0.6  # the same where it is tried
_NEAR = 0.1  # of gravity, a step that is the last
_TURNS = 4  # times that windows are linearized on the way there
_LEANS = 0.05  # rad, from which a base is not mounted as the model is
_SAME_SIZE = 0.1  # by which gravity from elsewhere may differ from the model's
_AS_NONE = 0.4  # of the model's, by which none may seem to be missed from afar


def turned_gravity(
    windows: WindowScores,
    gravity: Parameter,
    usual: Sequence[str],
    masses: Sequence[str],
    model: mujoco.MjModel,
    linearized: Linearized,
) -> Turned | None:
    """Gravity from elsewhere that explains most of what is left, as of a mount that leans.

    What gravity does to servos is linear in it. Its size, which nothing here asks for, says
    whether it is gravity that is wrong. Where more or less of the model's explains as much, as
    of slides, of which each feels a part of it only, it is masses that are; unless none explains
    it. So it is where one mass alone explains as much, which is one number where a mount is three:
    beside the wrong mass of one arm of a delta's three, gravity leans.

    Args:
      windows: Linearized with the model's gravity.
      gravity: The parameter.
      usual: Names of what a fit finds.
      masses: Names of masses that it does not.
      model: The robot.
      linearized: Linearizes them with another one, ``patient`` or not, ``begun`` from others.
    """
    names, own, before = gravity.scalar_names(), gravity.value, windows.squares
    size, there, found, first = size_of_gravity(own), own, None, windows
    for _ in range(_TURNS):
        step, left = windows.together(names, usual)
        left *= windows.squares / before
        other = float(np.linalg.norm(there + step))
        if left > _WORTH or not other:
            return None
        if windows is first and _left_by_one(windows, masses, usual) <= left:
            return None
        more, alone = windows.along(names, own, usual)
        if found is None and alone <= min(_WORTH, _TIMES * left):
            if np.any(own) and abs(more + 1.0) < _AS_NONE and windows is first:
                return _none_of_it(windows, gravity, usual, linearized)
            if more > -1.0:
                return None
        there = (there + step) * size / other
        if float(np.linalg.norm(there - own)) <= _LEANS * size:
            return None
        alike = left <= _MOUNTED and abs(other / size - 1.0) <= _SAME_SIZE
        zero = turned_first_joint(model, own, there)
        found = Turned(there, 1.0, math.sqrt(left), zero) if alike else None
        if alike and float(np.linalg.norm(step)) <= _NEAR * size:
            break
        # Of a robot that hangs, friction and damping were fitted to what gravity did.
        begun = None if windows is first else windows
        nearer = linearized(gravity.moved_to(there), patient=True, begun=begun)
        if nearer is None:
            break
        if found is None and nearer.squares > _LESS * windows.squares:
            return None
        windows = nearer
    return found


def _left_by_one(windows: WindowScores, masses: Sequence[str], usual: Sequence[str]) -> float:
    """The share that the mass leaves which explains most; all where there is none."""
    if not masses:
        return 1.0
    scores = windows.scores(masses, usual)
    return 1.0 - float(scores.gained(lowest=-1.0)[1].max()) / max(scores.left, 1e-300)


def _none_of_it(
    windows: WindowScores, gravity: Parameter, usual: Sequence[str], linearized: Linearized
) -> Turned | None:
    """No gravity, where windows without any ask for none of the model's."""
    without = linearized(gravity.moved_to(np.zeros(3)), patient=True, begun=windows)
    if without is None or without.squares > _MOUNTED * windows.squares:
        return None
    more, _ = without.along(gravity.scalar_names(), gravity.value, usual)
    share = math.sqrt(without.squares / windows.squares)
    return Turned(np.zeros(3), 1.0, share) if abs(more) < _SAME_SIZE else None
