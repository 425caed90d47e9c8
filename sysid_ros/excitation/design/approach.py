# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The straight way between a posture of the robot and a motion's first one, there and back."""

from __future__ import annotations

import numpy as np

from sysid_ros.engine.elements import places_in_qpos
from sysid_ros.excitation import ExcitationError
from sysid_ros.excitation.design.clearance import Clearance
from sysid_ros.excitation.design.demands import MovingRobot

_LOOKS = 100  # postures on the way that are looked at
_HORIZON = 0.3  # m beyond which nothing is near


def approach(robot: MovingRobot, keyframe: str) -> str:
    """Look at the way from a keyframe, on which ``excite`` moves all joints in proportion.

    Args:
      robot: Its model has the keyframe; the motion begins and ends at its start.
      keyframe: Where the robot stands before.

    Returns:
      A sentence that says how near anything comes.

    Raises:
      ExcitationError: There is no such keyframe, or the way is blocked; names both geoms.
    """
    model, joints = robot.model, robot.joints
    names = [model.key(k).name for k in range(model.nkey)]
    if keyframe not in names:
        raise ExcitationError(f"keyframe {keyframe!r} is not in the model; it has {names}")
    places = places_in_qpos(model, joints)
    stands = model.key_qpos[names.index(keyframe)][places]
    clearance = Clearance(model, joints, robot.home, robot.demands.clearance)
    share = np.linspace(0.0, 1.0, _LOOKS)[:, None]
    nearest = clearance.nearest(stands + share * (robot.start - stands), _HORIZON)
    if not np.any(np.isfinite(nearest.distance)):
        return f"On the way from {keyframe} nothing comes nearer than {_HORIZON:g} m."
    at = int(np.nanargmin(nearest.distance))
    pair, distance = clearance.describe(int(nearest.pair[at])), float(nearest.distance[at])
    if distance < clearance.least:
        raise ExcitationError(
            f"on the straight way from keyframe {keyframe!r} to the motion {pair} come within "
            f"{1e3 * distance:.1f} mm, where {1e3 * clearance.least:g} mm are asked for, "
            f"{100 * at / (_LOOKS - 1):.0f} % of the way from there: bring the robot to another "
            "posture first, or begin the motion elsewhere (--keyframe)"
        )
    return f"On the way from {keyframe} the nearest are {pair}: {1e3 * distance:.0f} mm."
