# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Check that all torques together are in the model's unit.

A factor common to all torques looks like other masses, so that no comparison among them can show
it. The model's own masses can, if they are trusted within a factor of eight: a thousand times as
much are millinewton metres, not a heavier robot.
"""

from __future__ import annotations

import math

import numpy as np

from sysid_ros.diagnosis.dynamics import Dynamics
from sysid_ros.diagnosis.explanation import Explanation
from sysid_ros.diagnosis.finding import Change, FindingKind
from sysid_ros.diagnosis.fits import body_torques, own_torques
from sysid_ros.diagnosis.recorded import Recorded

_TRUSTED = 8.0  # factor by which the model's masses may be off
_LEFT = 0.7  # share of the torques that the model's bodies and some friction may leave
_MUCH_BETTER = 0.5  # ratio of unexplained powers, of any factor over a trusted one
_BETTER_BLOCKS = 0.75  # of the stretches, in which it must be better


def torque_unit(recorded: Recorded, test: Dynamics) -> Explanation | None:
    """The factor by which all torques are too large or too small for the model's bodies.

    Args:
      recorded: What was recorded.
      test: Its test.

    Returns:
      ``None`` for a factor that other masses, friction or rotors can explain.
    """
    motion = test.motion(test.data)
    bodies = body_torques(recorded.model, *motion).sum(axis=2)
    own = own_torques(recorded.model, *motion)
    free, solution = test.fitted(np.concatenate([bodies[:, :, None], own], axis=2))
    factor = float(solution[0])
    if free.share > _LEFT or 1.0 / _TRUSTED <= factor <= _TRUSTED or factor <= 0.0:
        return None
    trusted = _TRUSTED if factor > 1.0 else 1.0 / _TRUSTED
    bound, _ = test.fitted(own, known=trusted * bodies)
    if free.ratio(bound) > _MUCH_BETTER or free.better_share(bound) < _BETTER_BLOCKS:
        return None
    size = 10.0 ** -round(math.log10(factor))
    change = Change(FindingKind.SCALE, scale=dict.fromkeys(recorded.efforts.values(), size))
    return Explanation(change, size, bound.share, free.share)
