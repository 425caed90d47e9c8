# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Beginnings of windows in which floating bodies come to rest on what they touch.

A pose is measured to a millimetre at best. A contact makes an impact or a fall of that, which is
no property of the robot: a simulation that starts there is thrown up or drops. It forgets where it
started within a few time constants of the contact, and is compared from then on.
"""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.elements import FREE
from sysid_ros.engine.windows.postures import can_touch

_NEAR = 5e-3  # m between geoms that a measured pose may well place on each other
_TIME_CONSTANTS = 5.0  # of a contact, after which it is at rest
_USUAL = 0.02  # s, the time constant of a contact without one


def settling_times(model: mujoco.MjModel, states: FloatArray) -> FloatArray:
    """Seconds from each full-physics start, (w, nstate), to a simulation that has settled.

    Returns:
      (w,) s; zero where nothing touches.
    """
    times = np.zeros(len(states))
    floating = _floating(model)
    if not floating.any() or not can_touch(model):
        return times
    near = copy.copy(model)
    near.geom_margin[:] += _NEAR
    near.body_margin[:] += _NEAR  # by which bodies are looked at first
    near.pair_margin[:] += _NEAR
    data = mujoco.MjData(near)
    for number, state in enumerate(states):
        data.qpos[:] = state[1 : 1 + model.nq]
        mujoco.mj_kinematics(near, data)
        mujoco.mj_collision(near, data)
        geoms = data.contact.geom
        roots = near.body_rootid[near.geom_bodyid[geoms]]
        apart = (geoms >= 0).all(axis=1) & (roots[:, 0] != roots[:, 1])
        lands = apart & floating[roots].any(axis=1)
        if lands.any():
            constants = data.contact.solref[lands, 0]
            usual = np.where(constants > 0.0, constants, _USUAL)
            times[number] = _TIME_CONSTANTS * float(usual.max())
    return times


def _floating(model: mujoco.MjModel) -> BoolArray:
    """Tell which bodies have a free joint, (nbody,)."""
    floating = np.zeros(model.nbody, dtype=np.bool_)
    free = model.jnt_type == FREE
    floating[model.jnt_bodyid[free]] = True
    return floating
