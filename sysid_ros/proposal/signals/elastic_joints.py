# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Encoders on both sides of a spring: the one behind it shows the sum of two joints.

A series elastic joint is two in a model: the motor's, and that of the spring behind it, whose
position is the deflection. What an encoder on the link shows is the sum of both.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import actuators_on
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.measured_positions import Positions, scalar_joints

_ALIKE = 0.25  # of the motor's power, that an encoder behind the spring differs by at most
_PARALLEL = 1e-6  # of axes and places in one posture
_SIDES = (("motor", "rotor"), ("link", "load", "output"))  # in names, of either side of a spring
_SMOOTH = 0.02  # s, over which accelerations are taken
_TOLD = 0.3  # correlation of a deflection with the acceleration, from which on it tells the side


def behind_springs(
    model: mujoco.MjModel, positions: Positions
) -> tuple[Positions, list[Line], set[str]]:
    """Positions of which those behind a spring are sensors of their own.

    Args:
      model: The compiled model.
      positions: The measured position of each joint, as names have it.

    Returns:
      The positions without those of springs, the encoders behind springs, and the springs' joints
      of which these tell.
    """
    kept, lines, told = dict(positions), list[Line](), set[str]()
    for motor, spring in _springs(model):
        if motor not in kept or spring not in kept:
            continue
        first, second = kept[motor][0], kept[spring][0]
        moved = _differences(first, second)
        if moved is None:
            continue
        exchanged, doubt = _order(first, second, moved)
        near, far = (second, first) if exchanged else (first, second)
        kept[motor] = (near, not doubt)
        del kept[spring]
        names = [str(model.joint(joint).name) for joint in (motor, spring)]
        told.add(names[1])
        lines.append(
            Line(
                "sensor", f"{names[1]}_encoder", far, doubt,
                "it turns as the motor does, so that it is behind the spring",
                ("jointpos", " + ".join(names)),
            )
        )  # fmt: skip
    return kept, lines, told


def _springs(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Pairs of a driven joint and the spring about the same axis behind it."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    joints = scalar_joints(model)
    driven = [joint for joint in joints if actuators_on(model, joint)]

    def about_one_axis(one: int, other: int) -> bool:
        body = int(model.jnt_bodyid[other])
        behind = int(model.jnt_bodyid[one]) in (body, int(model.body_parentid[body]))
        lever = np.cross(data.xanchor[other] - data.xanchor[one], data.xaxis[one])
        kinds = int(model.jnt_type[one]) == int(model.jnt_type[other])
        same = float(data.xaxis[one] @ data.xaxis[other]) > 1.0 - _PARALLEL
        return behind and kinds and same and float(np.linalg.norm(lever)) < _PARALLEL

    return [
        (one, other)
        for other in joints
        if other not in driven and float(np.ravel(model.jnt_stiffness[other])[0]) > 0.0
        for one in driven
        if one < other and about_one_axis(one, other)
    ]


def _differences(first: Channel, second: Channel) -> list[tuple[FloatArray, ...]] | None:
    """Instants, motion and difference of two encoders by recording; none if they are no pair."""
    found: list[tuple[FloatArray, ...]] = []
    powers: FloatArray = np.zeros(2)
    for times, values, others, far in zip(
        first.times, first.values, second.times, second.values, strict=False
    ):
        inside = (times >= others[0]) & (times <= others[-1]) if len(others) > 1 else times < 0.0
        if np.count_nonzero(inside) < 3:
            continue
        motion = values[inside]
        difference = np.interp(times[inside], others, far) - motion
        difference -= np.mean(difference)
        powers += np.sum((motion - np.mean(motion)) ** 2), np.sum(difference**2)
        found.append((times[inside], motion, difference))
    return found if found and powers[1] < _ALIKE * powers[0] else None


def _order(
    first: Channel, second: Channel, moved: Sequence[tuple[FloatArray, ...]]
) -> tuple[bool, str]:
    """Tell whether the first is behind the spring, and what is doubtful about that.

    Names tell, or else the motion: a spring that accelerates what is behind it is deflected against
    the acceleration.
    """
    for words, behind in zip(_SIDES, (False, True), strict=True):
        named = [any(word in one.name.lower() for word in words) for one in (first, second)]
        if named[0] != named[1]:
            return named[0] if behind else named[1], ""
    deflections, accelerations = zip(*(_accelerated(*part) for part in moved), strict=True)
    right, left = np.concatenate(accelerations), np.concatenate(deflections)
    size = float(np.linalg.norm(right) * np.linalg.norm(left))
    agreement = float(right @ left) / size if size else 0.0
    if abs(agreement) < _TOLD:
        return False, "which of both encoders is the motor's, neither names nor motion tell"
    return agreement > 0.0, ""


def _accelerated(
    times: FloatArray, motion: FloatArray, difference: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The deflection beside what goes with the position, (n,), and the acceleration likewise."""
    count = int((times[-1] - times[0]) / _SMOOTH)
    grid = np.linspace(times[0], times[-1], max(count, 4))
    position, deflection = (np.interp(grid, times, one) for one in (motion, difference))
    acceleration = np.gradient(np.gradient(position, grid), grid)
    base = np.column_stack([position - position.mean(), np.ones(len(grid))])
    rest = [one - base @ np.linalg.lstsq(base, one, rcond=None)[0] for one in
            (deflection, acceleration)]  # fmt: skip
    return rest[0], rest[1]
