# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators with what their commands may be called and be."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from sysid_ros.engine.elements import (
    ON_JOINT,
    is_effort,
    is_servo,
    is_velocity_servo,
    joints_of_tendon,
)


@dataclass(frozen=True)
class Drive:
    """An actuator, with what its command may be called and be.

    Attributes:
      actuator: Its number.
      name: Its name.
      names: Its own name and that of what it moves.
      quantity: position, velocity or effort; empty where the model does not say.
    """

    actuator: int
    name: str
    names: tuple[str, ...]
    quantity: str


def drives_of(model: mujoco.MjModel) -> list[Drive]:
    """Every actuator that has a name, whatever it acts on."""
    found = []
    for actuator in range(model.nu):
        name = str(model.actuator(actuator).name)
        if name:
            names = tuple(dict.fromkeys([name, *_targets(model, actuator)]))
            found.append(Drive(actuator, name, names, _quantity(model, actuator)))
    return found


def driven_joints(model: mujoco.MjModel) -> frozenset[str]:
    """Names of the joints with an actuator; all where an actuator acts on no joint alone."""
    names: set[str] = set()
    for actuator in range(model.nu):
        kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
        if kind in ON_JOINT:
            names.add(str(model.joint(target).name))
        elif kind == int(mujoco.mjtTrn.mjTRN_TENDON):
            names.update(str(model.joint(j).name) for j in joints_of_tendon(model, target))
        else:
            names.clear()
            break
    return frozenset(names or (str(model.joint(j).name) for j in range(model.njnt)))


def _targets(model: mujoco.MjModel, actuator: int) -> list[str]:
    """Names of what an actuator acts on."""
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    if target < 0:
        return []
    types = {
        int(mujoco.mjtTrn.mjTRN_JOINT): model.joint,
        int(mujoco.mjtTrn.mjTRN_JOINTINPARENT): model.joint,
        int(mujoco.mjtTrn.mjTRN_TENDON): model.tendon,
        int(mujoco.mjtTrn.mjTRN_SITE): model.site,
        int(mujoco.mjtTrn.mjTRN_SLIDERCRANK): model.site,
        int(mujoco.mjtTrn.mjTRN_BODY): model.body,
    }
    found = [str(types[kind](target).name)] if kind in types else []
    if kind == int(mujoco.mjtTrn.mjTRN_TENDON):
        found += [str(model.joint(joint).name) for joint in joints_of_tendon(model, target)]
    return [name for name in found if name]


def _quantity(model: mujoco.MjModel, actuator: int) -> str:
    if is_effort(model, actuator):
        return "effort"
    if is_servo(model, actuator):
        return "position"
    return "velocity" if is_velocity_servo(model, actuator) else ""
