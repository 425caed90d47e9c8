# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bodies that touch, and joints that something pushes, in given postures of a model."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray

EVERY = 0.02  # s between postures that are looked at
RESTING = 0.3  # share of the postures; bodies that touch as often do so by their shape or weight

_DRAWN = 5e-3  # m; links that are there do not get that far into each other
_FLOORS = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
_LIMIT = int(mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON)

Pair = tuple[int, int]  # of bodies, or of geoms


@dataclass(frozen=True)
class Touches:
    """The geoms that touch in some postures."""

    times: FloatArray  # instants of the postures, (n,), s
    depths: tuple[Mapping[Pair, float], ...]  # by pair of geoms that touch at each of them, m
    bodies: Mapping[Pair, Pair]  # the bodies of each such pair, in order

    def pairs(self) -> list[set[Pair]]:
        """The bodies that touch in each posture."""
        return [{self.bodies[geoms] for geoms in found} for found in self.depths]


NOTHING_TOUCHES = Touches(np.zeros(0), (), {})


def can_touch(model: mujoco.MjModel) -> bool:
    """Tell whether the model has geoms that can touch, and contacts are not disabled."""
    able = np.any(model.geom_contype) or np.any(model.geom_conaffinity) or model.npair
    disabled = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return bool(able and not disabled)


def any_touch(model: mujoco.MjModel, postures: FloatArray) -> bool:
    """Return whether any geoms touch in one of some postures, (n, nq); those not finite aside."""
    if not can_touch(model):
        return False
    data = mujoco.MjData(model)
    for qpos in postures[np.isfinite(postures).all(axis=1)]:
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        if data.ncon and not np.all(data.contact.exclude):
            return True
    return False


def touches_at(
    model: mujoco.MjModel,
    times: FloatArray,
    postures: FloatArray,
    *,
    base_is_known: bool,
    within: float = 0.0,
) -> Touches:
    """Look for geoms that touch in postures.

    Args:
      model: With its geometry.
      times: Instants of the postures, (n,) s.
      postures: (n, nq).
      base_is_known: Whether the poses of free bodies were measured. Where they were not, nothing
        is known about touches of the world.
      within: Geoms nearly as close as to touch count too, m.
    """
    if not can_touch(model):
        return NOTHING_TOUCHES
    if within:
        model = copy.copy(model)
        model.geom_margin[:] += 0.5 * within  # those of two geoms are added
    data = mujoco.MjData(model)
    found = []
    for qpos in postures:
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        found.append(_deepest(model, data, base_is_known))
    bodies = {geoms: _bodies(model, geoms) for depths in found for geoms in depths}
    return Touches(times, tuple(found), bodies)


def shares(seen: Sequence[Touches]) -> dict[Pair, float]:
    """The share of all postures in which each pair of bodies touches."""
    looked = sum(len(one.times) for one in seen)
    counts = Counter(pair for one in seen for pairs in one.pairs() for pair in pairs)
    return {pair: count / looked for pair, count in sorted(counts.items())}


def drawn_overlaps(model: mujoco.MjModel, seen: Sequence[Touches]) -> dict[Pair, float]:
    """Bodies that get so far into each other that their geoms must be larger than they are.

    Such as links of which a model has the convex hull. Floors apart, which a wrong height of a base
    is in as well. A base that stands still and a link that turns on it are so at any depth, if they
    touch in most postures: MuJoCo leaves out contacts of other bodies with their parents.

    Returns:
      By pair of bodies the median depth in the postures in which they overlap, m.
    """
    depths: dict[Pair, list[float]] = {}
    for one in seen:
        for found in one.depths:
            deepest: dict[Pair, float] = {}
            for geoms, depth in found.items():
                if not any(int(model.geom_type[geom]) in _FLOORS for geom in geoms):
                    pair = one.bodies[geoms]
                    deepest[pair] = max(depth, deepest.get(pair, depth))
            for pair, depth in deepest.items():
                depths.setdefault(pair, []).append(depth)
    medians = {pair: float(np.median(values)) for pair, values in depths.items()}
    most = RESTING * sum(len(one.times) for one in seen)
    return {
        pair: depth
        for pair, depth in medians.items()
        if depth > _DRAWN or (len(depths[pair]) > most and _turns_on_base(model, pair))
    }


def _turns_on_base(model: mujoco.MjModel, pair: Pair) -> bool:
    """Return whether one body stands still, the world apart, and hinges carry the other on it."""
    base, link = sorted(pair, key=lambda body: int(model.body_weldid[body]))
    moving = int(model.body_weldid[link])
    parent = int(model.body_parentid[moving])
    first = int(model.body_jntadr[moving])
    joints = model.jnt_type[first : first + int(model.body_jntnum[moving])]
    carried = base != 0 and model.body_weldid[base] == model.body_weldid[parent] == 0 != moving
    return bool(carried and np.all(joints == int(mujoco.mjtJoint.mjJNT_HINGE)))


def pushed(model: mujoco.MjModel, postures: FloatArray) -> FloatArray:
    """Share of postures (n, nq) in which a limited tendon or another moving body pushes a joint.

    Returns:
      For each degree of freedom, (nv,).
    """
    data, counts = mujoco.MjData(model), np.zeros(model.nv)
    for qpos in postures:
        data.qpos[:] = qpos
        mujoco.mj_fwdPosition(model, data)
        pushes = data.efc_type[: data.nefc] == _LIMIT
        for contact in data.contact:
            static = any(
                model.body_weldid[model.geom_bodyid[g]] == 0 for g in contact.geom if g >= 0
            )
            if contact.efc_address >= 0 and not static:
                pushes[contact.efc_address] = True
        force = np.zeros(model.nv)
        for row in np.flatnonzero(pushes):
            alone, one = np.zeros(data.nefc), np.zeros(model.nv)
            alone[row] = 1.0
            mujoco.mj_mulJacTVec(model, data, one, alone)
            force += np.abs(one)
        counts += force > 0.0
    return counts / max(len(postures), 1)


def _deepest(model: mujoco.MjModel, data: mujoco.MjData, base_is_known: bool) -> dict[Pair, float]:
    """Depth [m] of every pair of geoms that touch; with the world only where the base is known.

    Geoms with a margin push each other off before they meet; their depth is negative then.
    """
    found: dict[Pair, float] = {}
    contacts = data.contact
    touching = np.flatnonzero(contacts.exclude == 0)
    for k in touching.tolist():  # one object for each contact would take longer than to find it
        one, other = contacts.geom[k].tolist()
        if min(one, other) < 0:
            continue
        fixed = any(model.body_weldid[model.geom_bodyid[geom]] == 0 for geom in (one, other))
        if base_is_known or not fixed:
            depth = -float(contacts.dist[k])
            found[one, other] = max(found.get((one, other), depth), depth)
    return found


def _bodies(model: mujoco.MjModel, geoms: Pair) -> Pair:
    one, other = sorted(int(model.geom_bodyid[geom]) for geom in geoms)
    return one, other
