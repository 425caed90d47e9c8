# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Proposals for robots whose joint torque is measured: inverse dynamics instead of simulation."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from sysid_ros.proposal.mapping import Mapping

_MOST = 0.6  # of the joints with a position, whose torque must be known


def torque_is_measured(model: mujoco.MjModel, mapping: Mapping) -> bool:
    """True where torque of most joints is measured and no reference of a controller is known.

    A simulation driven by measured torque drifts from what was measured; regression does not. A
    robot with a free base is left to simulation: forces from the floor are in no torque.

    Args:
      model: The compiled model.
      mapping: What the recordings have.
    """
    inputs = [line for line in mapping.lines if line.kind in ("actuator", "effort")]
    if not inputs or any(line.channel.command for line in inputs):
        return False
    if np.any(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)):
        return False
    measured = [line for line in inputs if line.channel.quantity == "effort"]
    joints = {_joint(model, line.kind, line.name) for line in measured}
    known = joints & set(mapping.joints)
    return len(mapping.joints) > 1 and len(known) >= _MOST * len(mapping.joints)


def torque_parameters(model: mujoco.MjModel, mapping: Mapping) -> tuple[dict[str, Any], ...]:
    """Entries of ``parameters``: the whole inertia of bodies, and what joints add to it.

    Args:
      model: The compiled model.
      mapping: Whose joints are measured.
    """
    found: list[dict[str, Any]] = []
    for body in range(1, model.nbody):
        name = str(model.body(body).name)
        moments = np.sort(np.asarray(model.body_inertia[body]))
        solid = moments[0] > 0.0 and moments[2] < moments[0] + moments[1]
        if name and solid and int(model.body_weldid[body]) != 0:
            found.append({"body": name, "inertia": "pseudo"})
    for joint in mapping.joints:
        if int(model.jnt_type[model.joint(joint).id]) >= int(mujoco.mjtJoint.mjJNT_SLIDE):
            found.append({"joint": joint, "armature": None, "damping": None, "frictionloss": None})
    return tuple(found)


def _joint(model: mujoco.MjModel, kind: str, name: str) -> str:
    if kind == "effort":
        return name
    return str(model.joint(int(model.actuator(name).trnid[0])).name)
