# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Demands on a motion from a robot's own files: joints, posture and limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import SCALAR, actuators_on, force_range, places_in_qpos
from sysid_ros.excitation import (
    ExcitationError,
    FileLimits,
    MotionLimits,
    join_limits,
    read_joint_limits,
    read_urdf_limits,
)
from sysid_ros.excitation.design.demands import Demands, MovingRobot, filled

_REMEDY = "--limits joint_limits.yaml and --urdf may, a joint's range in the model, or --velocity"


def robot_demands(
    model: mujoco.MjModel,
    joints: tuple[str, ...] = (),
    *,
    keyframe: str | None = None,
    limits: Path | None = None,
    urdf: Path | None = None,
    own: FileLimits | None = None,
    velocity: float | None = None,
    acceleration: float | None = None,
    jerk: float | None = None,
    fill: float = 0.9,
    clearance: float = 0.02,
) -> MovingRobot:
    """Put together which joints move, from where, and within what.

    Args:
      model: Compiled; ranges and actuators' forces count where no file says otherwise.
      joints: Names; every hinge and slide that an actuator drives if empty.
      keyframe: Posture to start from; by default the model's first, or its reference posture, in
        either case moved into the joints' ranges.
      limits: A ``joint_limits.yaml``.
      urdf: A URDF.
      own: What the URDF says that the model was made from, if it was.
      velocity: rad/s or m/s where no file has a limit; the model's own URDF never allows more.
      acceleration: rad/s^2 or m/s^2 where no file has one; twice the velocity by default.
      jerk: rad/s^3 or m/s^3.
      fill: Share of position ranges, velocities and accelerations that may be used.
      clearance: m.

    Returns:
      The robot, with these joints to move and these demands.

    Raises:
      ExcitationError: A name is unknown, or a limit is missing.
    """
    if not 0.0 < fill <= 1.0:
        raise ExcitationError(f"fill is {fill:g}; it must be above 0 and at most 1")
    chosen = _checked(model, joints) or _driven(model)
    if not chosen:
        raise ExcitationError("no actuator drives a hinge or slide of the model; name the joints")
    sources: list[FileLimits] = []
    if limits is not None:
        sources.append(read_joint_limits(limits))
    if urdf is not None:
        sources.append(read_urdf_limits(urdf))
    given = {"velocity": velocity, "acceleration": acceleration}
    fallback = {kind: value for kind, value in given.items() if value is not None}
    sources += [_of_urdf(own or {}, fallback), _of_model(model, chosen)]
    sources.append(dict.fromkeys(chosen, fallback))
    full = join_limits(chosen, {}, tuple(sources), remedy=_REMEDY)
    used = filled(full, fill)
    home = _posture(model, keyframe, chosen, used)
    highest = np.full(len(chosen), np.inf if jerk is None else jerk)
    demands = Demands(limits=used, jerk=highest, clearance=clearance, fill=fill)
    return MovingRobot(model, chosen, demands, home)


def _posture(
    model: mujoco.MjModel, keyframe: str | None, joints: tuple[str, ...], limits: MotionLimits
) -> FloatArray:
    names = [model.key(k).name for k in range(model.nkey)]
    if keyframe is not None and keyframe not in names:
        raise ExcitationError(f"keyframe {keyframe!r} is not in the model; it has {names}")
    number = names.index(keyframe) if keyframe is not None else 0
    home: FloatArray = (model.key_qpos[number] if names else model.qpos0).copy()
    places = places_in_qpos(model, joints)
    # a little inside, so that there is a way in every direction
    room = 0.02 * (limits.upper - limits.lower)
    home[places] = np.clip(home[places], limits.lower + room, limits.upper - room)
    return home


def _of_urdf(own: FileLimits, given: Mapping[str, float]) -> FileLimits:
    """Limits of a model's URDF: no more than is given, and none by zeros, as exporters write."""
    found = {}
    for joint, kinds in own.items():
        ranges = {kind: kinds[kind] for kind in ("lower", "upper") if kind in kinds}
        said = {kind: value for kind, value in kinds.items() if value != 0.0}
        said |= ranges if any(ranges.values()) else {}
        found[joint] = {kind: min(value, given.get(kind, value)) for kind, value in said.items()}
    return found


def _of_model(model: mujoco.MjModel, joints: tuple[str, ...]) -> Mapping[str, dict[str, float]]:
    """Ranges of joints, and forces of the joints or of what drives them."""
    found = {}
    for name in joints:
        joint = model.joint(name).id
        kinds: dict[str, float] = {}
        if model.jnt_limited[joint]:
            kinds["lower"], kinds["upper"] = map(float, model.jnt_range[joint])
        elif int(model.jnt_type[joint]) == SCALAR[0]:
            kinds["lower"], kinds["upper"] = -math.pi, math.pi
        effort = min(np.abs(force_range(model, joint)))  # that it has either way
        if np.isfinite(effort):
            kinds["effort"] = float(effort)
        found[name] = kinds
    return found


def _driven(model: mujoco.MjModel) -> tuple[str, ...]:
    return tuple(
        model.joint(j).name
        for j in range(model.njnt)
        if int(model.jnt_type[j]) in SCALAR and actuators_on(model, j)
    )


def _checked(model: mujoco.MjModel, joints: tuple[str, ...]) -> tuple[str, ...]:
    scalar = [model.joint(j).name for j in range(model.njnt) if int(model.jnt_type[j]) in SCALAR]
    for name in joints:
        if name not in scalar:
            raise ExcitationError(f"joint {name!r} is no hinge or slide of the model; there are "
                                  f"{', '.join(scalar)}")  # fmt: skip
    return joints
