# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Links of a URDF that are drawn into each other, and do not collide.

A URDF cannot say which links may not collide: its simulators leave out collisions within a robot,
and MoveIt's setup those of links that overlap in the default posture. MuJoCo would push such links
apart for ever, all the more as it collides with the convex hull of a mesh, and lets a link that
stands still collide with its neighbours, which it does not where both move.
"""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.errors import listed

_DEEP = 1e-3  # m; links that overlap by less only rest on each other, such as fingers
_SHOWN = 3  # pairs named in a warning


def without_drawn_overlaps(
    spec: mujoco.MjSpec, model: mujoco.MjModel, source: str
) -> tuple[str, ...]:
    """Exclude contacts of links that overlap in the posture nearest to zero that limits allow.

    Args:
      spec: Of a URDF; changed in place.
      model: The same, compiled.
      source: Where it came from, for the warning.

    Returns:
      What was excluded, in a sentence; nothing where only neighbours overlap, as in every bearing.
    """
    depths: dict[str, float] = {}
    for (first, other), depth in (
        dict.fromkeys(_on_the_base(model), 0.0) | _overlaps(model)
    ).items():
        names = [str(model.body(body).name) for body in (first, other)]
        spec.add_exclude(bodyname1=names[0], bodyname2=names[1])
        if not _is_jointed(model, first, other):
            depths[" and ".join(names)] = depth
    if not depths:
        return ()
    deepest = sorted(depths.items(), key=lambda item: -item[1])
    pairs = [f"{names} by {1e3 * depth:.2g} mm" for names, depth in deepest]
    return (
        f"Links of {source} overlap as they are drawn and do not collide with each other: "
        f"{listed(pairs, _SHOWN)}.",
    )


def _overlaps(model: mujoco.MjModel) -> dict[tuple[int, int], float]:
    """Depths [m] of the pairs of bodies that overlap."""
    data = mujoco.MjData(model)
    limited = np.asarray(model.jnt_limited, dtype=bool)
    places = model.jnt_qposadr[limited]
    data.qpos[places] = np.clip(data.qpos[places], *model.jnt_range[limited].T)
    mujoco.mj_fwdPosition(model, data)
    found: dict[tuple[int, int], float] = {}
    for contact in data.contact:
        first, other = sorted(int(model.geom_bodyid[geom]) for geom in contact.geom)
        depth = max(-float(contact.dist), found.get((first, other), 0.0))
        if depth > _DEEP or _is_jointed(model, first, other):
            found[first, other] = depth
    return found


def _on_the_base(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Links that stand still, each with every link that a joint connects to what stands still."""
    standing = np.flatnonzero((model.body_weldid == 0) & (model.body_geomnum > 0))
    return [
        (int(first), int(other))
        for first in standing
        for other in np.flatnonzero(model.body_geomnum)
        if model.body_weldid[other] and _is_jointed(model, int(first), int(other))
    ]


def _is_jointed(model: mujoco.MjModel, first: int, other: int) -> bool:
    """Tell whether a joint connects two bodies; MuJoCo knows it where the first one moves."""
    one, two = model.body_weldid[[first, other]]
    above = model.body_weldid[model.body_parentid[[one, two]]]
    return bool(above[0] == two or above[1] == one)
