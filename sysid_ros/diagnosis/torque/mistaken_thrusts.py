# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes of the thrusts on a free body that flies, as its motion tells them."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Change, Explanation, FindingKind, Recorded
from sysid_ros.diagnosis.fits import (
    ThrustMixing,
    best_order,
    body_torques,
    decisive,
    joint_motion,
    moment_arms,
)
from sysid_ros.diagnosis.torque.dynamics import Dynamics
from sysid_ros.engine.elements import affine_force, joint_of
from sysid_ros.engine.signals import conjugate, rotated

_MUCH = 0.1  # share of the torques that is unexplained where one is mistaken
_SMALLEST_THRUST = 1.5  # factor of one of several thrusts


def mistaken_thrusts(recorded: Recorded, test: Dynamics) -> list[Explanation]:
    """Exchanges, signs or the factor of thrusts on a free body, as its motion tells them."""
    for joint in recorded.poses if test.flies else ():
        own = [
            actuator for actuator in recorded.efforts
            if recorded.joint_of(actuator) == joint and joint_of(recorded.model, actuator) is None
        ]  # fmt: skip
        seen = _mixing(recorded, test, joint, own) if len(own) > 1 else None
        if seen is None:
            continue
        before, (order, after) = seen[0].misfit(seen[1]), best_order(*seen)
        if before.share <= _MUCH or not decisive(after, before):
            continue
        labels = [recorded.efforts[actuator] for actuator in own]
        pairs = tuple((labels[one], labels[other]) for one, other in order.exchanges)
        scale = {x: f for x, f in zip(labels, order.factors.tolist(), strict=True) if f != 1.0}
        shares = before.share, after.share
        if any(factor > 0.0 for factor in scale.values()):
            (factor,) = scale.values()
            if max(factor, 1.0 / factor) < _SMALLEST_THRUST:
                continue
            return [Explanation(Change(FindingKind.SCALE, scale=scale), factor, *shares)]
        changes = [Change(FindingKind.SWAP, exchange=pairs)] if pairs else []
        changes += [Change(FindingKind.SIGN, scale=scale)] if scale else []
        return [Explanation(one, 0.0, *shares) for one in changes]
    return []


def _mixing(
    recorded: Recorded, test: Dynamics, joint: int, thrusts: list[int]
) -> tuple[ThrustMixing, FloatArray] | None:
    """The effects of thrusts on a free joint as it moved, and per unit of each input, (6, l)."""
    model, data = recorded.model, test.data
    qpos, qvel, qacc = joint_motion(model, *data.motion(recorded.coordinates))
    first, turn = int(model.jnt_dofadr[joint]), int(model.jnt_qposadr[joint]) + 3
    dofs, back = slice(first, first + 6), conjugate(qpos[:, turn : turn + 4])
    wanted = body_torques(model, qpos, qvel, qacc).sum(axis=2)[:, dofs]
    wanted[:, :3] = rotated(back, wanted[:, :3])
    arms = moment_arms(model, qpos[:1])[0, thrusts, dofs]
    arms[:, :3] = rotated(np.repeat(back[:1], len(thrusts), axis=0), arms[:, :3])
    units = [np.diff(affine_force(model, one, np.array([0.0, 1.0]))) for one in thrusts]
    value, rate, _ = data.motion([recorded.efforts[one] for one in thrusts])
    mixing = ThrustMixing.of(value, rate, wanted, data.block)
    return None if mixing is None else (mixing, (arms * units).T)
