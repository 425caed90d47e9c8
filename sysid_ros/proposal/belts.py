# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fixed tendons that actuators pull, as belts and gears whose rotor stands elsewhere.

Of a motor on the base that turns the elbow, friction and rotor move with both joints' sum: the
model has them at the tendon, and what a joint would have in their place is another robot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.elements import fixed_tendons, joints_of_tendon
from sysid_ros.proposal.candidate import Candidate, model_value, rounded

_ATTRIBUTES = ("frictionloss", "damping", "armature")


def of_belts(
    spec: mujoco.MjSpec, model: mujoco.MjModel, joints: Sequence[str]
) -> Iterator[Candidate]:
    """Friction, damping and armature of tendons that actuators pull, where the model has them."""
    belts = {name: own for name, own in _belts(model).items() if own <= {*joints}}
    for attribute in _ATTRIBUTES:
        for name in belts:
            nominal = model_value(spec, "tendon", name, attribute)
            if nominal:
                _, high = lookup("tendon", attribute).bounds(np.array([nominal]))
                yield Candidate(
                    element="tendon",
                    name=name,
                    attribute=attribute,
                    low=0.0,
                    high=rounded(float(high[0])),
                    typical=nominal,
                )


def _belts(model: mujoco.MjModel) -> dict[str, frozenset[str]]:
    """The joints of each fixed tendon that an actuator pulls, by its name."""
    pulled = model.actuator_trnid[model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON, 0]
    return {
        str(model.tendon(t).name): frozenset(
            str(model.joint(joint).name) for joint in joints_of_tendon(model, t)
        )
        for t in fixed_tendons(model)
        if t in pulled and model.tendon(t).name
    }


def borne_by_belts(spec: mujoco.MjSpec, model: mujoco.MjModel, attribute: str) -> set[str]:
    """Joints without an attribute that only actuators turn whose tendons have it instead."""
    of_joints = model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT
    turned = {str(model.joint(one).name) for one in model.actuator_trnid[of_joints, 0]}
    belts = _belts(model).items()
    having = {name: own for name, own in belts if model_value(spec, "tendon", name, attribute)}
    found = {joint for own in having.values() for joint in own} - turned
    return {joint for joint in found if not model_value(spec, "joint", joint, attribute)}
