# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identified values that the robot's own size rules out, whatever the data says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import HINGE, actuators_on, moved_inertia
from sysid_ros.engine.signals import unit_in

_DENSEST = 12_000.0  # kg/m^3, lead; of the boxes around a link's geoms
_LIGHTEST = 5.0  # kg/m^3, the lightest foam, none of which is a robot's link
_MOVED = 30.0  # times the inertia that a joint moves: more than rotors have
_WHOLE = 0.1  # of the inertia about the robot's most loaded joint; a small joint has less
_MEASURED = 1.0  # of the same, where torque was fitted: rotors behind strain wave gears reach it
_HEAVIER, _POSES = 4.0, 30  # factor of gravity on all joints, in so many poses
_RAISED = 2.0  # times the initial value, or part of it, up to which the model's author is trusted
_SOLID = frozenset(
    int(kind)
    for kind in (
        mujoco.mjtGeom.mjGEOM_SPHERE,
        mujoco.mjtGeom.mjGEOM_CAPSULE,
        mujoco.mjtGeom.mjGEOM_ELLIPSOID,
        mujoco.mjtGeom.mjGEOM_CYLINDER,
        mujoco.mjtGeom.mjGEOM_BOX,
        mujoco.mjtGeom.mjGEOM_MESH,
    )
)


@dataclass(frozen=True)
class Impossible:
    """A value that a robot of this size does not have."""

    clause: str  # of the verdict
    element: str = ""  # joint or body; empty for what no one element has
    name: str = ""  # the element's
    # those that act on it, whose gains trade places with what is impossible
    actuators: tuple[str, ...] = ()


def impossible_values(
    before: mujoco.MjModel, after: mujoco.MjModel, *, by_torque: bool = False
) -> tuple[Impossible, ...]:
    """Name the masses and armatures that a robot of this size does not have.

    Args:
      before: The initial model, every body with geoms; its own values are not questioned.
      after: The same with the identified values.
      by_torque: Whether measured torque was fitted, in which armature is hardly mistaken for
        anything else.
    """
    share = _MEASURED if by_torque else _WHOLE
    weight = _gravity(before, after) if by_torque else []
    return (*_armatures(before, after, share), *_masses(before, after), *weight)


def _gravity(before: mujoco.MjModel, after: mujoco.MjModel) -> list[Impossible]:
    """Gravity that is many times the model's, as of torque in another unit."""
    sizes = [float(np.linalg.norm(_weight_torques(model))) for model in (before, after)]
    if not all(size > 0.0 for size in sizes):
        return []
    ratio = sizes[1] / sizes[0]
    if 1.0 / _HEAVIER <= ratio <= _HEAVIER:
        return []
    return [
        Impossible(
            f"gravity on the joints is {ratio:.2g} times the model's, as if torque were in another "
            "unit, a current, or that of a motor before its gear"
        )
    ]


def _weight_torques(model: mujoco.MjModel) -> FloatArray:
    """Torque that holds the robot in some poses, (poses, nv)."""
    found = np.zeros((_POSES, model.nv))
    for row, data in zip(found, _poses(model), strict=True):
        mujoco.mj_fwdVelocity(model, data)
        row[:] = data.qfrc_bias
    return found


def _poses(model: mujoco.MjModel) -> Iterator[mujoco.MjData]:
    """The robot in poses about its own, one object for all."""
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    for _ in range(_POSES):
        data.qpos[:] = model.qpos0
        mujoco.mj_integratePos(model, data.qpos, rng.uniform(-1.5, 1.5, model.nv), 1.0)
        mujoco.mj_fwdPosition(model, data)
        yield data


def _masses(before: mujoco.MjModel, after: mujoco.MjModel) -> list[Impossible]:
    volumes = _volumes(after)
    said = []
    for body in np.flatnonzero(volumes > 0.0):
        first, last = (float(m.body_mass[body] / volumes[body]) for m in (before, after))
        if first == last or not _LIGHTEST <= first <= _DENSEST:
            continue  # its geoms are not its size
        # Boxes around collision geoms alone may be a third of a link's size.
        if not min(_LIGHTEST, first / _RAISED) <= last <= max(_DENSEST, first * _RAISED):
            than = "denser than lead" if last > _DENSEST else "lighter than foam"
            mass = float(after.body_mass[body])
            name = str(after.body(int(body)).name)
            clause = f"{name} with {mass:.3g} kg would be {than}"
            said.append(Impossible(clause, "body", name))
    return said


def _volumes(model: mujoco.MjModel) -> FloatArray:
    """The boxes around the geoms of each body together, (nbody,) m^3."""
    volumes = np.zeros(model.nbody)
    for geom in range(model.ngeom):
        if int(model.geom_type[geom]) in _SOLID:
            volumes[model.geom_bodyid[geom]] += 8.0 * float(np.prod(model.geom_aabb[geom, 3:]))
    volumes[0] = 0.0
    return volumes


def _armatures(before: mujoco.MjModel, after: mujoco.MjModel, share: float) -> list[Impossible]:
    # The most, as an arm that is stretched along an axis weighs nothing about it.
    moved = np.max([moved_inertia(after, data) for data in _poses(after)], axis=0)
    said = []
    for joint in range(after.njnt):
        if int(after.jnt_type[joint]) != HINGE:
            continue
        dof = int(after.jnt_dofadr[joint])
        value, first = float(after.dof_armature[dof]), float(before.dof_armature[dof])
        hinges = [int(after.jnt_dofadr[j]) for j in range(after.njnt)]
        least = max(_MOVED * moved[dof], share * float(moved[hinges].max()), _RAISED * first)
        if value > least:
            name = str(after.joint(joint).name)
            clause = (
                f"an armature of {value:.3g} {unit_in(after.opt.gravity, 'kg m^2')} on {name} is "
                f"{value / max(moved[dof], 1e-300):.2g} times the inertia that it moves"
            )
            drives = tuple(str(after.actuator(a).name) for a in actuators_on(after, joint))
            said.append(Impossible(clause, "joint", name, drives))
    return said
