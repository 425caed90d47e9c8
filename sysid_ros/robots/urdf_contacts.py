# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Links of a URDF that are drawn into each other, and do not collide.

A URDF cannot say which links may not collide: its simulators leave out collisions within a robot,
and MoveIt's setup those of links that overlap in the default posture. MuJoCo would push such links
apart for ever, all the more as it collides with the convex hull of a mesh, and lets a link that
stands still collide with its neighbours.
"""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.errors import listed

_DEEP = 1e-3  # m; links that overlap by less only rest on each other, such as fingers
_SHOWN = 3  # pairs named in a warning


def without_drawn_overlaps(spec: mujoco.MjSpec, model: mujoco.MjModel) -> tuple[str, ...]:
    """Exclude contacts of links that overlap in the posture nearest to zero that limits allow.

    Args:
      spec: Of a URDF; changed in place.
      model: The same, compiled.

    Returns:
      What was excluded, in a sentence; nothing where nothing overlaps.
    """
    depths = _overlaps(model)
    for first, other in depths:
        spec.add_exclude(bodyname1=first, bodyname2=other)
    if not depths:
        return ()
    deepest = sorted(depths.items(), key=lambda item: -item[1])
    pairs = [f"{a} and {b} by {1e3 * depth:.2g} mm" for (a, b), depth in deepest]
    some = f"{len(pairs)} pair{'s' * (len(pairs) != 1)} of links"
    return (
        f"{some} of the URDF overlap in its zero posture ({listed(pairs, _SHOWN)}) and are taken "
        "not to collide with each other.",
    )


def _overlaps(model: mujoco.MjModel) -> dict[tuple[str, str], float]:
    """Depths [m] of the pairs of bodies that overlap."""
    data = mujoco.MjData(model)
    limited = np.asarray(model.jnt_limited, dtype=bool)
    places = model.jnt_qposadr[limited]
    data.qpos[places] = np.clip(data.qpos[places], *model.jnt_range[limited].T)
    mujoco.mj_fwdPosition(model, data)
    found: dict[tuple[str, str], float] = {}
    for contact in data.contact:
        bodies = sorted(int(model.geom_bodyid[geom]) for geom in contact.geom)
        first, other = (str(model.body(body).name) for body in bodies)
        depth = max(-float(contact.dist), found.get((first, other), 0.0))
        if depth > _DEEP or _is_jointed(model, *bodies):
            found[first, other] = depth
    return found


def _is_jointed(model: mujoco.MjModel, first: int, other: int) -> bool:
    """Tell whether a joint connects two bodies; MuJoCo knows it where the first one moves."""
    one, two = model.body_weldid[[first, other]]
    above = model.body_weldid[model.body_parentid[[one, two]]]
    return bool(above[0] == two or above[1] == one)
