# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Points or frames of two bodies that an equality connects or welds: closed loops, docked bodies.

With r from the second point to the first and J the difference of their Jacobians, the three rows
along the world's axes have the violation u = J qacc + dJ/dt v + B J v + K s r and the force -u / R,
where the impedance s and with it the regularization R depend on |r|. The first two terms are the
points' accelerations. A weld has three more such rows, of the vector part of the quaternion from
one frame to the other times its torque scale, and |r| counts these, too. See MuJoCo's
documentation, Computation, "Constraint model", mj_instantiateEquality and mj_Jdotv, which it has
since version 3.7.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray

CONNECT, WELD = int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)
_SITE = int(mujoco.mjtObj.mjOBJ_SITE)

CONNECTS_EXACTLY = 3_007_000  # the first version of MuJoCo whose rows are those above


class Connections(NamedTuple):
    """The connected pairs of points, and of frames."""

    body: IntArray  # (k, 2)
    local: FloatArray  # (k, 2, 3): in the bodies' frames, m
    solref: FloatArray  # (k, 2)
    solimp: FloatArray  # (k, 5)
    weight: FloatArray  # (k, 2): inverse inertia of both bodies, 1/kg and 1/(kg m^2)
    weld: IntArray  # (k,): 1 where frames are held, 0 where points are
    quaternion: FloatArray  # (k, 2, 4): of the frames on their bodies
    torque_scale: FloatArray  # (k,), m


def connections_of(model: mujoco.MjModel) -> Connections:
    """The connections of a model that act from the start."""
    equalities = _connecting(model)
    body, local = np.zeros((len(equalities), 2), dtype=np.int64), np.zeros((len(equalities), 2, 3))
    quaternion = np.tile([1.0, 0.0, 0.0, 0.0], (len(equalities), 2, 1))
    weld = np.asarray(model.eq_type)[equalities] == WELD
    for place, k in enumerate(equalities):
        for side, item in enumerate((int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))):
            at_site = int(model.eq_objtype[k]) == _SITE
            body[place, side] = model.site_bodyid[item] if at_site else item
            first = 3 * (1 - side if weld[place] else side)
            data = model.eq_data[k, first : first + 3]
            local[place, side] = model.site_pos[item] if at_site else data
            if at_site:
                quaternion[place, side] = model.site_quat[item]
            elif weld[place] and side == 0:
                quaternion[place, side] = model.eq_data[k, 6:10]
    return Connections(
        body,
        local,
        np.ascontiguousarray(np.asarray(model.eq_solref)[equalities], dtype=np.float64),
        np.ascontiguousarray(np.asarray(model.eq_solimp)[equalities], dtype=np.float64),
        np.asarray(model.body_invweight0)[body].sum(axis=1),
        weld.astype(np.int64),
        quaternion,
        np.array(model.eq_data[equalities, 10]).reshape(-1),
    )


def end_places(connections: Connections) -> FloatArray:
    """Positions and orientations of both ends of all connections on their bodies, (2 k, 7)."""
    places = np.concatenate([connections.local, connections.quaternion], axis=2)
    return places.reshape(-1, 7)


def unfollowed_equality(model: mujoco.MjModel, other: mujoco.MjModel) -> str | None:
    """Return what differs in equalities but the ends of connections, ``None`` for nothing."""
    held = _connecting(model)
    before, after = (np.array(each.eq_data) for each in (model, other))
    for data in (before, after):
        data[held, :10] = 0.0
    return None if np.array_equal(before, after) else "eq_data"


def has_connections(model: mujoco.MjModel) -> bool:
    """Return whether a model has any."""
    return bool(_connecting(model))


def _connecting(model: mujoco.MjModel) -> list[int]:
    disabled = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
    if not model.neq or disabled:
        return []
    kinds = np.isin(np.asarray(model.eq_type), (CONNECT, WELD))
    return [int(k) for k in np.flatnonzero(kinds & np.asarray(model.eq_active0, dtype=bool))]
