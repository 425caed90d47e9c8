# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Speeds of rotors as thrusts, which go by their squares.

What a rotor thrusts at a speed, the model does not say. Over a flight all of them together bear
the weight that is on them, from which that factor follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.elements import affine_force, tree_of
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import Drive
from sysid_ros.proposal.signals.lines import Line

_FAST = 95.0  # percentile of the squares of speeds
_FLYING = 0.25  # of that, below which a rotor bears nothing
_NOISE = 0.05  # of the fastest speed
_BORNE = (
    "thrusts are taken to go by the squares of speeds, with a factor of which the rotors bear the "
    "weight of {bodies} that the model says"
)


def lifting_rotors(model: mujoco.MjModel, drives: Sequence[Drive]) -> list[Drive]:
    """Those of some actuators that bear the weight of a robot together with others on it."""
    rotors = [one for one in drives if one.thrusts]
    lifts = _lifts(model, [one.actuator for one in rotors])
    trees = [tree_of(model, one.actuator) for one in rotors]
    borne = {
        tree: sum(x for x, of in zip(lifts, trees, strict=True) if of == tree) for tree in trees
    }
    return [one for one, tree in zip(rotors, trees, strict=True) if borne[tree] > 0.0]


def turns_both_ways(channel: Channel) -> bool:
    """Return whether speeds have either sign, which squares have not, by more than noise."""
    speeds = np.concatenate(channel.values)
    back, forth = -float(speeds.min()), float(speeds.max())
    return min(back, forth) > _NOISE * max(back, forth)


def as_thrusts(model: mujoco.MjModel, drives: Sequence[Drive], lines: Sequence[Line]) -> list[Line]:
    """The lines, with squares in place of the speeds that rotors are told.

    Args:
      model: The compiled model.
      drives: Actuators, rotors among them.
      lines: What they are told; each is of one number.

    Returns:
      Speeds stay where these rotors bear no weight, as a boat's, or turn both ways, as those of
      what dives: squares have no direction.
    """
    rotors = {one.name: one.actuator for one in drives if one.thrusts}
    told = [one for one in lines if one.name in rotors and one.channel.quantity == "velocity"]
    trees = {one.name: tree_of(model, rotors[one.name]) for one in told}
    found: dict[str, Line] = {}
    for tree in dict.fromkeys(trees.values()):
        own = [one for one in told if trees[one.name] == tree]
        if any(turns_both_ways(one.channel) for one in own):
            continue
        lifts = _lifts(model, [rotors[one.name] for one in own])
        borne = sum(lift * _square(one) for lift, one in zip(lifts, own, strict=True))
        if borne > 0.0:
            gravity = float(np.linalg.norm(model.opt.gravity))
            factor = float(model.body_subtreemass[tree]) * gravity / borne
            doubt = _BORNE.format(bodies=str(model.body(tree).name) or "the robot")
            found |= {one.name: _squared(one, factor) for one in own}
            marked = "\n".join(filter(None, [own[0].doubt, doubt]))
            found[own[0].name] = replace(found[own[0].name], doubt=marked)
    return [found.get(one.name, one) for one in lines]


def _lifts(model: mujoco.MjModel, rotors: Sequence[int]) -> list[float]:
    """The force against gravity per unit of each rotor's input, where the model begins, N."""
    data, gravity = mujoco.MjData(model), np.asarray(model.opt.gravity)
    mujoco.mj_kinematics(model, data)
    if not gravity.any():
        return [0.0] * len(rotors)
    up, found = -gravity / np.linalg.norm(gravity), []
    for rotor in rotors:
        axes = data.site_xmat[int(model.actuator_trnid[rotor, 0])].reshape(3, 3)
        per_unit = float(np.diff(affine_force(model, rotor, np.array([0.0, 1.0])))[0])
        found.append(per_unit * float(up @ axes @ model.actuator_gear[rotor, :3]))
    return found


def _square(line: Line) -> float:
    """The usual square of what a rotor is told as it flies, where it turns less on the ground."""
    squares = np.concatenate(line.channel.values) ** 2
    flying = squares > _FLYING * np.percentile(squares, _FAST)
    return float(np.median(squares[flying])) if flying.any() else 0.0


def _squared(line: Line, factor: float) -> Line:
    rounded = float(f"{factor:.4g}")
    channel = replace(
        line.channel,
        field=f"{rounded:g} * {line.channel.field}^2",
        quantity="effort",
        values=tuple(rounded * part**2 for part in line.channel.values),
    )
    return replace(line, channel=channel)
