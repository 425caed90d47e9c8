# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model with hidden values in place of its own, and the base it stands on or hangs from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.elements import FREE, matching
from sysid_ros.errors import ModelError
from sysid_ros.rehearsal.true_parameters import TrueParameter

_CLEARANCE = 1e-3  # m between the lowest geom and the floor at the start


class Base(Enum):
    """The place of a robot's base."""

    MODEL = "model"  # as the model has it: fixed, or flying
    HANGING = "hanging"  # the free joint is taken away
    GROUND = "ground"  # on a floor, which is added where the model has none


def with_true_values(
    spec: mujoco.MjSpec, parameters: Sequence[TrueParameter], timestep: float
) -> mujoco.MjSpec:
    """Return a copy of a model with hidden values.

    Args:
      spec: The model; not changed.
      parameters: The hidden values; those of signals do not concern the model.
      timestep: Simulation timestep in seconds.

    Raises:
      ParameterError: A value is for something that the model or the package does not have.
    """
    changed = spec.copy()
    changed.option.timestep = timestep
    for parameter in parameters:
        attribute = lookup(parameter.element, parameter.attribute)
        if parameter.element != "signal":
            for name in matching(changed, parameter.element, parameter.pattern):
                attribute.write(changed, name, np.array([parameter.value]))
    return changed


def true_model(
    spec: mujoco.MjSpec, parameters: Sequence[TrueParameter], timestep: float
) -> mujoco.MjModel:
    """Compile a copy of a model with hidden values, see :func:`with_true_values`.

    Raises:
      ModelError: The model does not compile.
      ParameterError: A value is for something that the model or the package does not have.
    """
    changed = with_true_values(spec, parameters, timestep)
    try:
        return changed.compile()
    except ValueError as error:
        raise ModelError(f"the model does not compile with its true values: {error}") from None


def based(spec: mujoco.MjSpec, base: Base) -> mujoco.MjSpec:
    """Return a copy of a model with its base hanging or on a floor.

    Raises:
      ModelError: It has no free joint where one is needed.
    """
    changed = spec.copy()
    if base is Base.MODEL:
        return changed
    free = [joint for joint in changed.joints if int(joint.type) == FREE]
    if not free:
        raise ModelError(f"a base {base.value} needs a model with a free joint; this one has none")
    if base is Base.HANGING:
        for key in list(changed.keys):
            changed.delete(key)  # their sizes are those of the free model
        for joint in free:
            changed.delete(joint)
        return changed
    if not any(geom.type == mujoco.mjtGeom.mjGEOM_PLANE for geom in changed.geoms):
        changed.worldbody.add_geom(
            name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 0.05]
        )
    return changed


def start_of(
    model: mujoco.MjModel, base: Base, posture: Mapping[str, float] | None
) -> mujoco.MjData:
    """Return the posture a recording starts from: the first keyframe or the model's own.

    On the ground the free base is moved until its lowest geom nearly touches the floor.
    """
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    else:
        data.qpos[:] = _within_ranges(model)
    for name, position in (posture or {}).items():
        data.qpos[model.jnt_qposadr[model.joint(name).id]] = position
    mujoco.mj_forward(model, data)
    if base is Base.GROUND:
        lowest = _lowest_point(model, data)
        height = next(
            int(model.jnt_qposadr[j]) + 2
            for j in range(model.njnt)
            if int(model.jnt_type[j]) == FREE
        )
        data.qpos[height] += _CLEARANCE - lowest
        mujoco.mj_forward(model, data)
    return data


def _within_ranges(model: mujoco.MjModel) -> FloatArray:
    """The model's own posture, moved to the middle of ranges that exclude it."""
    posture = np.array(model.qpos0)
    for joint in range(model.njnt):
        low, high = model.jnt_range[joint]
        place = int(model.jnt_qposadr[joint])
        margin = 0.2 * (high - low)
        if model.jnt_limited[joint] and not low + margin <= posture[place] <= high - margin:
            posture[place] = 0.5 * (low + high)
    return posture


def _lowest_point(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """The lowest height of any geom that can touch something and moves."""
    found = []
    for geom in range(model.ngeom):
        touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
        if not touches or model.body_weldid[model.geom_bodyid[geom]] == 0:
            continue
        centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        rotation = data.geom_xmat[geom].reshape(3, 3)
        middle = data.geom_xpos[geom][2] + rotation[2] @ centre
        found.append(float(middle - np.abs(rotation[2]) @ half))
    return min(found, default=0.0)
