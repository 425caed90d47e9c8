# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Speeds of rotors, or shares of the most that they are driven by, as thrusts.

Thrusts go by the squares of speeds. What a share of 0 to 1, or the width of a pulse, does, depends
on the speed controller and the battery: squares, or straight lines. What a rotor thrusts at a
number, the model does not say. Over a flight all of them together bear the weight that is on them,
from which that factor follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import affine_force, tree_of
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import Drive
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.names import words_of
from sysid_ros.recording.messages import parse_fields

_FAST = 95.0  # percentile of what rotors are told
_FLYING = 0.5  # of that, below which a rotor bears nothing
_NOISE = 0.05  # of the fastest speed
_SQUARES, _STRAIGHT = "by the squares of", "straight by"
_BORNE = (
    "thrusts are taken to go {law} {what}, with a factor of which the rotors bear the "
    "weight of {bodies} that the model says"
)
_SHARES = {"control", "pwm", "throttle", "duty", "normalized"}
_PULSES = (800.0, 2200.0)  # us, of which zero is about a thousand
_BEARS = 2.0  # times the weight, or its share, that numbers bear which are thrusts
_COVERED = 3.0  # times the largest number, up to which a range of the model's is that number's


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
    back, forth = -float(np.nanmin(speeds)), float(np.nanmax(speeds))
    return min(back, forth) > _NOISE * max(back, forth)


def as_thrusts(model: mujoco.MjModel, drives: Sequence[Drive], lines: Sequence[Line]) -> list[Line]:
    """The lines, with squares in place of the speeds and shares that rotors are told.

    Args:
      model: The compiled model.
      drives: Actuators, rotors among them.
      lines: What they are told; each is of one number.

    Returns:
      Numbers stay where these rotors bear no weight, as a boat's, or turn both ways, as those of
      what dives: squares have no direction.
    """
    rotors = {one.name: one.actuator for one in drives if one.thrusts}
    told = [
        one
        for one in lines
        if one.name in rotors
        and (one.channel.quantity == "velocity" or _is_share(model, rotors[one.name], one.channel))
    ]
    trees = {one.name: tree_of(model, rotors[one.name]) for one in told}
    found: dict[str, Line] = {}
    for tree in dict.fromkeys(trees.values()):
        own = [one for one in told if trees[one.name] == tree]
        if any(turns_both_ways(one.channel) for one in own):
            continue
        lifts = _lifts(model, [rotors[one.name] for one in own])
        weight = float(model.body_subtreemass[tree] * np.linalg.norm(model.opt.gravity))
        if _bear(own, lifts, weight):
            continue
        borne = sum(lift * _usual(one, 2) for lift, one in zip(lifts, own, strict=True))
        if borne > 0.0:
            speeds = own[0].channel.quantity == "velocity"
            doubt = _BORNE.format(
                law=_SQUARES,
                what="speeds" if speeds else own[0].channel.field.partition("[")[0],
                bodies=str(model.body(tree).name) or "the robot",
            )
            found |= {one.name: _raised(one, weight / borne, 2) for one in own}
            marked = "\n".join(filter(None, [own[0].doubt, doubt]))
            found[own[0].name] = replace(found[own[0].name], doubt=marked)
    return [found.get(one.name, one) for one in lines]


def shares_as_thrusts(lines: Sequence[Line]) -> list[Line]:
    """Those of some lines that are squares of shares, which may be straight instead."""
    return [
        one
        for one in lines
        for term in parse_fields(one.channel.field)
        if term.power > 1 and _says_share(one.channel.topic, str(term.path))
    ]


def as_straight(lines: Sequence[Line]) -> list[Line]:
    """The same lines without squares, with factors of which those of one robot bear as much."""
    plain, factors = [], []
    for one in lines:
        (term,) = parse_fields(one.channel.field)
        shares = tuple(np.sqrt(part / term.weight) for part in one.channel.values)
        channel = replace(one.channel, field=str(term.path), values=shares)
        doubt = one.doubt.replace(_SQUARES, _STRAIGHT)
        plain.append(replace(one, channel=channel, doubt=doubt))
        factors.append(term.weight)
    found = {}
    for factor in dict.fromkeys(factors):
        own = [k for k, one in enumerate(factors) if one == factor]
        squares = sum(_usual(lines[k], 1) for k in own)
        found[factor] = squares / sum(_usual(plain[k], 1) for k in own)
    return [_raised(one, found[k], 1) for one, k in zip(plain, factors, strict=True)]


def _is_share(model: mujoco.MjModel, rotor: int, channel: Channel) -> bool:
    """Tell whether a number is a share of the most, or counts of a pulse, and not yet a thrust."""
    if channel.quantity or not _says_share(channel.topic, channel.field):
        return False
    values = np.concatenate(channel.values)
    usual, most = float(np.nanmedian(values)), float(np.nanmax(values))
    high = float(model.actuator_ctrlrange[rotor, 1])
    its_own = bool(model.actuator_ctrllimited[rotor]) and most <= high <= _COVERED * most
    pulses = usual >= _PULSES[0] and most <= _PULSES[1]  # zeros where it is disarmed
    both_ways = float(np.nanmin(values)) < 0.0  # what turns either way swims
    return not (both_ways or its_own or pulses)


def _says_share(topic: str, field: str) -> bool:
    own = field.rpartition(".")[2].partition("[")[0]
    told = topic.rpartition("/")[2] if own in ("data", "value") else own
    return not _SHARES.isdisjoint(words_of(told))


def _bear(lines: Sequence[Line], lifts: Sequence[float], weight: float) -> bool:
    """Tell whether numbers that a topic calls controls are thrusts, which bear the weight."""
    if any(one.channel.quantity or "data" not in one.channel.field for one in lines):
        return False
    borne = sum(lift * _usual(one, 1) for lift, one in zip(lifts, lines, strict=True))
    return weight / _BEARS < borne < _BEARS * weight


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


def _usual(line: Line, power: int) -> float:
    """The usual power of what a rotor is told as it flies, where it turns less on the ground."""
    values: FloatArray = np.concatenate(line.channel.values)
    told = np.abs(values[np.isfinite(values)])
    flying = told[told > _FLYING * np.percentile(told, _FAST)] if len(told) else told
    return float(np.median(flying**power)) if len(flying) else 0.0


def _raised(line: Line, factor: float, power: int) -> Line:
    rounded = float(f"{factor:.4g}")
    channel = replace(
        line.channel,
        field=f"{rounded:g} * {line.channel.field}" + (f"^{power}" if power > 1 else ""),
        quantity="effort",
        values=tuple(rounded * part**power for part in line.channel.values),
    )
    return replace(line, channel=channel)
