# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``ros2_control.yaml``: what controllers can use of a result, as a ROS 2 parameter file."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from sysid_ros.engine.attributes import PLACES
from sysid_ros.engine.elements import BodyInertia, full_inertia
from sysid_ros.exports.inertial_edits import full_values
from sysid_ros.exports.joints import Joint, joints_of, targets
from sysid_ros.files import yaml_text
from sysid_ros.judgement import Outcome

_HEAD = """\
# Identified by sysid_ros: {title}. {verdict}
# A ROS 2 parameter file: merge it into a controller's, or pass it as it is (--params-file).
#   joints    in the model's order
#   gains     of the identified position servos, as pid_controller and
#             joint_trajectory_controller (effort interface) name them
#   dynamics  by joint: armature [kg m^2], damping [N m s/rad], frictionloss [N m],
#             stiffness [N m/rad], torque_offset [N m] needed besides; of slides kg, N s/m, N, N/m
#   links     of identified bodies: mass [kg], com [m] and inertia about it [kg m^2], in body axes
#             (ixx, iyy, izz, ixy, ixz, iyz)
"""


def ros2_control_yaml(outcome: Outcome, model: mujoco.MjModel) -> str:
    """The identified joints, servo gains and links.

    Returns:
      A parameter file for any node (``/**``), with a comment that explains it.
    """
    joints = joints_of(model)
    parameters: dict[str, Any] = {
        "joints": [joint.name for joint in joints],
        "gains": {j.name: _gains(j) for j in joints if j.kp is not None},
        "dynamics": {joint.name: _dynamics(joint) for joint in joints},
        "links": {
            name: _link(model, name)
            for name, attributes in targets(outcome.applied, "body").items()
            if attributes - {"gravcomp", *PLACES}
        },
    }
    # rcl has no empty lists and no empty dictionaries.
    content = {key: value for key, value in parameters.items() if value}
    head = _HEAD.format(title=outcome.title, verdict=" ".join(outcome.verdict.split()))
    return head + yaml_text({"/**": {"ros__parameters": content}})


def _gains(joint: Joint) -> dict[str, float]:
    return {"p": float(joint.kp or 0.0), "i": 0.0, "d": float(joint.kd or 0.0)}


def _dynamics(joint: Joint) -> dict[str, float]:
    return {
        "armature": joint.armature,
        "damping": joint.damping,
        "frictionloss": joint.frictionloss,
        "stiffness": joint.stiffness,
        **({"torque_offset": joint.torque_offset} if joint.torque_offset else {}),
    }


def _link(model: mujoco.MjModel, name: str) -> dict[str, Any]:
    body = model.body(name)
    mass = float(body.mass[0])
    inertia = full_inertia(BodyInertia(mass, body.ipos, body.iquat, body.inertia))
    return {
        "mass": mass,
        "com": np.asarray(body.ipos).tolist(),
        "inertia": full_values(inertia).tolist(),
    }
