# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The joints of an identified model as other programs describe them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import mujoco

from sysid_ros.engine.attributes import SOFT_SPRING, is_position_servo
from sysid_ros.engine.elements import SCALAR, joint_of, linear, n_actuators
from sysid_ros.judgement import AppliedParameter


@dataclass(frozen=True)
class Joint:
    """A hinge or a slide, in SI units."""

    name: str
    armature: float  # inertia of rotor and gear as seen at the joint, kg m^2 or kg
    damping: float  # viscous friction, N m s/rad or N s/m
    frictionloss: float  # dry friction, N m or N
    stiffness: float  # of a spring, N m/rad or N/m
    torque_offset: float  # needed besides all else, N m or N; the model has a soft spring for it
    # position gain of the servo that drives it, N m/rad or N/m; ``None`` without one
    kp: float | None = None
    kd: float | None = None  # the servo's velocity gain, N m s/rad or N s/m; likewise


def joints_of(model: mujoco.MjModel) -> tuple[Joint, ...]:
    """All hinges and slides that have a name, in the model's order."""
    servos = {}
    for i in range(n_actuators(model)):
        actuator = model.actuator(i)
        joint = joint_of(model, i)
        if joint is not None and is_position_servo(actuator):
            servos[joint] = actuator
    found = []
    for i in range(model.njnt):
        name = model.joint(i).name
        if not name or int(model.jnt_type[i]) not in SCALAR:
            continue
        dof = int(model.jnt_dofadr[i])
        gear = float(servos[i].gear[0]) if i in servos else 1.0
        stiffness = linear(model.jnt_stiffness[i])
        offset = stiffness == SOFT_SPRING
        reference = float(model.qpos_spring[model.jnt_qposadr[i]])
        found.append(
            Joint(
                name=name,
                armature=float(model.dof_armature[dof]),
                damping=linear(model.dof_damping[dof]),
                frictionloss=float(model.dof_frictionloss[dof]),
                stiffness=0.0 if offset else stiffness,
                torque_offset=-stiffness * reference if offset else 0.0,
                # Length and force of an actuator both carry its gear.
                kp=-float(servos[i].biasprm[1]) * gear**2 if i in servos else None,
                kd=-float(servos[i].biasprm[2]) * gear**2 if i in servos else None,
            )
        )
    return tuple(found)


def targets(applied: Iterable[AppliedParameter], element: str) -> dict[str, set[str]]:
    """The attributes that parameters are written into, by element name.

    Args:
      applied: What the parameters do to the model.
      element: joint, body, actuator, ...
    """
    found: dict[str, set[str]] = {}
    for parameter in applied:
        target = parameter.target
        if target.element == element:
            for name in target.names:
                found.setdefault(name, set()).add(target.attribute)
    return found
