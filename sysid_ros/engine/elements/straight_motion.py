# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints, tendons and actuators that move along a line, and those that turn."""

from __future__ import annotations

from typing import Any

import mujoco

from sysid_ros.engine.elements.actuators import ON_JOINT, joint_of
from sysid_ros.engine.elements.joints import HINGE, SLIDE
from sysid_ros.engine.elements.named_elements import find
from sysid_ros.engine.elements.tendons import joints_of_tendon

_WRAPPED = int(mujoco.mjtWrap.mjWRAP_JOINT)
_TENDON = int(mujoco.mjtTrn.mjTRN_TENDON)


def moves_straight(model: mujoco.MjModel, actuator: int) -> bool:
    """Return whether an actuator moves a slide, or a tendon whose length is no angle."""
    joint = joint_of(model, actuator)
    if joint is not None:
        return int(model.jnt_type[joint]) == SLIDE
    on_tendon = int(model.actuator_trntype[actuator]) == _TENDON
    return on_tendon and not is_angle(model, int(model.actuator_trnid[actuator, 0]))


def is_straight(spec: Any, element: str, name: str) -> bool:
    """Return whether an element is a joint, tendon or actuator that moves along a line."""
    if element == "actuator":
        actuator = find(spec, "actuator", name)
        kind, name = int(actuator.trntype), actuator.target
        element = "joint" if kind in ON_JOINT else "tendon" if kind == _TENDON else ""
    if element == "joint":
        return int(find(spec, "joint", name).type) == SLIDE
    if element != "tendon":
        return False
    parts = [one for one in find(spec, "tendon", name).path if int(one.type) == _WRAPPED]
    return not _are_angles([int(one.target.type) for one in parts], [one.coef for one in parts])


def is_angle(model: mujoco.MjModel, tendon: int) -> bool:
    """Return whether a tendon's length is an angle: hinges' alone, that of one of them as it is.

    Coefficients that are all other numbers may as well be the levers that a cord goes round.
    """
    joints = joints_of_tendon(model, tendon)
    return _are_angles([int(model.jnt_type[one]) for one in joints], [*joints.values()])


def _are_angles(kinds: list[int], coefficients: list[float]) -> bool:
    return {*kinds} == {HINGE} and any(abs(one) == 1.0 for one in coefficients)
