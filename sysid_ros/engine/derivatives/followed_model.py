# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Attributes of a model that a parameter may change, as the pass has a table for them.

One that changes anything else is left to finite differences of rollouts.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.engine.derivatives.frame_readings import frames_alike
from sysid_ros.engine.elements import BALL, FREE
from sysid_ros.engine.mechanics import (
    flow_alike,
    has_feet,
    stand_alike,
    unfollowed_equality,
    unfollowed_motor,
    unfollowed_muscle,
    unfollowed_path,
)
from sysid_ros.engine.simulation import size_signature

# What a parameter may change in a model that the pass follows; the second group follows from the
# first and is not used in a simulation without contacts, or is read as dof_invweight0.
# fmt: off
_FOLLOWED = frozenset((
    "body_mass", "body_ipos", "body_iquat", "body_inertia", "body_gravcomp", "body_pos",
    "body_quat", "jnt_pos", "jnt_axis", "dof_armature",
    "dof_frictionloss", "dof_damping", "dof_dampingpoly", "dof_invweight0", "jnt_stiffness",
    "jnt_stiffnesspoly", "qpos_spring", "actuator_gainprm", "actuator_biasprm", "actuator_gear",
    "actuator_forcerange", "actuator_dynprm", "jnt_user", "tendon_armature", "tendon_damping",
    "tendon_frictionloss", "tendon_invweight0", "tendon_stiffness", "body_invweight0", "eq_data",
))
_WITHOUT_EFFECT = frozenset((
    "body_subtreemass", "body_sameframe", "body_simple", "body_margin",
    "dof_M0", "dof_simplenum", "dof_length", "actuator_acc0", "actuator_length0",
))
# fmt: on
_OF_BODIES = ("body_pos", "body_quat")
_PLACES = (*_OF_BODIES, "jnt_pos", "jnt_axis")
# Actuators whose effect moves along with bodies and joints.
_ON_TREE = tuple(
    int(getattr(mujoco.mjtTrn, f"mjTRN_{name}"))
    for name in ("JOINT", "JOINTINPARENT", "TENDON", "SITE")
)
_BY_SITES = tuple(int(getattr(mujoco.mjtTrn, f"mjTRN_{name}")) for name in ("SITE", "SLIDERCRANK"))
# What tendons go around, beside a site.
_AROUND = tuple(int(getattr(mujoco.mjtWrap, f"mjWRAP_{name}")) for name in ("SPHERE", "CYLINDER"))
# What is drawn, or touches: contacts show as a violated equation of motion.
_UNSEEN = ("_", "bvh_", "cam_", "geom_", "key_", "light_", "mat_", "mesh_", "site_", "tex_")
_OF_SITES = ("site_pos", "site_quat")
_OPTIONS = ("timestep", "magnetic", "integrator")


class FollowedModel:
    """A model that others are compared with.

    Args:
      base: The model at the point of linearization.
      touching: Whether its geoms touch, other than as feet.
    """

    def __init__(self, base: mujoco.MjModel, touching: bool = False) -> None:
        self._base, self._touching = base, touching

    @cached_property
    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays whose change the pass would miss."""
        arrays = {name: getattr(self._base, name) for name in _relevant_names()}
        return {
            name: array
            for name, array in arrays.items()
            if isinstance(array, np.ndarray) and array.size
        }

    def unfollowed_change(self, moved: mujoco.MjModel) -> str | None:
        """The first attribute that differs and that the pass does not follow, ``None`` for none."""
        for name in _OPTIONS:
            if not np.array_equal(getattr(self._base.opt, name), getattr(moved.opt, name)):
                return f"opt.{name}"
        if size_signature(moved) != size_signature(self._base):
            return "its size"
        at_site = np.asarray(self._base.actuator_trntype) == int(mujoco.mjtTrn.mjTRN_SITE)
        if np.any(self._base.actuator_gear[at_site] != moved.actuator_gear[at_site]):
            return "actuator_gear"
        ball = np.isin(np.asarray(self._base.jnt_type), (FREE, BALL))
        if np.any(np.asarray(moved.jnt_stiffness)[ball]):
            return "jnt_stiffness"
        if not frames_alike(self._base, moved):
            return "an inertial frame that is measured"
        if not flow_alike(self._base, moved):
            return "what a fluid flows around"
        if not stand_alike(self._base, moved, self._touching):
            return "what touches the floor"
        placed = _unfollowed_place(self._base, moved) or _unfollowed_site(self._base, moved)
        if placed is not None:
            return placed
        for name, array in self._arrays.items():
            after = getattr(moved, name)
            if array.shape != after.shape:
                return name
            # Most are the same byte by byte, which is seen sooner.
            if array.tobytes() != after.tobytes() and (array != after).any():
                return name
        obstacle = unfollowed_path(self._base, moved) or unfollowed_muscle(self._base, moved)
        obstacle = obstacle or unfollowed_motor(self._base, moved)
        return obstacle or unfollowed_equality(self._base, moved)


def _unfollowed_place(base: mujoco.MjModel, moved: mujoco.MjModel) -> str | None:
    """The reason why places of bodies or joints that differ change more, ``None`` for none."""
    changed = [n for n in _PLACES if not np.array_equal(getattr(base, n), getattr(moved, n))]
    if not changed:
        return None
    if np.any(np.asarray(base.wrap_type) != int(mujoco.mjtWrap.mjWRAP_JOINT)):
        return f"{changed[0]} of a model with spatial tendons"
    at_site = np.asarray(base.actuator_trntype) == int(mujoco.mjtTrn.mjTRN_SITE)
    on_tree = np.isin(np.asarray(base.actuator_trntype), _ON_TREE)
    if not np.all(on_tree) or np.any(np.asarray(base.actuator_trnid)[at_site, 1] >= 0):
        return f"{changed[0]} of a model with actuators between sites"
    fixed = np.asarray(base.body_weldid) == 0
    if has_feet(base) and any(
        not np.array_equal(getattr(base, n)[fixed], getattr(moved, n)[fixed]) for n in _OF_BODIES
    ):
        return f"{changed[0]} of what stands still below feet"
    return None


def _unfollowed_site(base: mujoco.MjModel, moved: mujoco.MjModel) -> str | None:
    """The attribute by which a site moves at which more than sensors are, ``None`` for none."""
    ends = np.asarray(base.actuator_trnid)[np.isin(base.actuator_trntype, _BY_SITES)]
    kinds = np.asarray(base.wrap_type)
    along = np.asarray(base.wrap_objid)[kinds == int(mujoco.mjtWrap.mjWRAP_SITE)]
    beside = np.asarray(base.wrap_prm)[np.isin(kinds, _AROUND)].astype(int)
    used = np.concatenate([ends.ravel(), along, beside])
    used = used[used >= 0]
    for name in _OF_SITES:
        before, after = (np.asarray(getattr(model, name))[used] for model in (base, moved))
        if not np.array_equal(before, after):
            return name
    return None


@cache
def _relevant_names() -> tuple[str, ...]:
    """Attributes of a model whose change the pass would miss, and some that are no arrays."""
    ignored = _FOLLOWED | _WITHOUT_EFFECT
    return tuple(
        name for name in dir(mujoco.MjModel) if name not in ignored and not name.startswith(_UNSEEN)
    )
