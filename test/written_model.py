# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a regressor as a MuJoCo model whose ``mj_inverse`` gives the predicted torque."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import INERTIAL, body_of, set_inertia
from sysid_ros.engine.inverse_dynamics import sharpen_friction
from sysid_ros.engine.regressor import DELAY, LAW_KINDS, Columns

_POLYNOMIAL = {"damping": 0, "damping2": 1, "damping3": 2, "stiffness": 0}
_CONSTANT = 1e-6  # N m/rad, of the spring that stands for a constant torque


def written_spec(
    spec: mujoco.MjSpec, columns: Columns, theta: FloatArray, *, offsets: bool = False
) -> mujoco.MjSpec:
    """A copy of a specification with estimated parameters.

    Args:
      spec: From which the fitted model was compiled; left as it is.
      columns: Of the fit's regressor.
      theta: All parameters, (p,).
      offsets: Whether a hinge's or slide's torque offset is written, as a spring too soft to
        matter whose rest position is far away; MuJoCo has no constant joint torque. An offset that
        is the sensor's, not the robot's, is better left out.
    """
    copy = spec.copy()
    model = copy.compile()
    copy.compiler.boundmass = copy.compiler.boundinertia = 0.0
    copy.compiler.balanceinertia = False
    copy.compiler.settotalmass = -1.0
    if int(copy.compiler.inertiafromgeom) == int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE):
        copy.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
    bodies = {body.id: body for body in copy.bodies}
    joints = {joint.id: joint for joint in copy.joints}
    tendons = {tendon.id: tendon for tendon in copy.tendons}
    for body in columns.bodies:
        parameters = theta[columns.of_body(body)]
        if parameters[0] > 0.0:  # a frame without mass stays one
            set_inertia(bodies[body], body_of(parameters))
    for kind, owner, value in zip(columns.kinds, columns.owners, theta.tolist(), strict=True):
        if kind in INERTIAL or kind == DELAY or kind in LAW_KINDS:
            continue  # a delay is the measurement's, and MuJoCo knows no law of friction but m1
        if kind == "offset":
            if offsets and value != 0.0:
                _write_offset(model, joints, owner, value, bool(copy.compiler.degree))
        elif kind.startswith("tendon_"):
            _write(tendons[owner], kind.removeprefix("tendon_"), value)
        else:
            _write(joints[owner], kind, value)
    sharpen_friction(copy)
    return copy


def _write(element: Any, kind: str, value: float) -> None:
    if kind not in _POLYNOMIAL:
        setattr(element, kind, value)
        return
    name = kind.rstrip("23")
    held = getattr(element, name)
    if np.ndim(held):  # since MuJoCo 3.7 a polynomial
        changed = np.array(held)
        changed[_POLYNOMIAL[kind]] = value
        setattr(element, name, changed)
    else:
        setattr(element, name, value)


def _write_offset(
    model: mujoco.MjModel, joints: dict[int, Any], dof: int, value: float, degree: bool
) -> None:
    joint = int(model.dof_jntid[dof])
    _write(joints[joint], "stiffness", _CONSTANT)
    turns = int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_HINGE)
    rest = -value / _CONSTANT
    joints[joint].springref = np.rad2deg(rest) if degree and turns else rest
