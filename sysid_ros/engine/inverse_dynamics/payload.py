# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A payload as one more body of the robot."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.engine.elements import is_moved
from sysid_ros.errors import ModelError

PAYLOAD = "payload"
_RADIUS = 0.05  # m, a guess


def with_payload(spec: mujoco.MjSpec, body: str, *, mass: float = 1.0) -> mujoco.MjSpec:
    """A copy of a specification with a ball fixed to a body, as the start of its estimate.

    In :func:`~.free.free_parameters` recordings without the payload name it as absent:
    ``conditions=("bare", "loaded"), absent={"bare": ["payload"]}``.

    Args:
      spec: Left as it is.
      body: What holds the payload, whose frame is the payload's.
      mass: kg, a guess.

    Raises:
      ModelError: There is no such body, or one that is called "payload" already.
    """
    copy = spec.copy()
    moved = [one.name for one in copy.bodies if is_moved(one)]
    if body not in moved:
        raise ModelError(
            f"no body {body!r} that joints move can hold a payload; the model has "
            f"{', '.join(moved) or 'none'}"
        )
    holder = copy.body(body)
    if copy.body(PAYLOAD) is not None:
        raise ModelError(f"the model has a body {PAYLOAD!r} already")
    added = holder.add_body(name=PAYLOAD)
    added.explicitinertial = True
    added.mass = mass
    added.ipos = np.zeros(3)
    added.inertia = np.full(3, 0.4 * mass * _RADIUS**2)
    return copy
