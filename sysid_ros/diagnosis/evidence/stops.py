# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that were farther beyond their stops than these give way to what presses them."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.recorded import Recorded

_VISIBLE = 0.005  # of a range, root mean square beyond it
_TIED = 0.02  # the same of a joint that nothing measures: what ties it gives way, too
_DEEPEST = 99.0  # percentile
_MOSTLY = 0.5  # of samples
_BOUNCES = 6.0  # times as deep as at rest
_IMPEDANCES = 1e-4, 0.9999  # MuJoCo's mjMINIMP and mjMAXIMP
_LOOKS = 12  # postures, in which loads are asked for


def positions_of(recorded: Recorded, joint: int) -> FloatArray:
    """All measured positions of a joint, (n,)."""
    samples = recorded.pooled(recorded.positions[joint])
    return np.concatenate([one.values for one in samples] or [np.empty(0)])


def leaves_range(recorded: Recorded, joint: int) -> bool:
    """Return whether a joint goes farther beyond its range than its stops give way.

    Args:
      recorded: The recordings.
      joint: A hinge or a slide that is measured.
    """
    values = positions_of(recorded, joint)
    if not _is_beyond(recorded.model, joint, values, _VISIBLE):
        return False
    beyond = np.abs(values - np.clip(values, *recorded.model.jnt_range[joint]))
    pressed = float(loads(recorded)[recorded.model.jnt_dofadr[joint]]) + _drive(recorded, joint)
    deepest = float(np.percentile(beyond, _DEEPEST))
    if deepest > float(np.ptp(recorded.model.jnt_range[joint])):
        return True  # whatever its servo, told in the same unit, would press with
    return deepest > _BOUNCES * _give(recorded.model, joint, pressed)


def keeps_to_ranges(recorded: Recorded, offsets: Mapping[str, float]) -> bool:
    """Return whether offsets leave joints within their ranges, most of the time, that are so now.

    An encoder whose zero is off takes its joint out of the range, and its repair back into it.

    Args:
      recorded: The recordings.
      offsets: What would be added to positions, by label.
    """
    for joint, label in recorded.positions.items():
        if label in offsets and recorded.model.jnt_limited[joint]:
            values = positions_of(recorded, joint)
            low, high = recorded.model.jnt_range[joint]
            before, after = (
                np.mean((low <= one) & (one <= high)) for one in (values, values + offsets[label])
            )
            if after < _MOSTLY < before:
                return False
    return True


def is_tied_beyond(recorded: Recorded, joint: int, values: FloatArray) -> bool:
    """Return whether equalities put a hinge or a slide far beyond its range, (n,) positions."""
    return _is_beyond(recorded.model, joint, values, _TIED)


def _is_beyond(model: mujoco.MjModel, joint: int, values: FloatArray, share: float) -> bool:
    """Return whether positions are beyond a range by a share of it, in the root mean square."""
    if not model.jnt_limited[joint] or not len(values):
        return False
    low, high = model.jnt_range[joint]
    beyond = values - np.clip(values, low, high)
    return bool(np.sqrt(np.mean(beyond**2)) > share * (high - low))


def _give(model: mujoco.MjModel, joint: int, pressed: float) -> float:
    """The most that a stop gives way to a load (N m or N) at rest: (1 - d) a = d k r, as in MuJoCo.

    The impedance d grows from its first value to its last one over a width.
    """
    constant, ratio = (float(part) for part in model.jnt_solref[joint])
    first, last, width = (float(part) for part in model.jnt_solimp[joint][:3])
    first, last = (min(max(part, _IMPEDANCES[0]), _IMPEDANCES[1]) for part in (first, last))
    constant = max(constant, 2.0 * model.opt.timestep) if constant > 0.0 else constant
    stiffness = -constant / last**2 if constant <= 0.0 else (last * constant * ratio) ** -2
    acceleration = pressed * float(model.dof_invweight0[model.jnt_dofadr[joint]])
    shallow, deep = (
        (1.0 - part) / part * acceleration / max(stiffness, 1e-12) for part in (first, last)
    )
    return max(deep, min(shallow, width))


def loads(recorded: Recorded) -> FloatArray:
    """Largest loads of weights and springs on degrees of freedom as recorded, (nv,) N m or N."""
    model, postures = recorded.model, recorded.postures()
    data, most = mujoco.MjData(model), np.zeros(model.nv)
    for posture in postures[:: max(1, len(postures) // _LOOKS)]:
        data.qpos[:] = posture
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        most = np.maximum(most, np.abs(data.qfrc_passive - data.qfrc_bias))
    return most


def _drive(recorded: Recorded, joint: int) -> float:
    """The most that what drives a joint may press it to its stops, N m or N."""
    inputs = {**recorded.commands, **recorded.efforts}
    return sum(
        _pressed(recorded, actuator, joint, label)
        for actuator, label in inputs.items()
        if joint in recorded.arms(actuator)
    )


def _pressed(recorded: Recorded, actuator: int, joint: int, label: str) -> float:
    """The most that an input presses a joint to one of its stops, at which it is at rest."""
    model = recorded.model
    told = [one.values for one in recorded.pooled(label)]
    if not told:
        return 0.0
    extremes = np.array([min(map(np.min, told)), max(map(np.max, told))])
    own, pull = (float(part) for part in model.actuator_biasprm[actuator, :2])
    gear, gain = float(model.actuator_gear[actuator, 0]), float(model.actuator_gainprm[actuator, 0])
    rests = own + pull * gear * model.jnt_range[joint]
    force = gain * extremes + rests[:, None]  # at the lower stop and at the upper one, (2, 2)
    if model.actuator_forcelimited[actuator]:
        force = np.clip(force, *model.actuator_forcerange[actuator])
    lower, upper = gear * force
    return max(-float(lower.min()), float(upper.max()), 0.0)
