# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sizes that friction and inertia of a joint's drive can have, from links, motors and weight.

A geared motor's rotor counts with the square of the ratio, so that an armature of ten times the
link's inertia is nothing unusual, and friction grows with the torque that a drive is made for. So
the bounds come from what the joint carries and what its actuator can do, and exclude nothing that
such a joint has been seen to have.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements.actuators import drive_strength
from sysid_ros.engine.elements.joints import BALL, FREE, SLIDE
from sysid_ros.engine.elements.moved_inertia import moved_inertia

_GRAVITY = 9.81  # m/s^2, also of models without
_SLOWEST = 10.0  # rad/s^2 or m/s^2 that a motor gives its own rotor, at the least
_LOST = 0.03  # of a drive's largest force, in its gear
_CREEP = 0.5  # rad/s or m/s below which viscous friction does not take all of the force
_POSTURES = 8  # the model's own and some others
_ABOVE_USUAL = 10.0  # times the model's or a usual value, that upper bounds are at the least
_LEAST = {"armature": 0.1, "frictionloss": 5.0, "damping": 10.0}  # of upper bounds


@dataclass(frozen=True)
class JointScale:
    """The inertia and weight on a joint and the force of its drive; kg and N for a slide."""

    inertia: float  # seen by the joint with everything behind it at rest, kg m^2
    load: float  # the largest weight that it may have to hold, or a tenth of its motor's force, N m
    # largest force of its actuators, N m; ``None`` where the model has none that can be believed
    strength: float | None

    def typical(self, attribute: str) -> float:
        """A usual value of armature, damping or dry friction where the model says none."""
        if attribute == "armature":
            return max(0.3 * self.inertia, 1e-6)
        lost = _LOST * (self.strength or 0.0) if attribute == "frictionloss" else 0.0
        return max(0.05 * self.load, 0.5 * self.inertia, lost, 1e-5)

    def most(self, attribute: str, nominal: float) -> float:
        """The upper bound of one of them, from the model's own value.

        Of what turns about its centre of mass what is usual for its inertia tells it, no weight.
        """
        strength = self.strength or 0.0
        friction = max(2.0 * self.load, strength)
        likely = {
            "armature": max(10.0 * self.inertia, strength / _SLOWEST),
            "frictionloss": friction,
            "damping": friction / _CREEP,
        }[attribute]
        usual = _ABOVE_USUAL * max(nominal, self.typical(attribute))
        return max(_LEAST[attribute], usual, likely)


def joint_scales(model: mujoco.MjModel) -> dict[str, JointScale]:
    """Sizes for every joint of a model but free ones, by name.

    A wrist's motor is of the kind of its arm's, however little the wrist weighs: of inertia and
    load each joint is granted a share of the robot's largest.
    """
    inertia, load = _carried(model)
    found: dict[str, JointScale] = {}
    for joint in range(model.njnt):
        if int(model.jnt_type[joint]) != FREE:
            limit = drive_strength(model, joint)
            held = max(float(load[joint]), 0.1 * (limit or 0.0))
            carried = max(float(inertia[joint]), 1e-9)
            found[str(model.joint(joint).name)] = JointScale(carried, held, limit)
    most = max((scale.inertia for scale in found.values()), default=0.0)
    heaviest = max((scale.load for scale in found.values()), default=0.0)
    return {
        name: JointScale(
            max(one.inertia, 0.01 * most), max(one.load, 0.02 * heaviest), one.strength
        )
        for name, one in found.items()
    }


def _carried(model: mujoco.MjModel) -> tuple[FloatArray, FloatArray]:
    """Largest inertia and weight on each joint over some postures, (njnt,) each."""
    data = mujoco.MjData(model)
    random = np.random.default_rng(0)
    inertia, load = np.zeros(model.njnt), np.zeros(model.njnt)
    for place in range(_POSTURES):
        data.qpos[:] = model.qpos0
        if place:
            step = random.uniform(-1.0, 1.0, model.nv)
            mujoco.mj_integratePos(model, data.qpos, step, 1.0)
        mujoco.mj_fwdPosition(model, data)
        own = moved_inertia(model, data)
        for joint in range(model.njnt):
            inertia[joint] = max(inertia[joint], own[model.dof_jntid == joint].max())
            load[joint] = max(load[joint], _weight(model, data, joint))
    return inertia, load


def _weight(model: mujoco.MjModel, data: mujoco.MjData, joint: int) -> float:
    """Weight behind a joint times its distance from the axis, or from a ball; of a slide itself."""
    body = int(model.jnt_bodyid[joint])
    weight = _GRAVITY * float(model.body_subtreemass[body])
    if int(model.jnt_type[joint]) == SLIDE:
        return weight
    arm = data.subtree_com[body] - data.xanchor[joint]
    if int(model.jnt_type[joint]) == BALL:
        return weight * float(np.linalg.norm(arm))
    axis = data.xaxis[joint]
    return weight * float(np.linalg.norm(arm - (arm @ axis) * axis))
