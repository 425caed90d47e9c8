# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints and commands that were beyond the ranges that the model has."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import (
    DEGREE,
    Change,
    Finding,
    FindingKind,
    Recorded,
    closed_postures,
    is_tied_beyond,
    leaves_range,
    positions_of,
    share_outside,
)
from sysid_ros.diagnosis.torque_checks import TRUSTED, size_of_torques
from sysid_ros.engine.elements import BALL, FREE, control_range, n_actuators
from sysid_ros.engine.signals import place_unit
from sysid_ros.errors import listed
from sysid_ros.experiment import UNITS, SignalConfig

_TURN = UNITS["rev"]
_SPARE = 0.02  # of a range, by which an encoder's zero may put its ends elsewhere
_MOSTLY = 0.5  # of samples; fewer are a limit that was run into
_PERCENT = 50.0  # beyond which no battery's volts and few newton metres go: one of all motors does
_PULSES = (800.0, 2200.0)  # us, within which pulses to motors are; of no throttle and full ...
_THROTTLE = (1000.0, 2000.0)  # ... these are the widths, wherever a controller is left as it comes
_SPEED = re.compile("rpm|speed|velocit|rotat")
_BEYOND = 4.0  # times a range that does not end at one, which a model has from its motor
_SEVERAL = 2  # joints that tell that a model's angles are in another unit
_WIDEST = 2.0 * _TURN  # rad, of a range
_NAMED = 4  # joints in a sentence
_TOO_WIDE = 2.0  # times a range that no offset puts a motion into
_OF_GEARS = ", which of a motor behind a gear is 1 over its ratio"
_ALIKE = 0.1  # by which a ratio of ranges may differ from that of a degree to a radian


def beyond_ranges(recorded: Recorded) -> list[Finding]:
    """Find joints that were farther beyond their range than stops give way.

    A simulation pushes them back to it, with whatever force that takes. Of joints that nothing
    measures those are asked that equalities tie to what is measured, as a URDF's ``mimic`` does.

    Args:
      recorded: The recordings, repaired as far as mistakes are known.
    """
    model = recorded.model
    if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_LIMIT):
        return []
    left = [joint for joint in recorded.positions if leaves_range(recorded, joint)]
    if _are_misread(recorded, left):
        return [_misread(recorded, left)]
    found = [
        _left_range(recorded, joint, positions_of(recorded, joint), (recorded.positions[joint],))
        for joint in left
    ]
    postures, tied = closed_postures(recorded)
    for joint in sorted({int(model.dof_jntid[dof]) for dof in tied}):
        if model.jnt_type[joint] in (BALL, FREE):
            continue
        values = postures[:, model.jnt_qposadr[joint]]
        if is_tied_beyond(recorded, joint, values):
            found.append(_left_range(recorded, joint, values, ()))
    return found


def in_percent(recorded: Recorded) -> list[tuple[Change, str, str]]:
    """Find commands in percent of the most that motors take, as a duty cycle.

    What servos are asked for may be in degrees as well, which their joints tell.

    Returns:
      A repair with its claim and its grounds, if there are any.
    """
    model, told, most = recorded.model, dict[str, float](), dict[str, float]()
    for actuator, label in recorded.efforts.items():
        _, lowest, highest, low, high = _clipped(recorded).get(label, (0.0,) * 5)
        if high > 0.0 and low in (-high, 0.0):
            largest = max(-lowest, highest)
            geared = float(np.abs(model.actuator_gear[actuator]).max()) * high >= largest
            if high == 1.0 or (high <= 100.0 / _BEYOND and not geared):
                told[label], most[label] = largest, high
    first = max(told, key=lambda label: told[label], default="")
    if not told or not _PERCENT < told[first] <= 100.0 or _is_torque(recorded, most[first]):
        return []
    change = Change(FindingKind.UNIT, scale={one: UNITS["percent"] * most[one] for one in told})
    grounds = (
        f"As recorded, {first!r} goes to {told[first]:.3g}, and its ctrlrange ends at "
        f"{most[first]:.3g}."
    )
    if {*most.values()} == {1.0}:
        return [(change, "", grounds)]
    are, their = ("are", "their") if len(told) > 1 else ("is", "its")
    names = listed(map(repr, told), None, last=" and ")
    return [(change, f"{names} {are} in percent of what {their} ctrlrange ends at.", grounds)]


def in_pulses(
    recorded: Recorded, config_of: Callable[[str], SignalConfig]
) -> list[tuple[Change, str, str]]:
    """Find commands of motors that are widths of pulses in us, as autopilots tell their outputs.

    Whole numbers of a topic or field that speaks of speeds are revolutions per minute, and those
    that are what the model's bodies take are newton metres.

    Args:
      recorded: The recordings, repaired as far as mistakes are known.
      config_of: The entry of a signal in the experiment, by its label.

    Returns:
      A repair with its claim and its grounds, if there are any.
    """
    scale, offset, clipped = dict[str, float](), dict[str, float](), _clipped(recorded)
    for label in set(recorded.efforts.values()) & set(clipped):
        _, lowest, highest, low, high = clipped[label]
        values = np.concatenate([one.values for one in recorded.pooled(label)])
        within = _PULSES[0] <= lowest < highest <= _PULSES[1] and high < _PULSES[0]
        config = config_of(label)
        within &= not _SPEED.search(f"{config.topic} {config.field}".lower())
        if within and np.array_equal(values, np.round(values)):
            scale[label] = (high - low) / (_THROTTLE[1] - _THROTTLE[0])
            offset[label] = low - scale[label] * _THROTTLE[0]
    if not scale or _trusted_size(recorded) is not None:
        return []
    first = min(scale)
    _, lowest, highest, low, high = clipped[first]
    names = listed(map(repr, sorted(scale)), None, last=" and ")
    are = "are" if len(scale) > 1 else "is"
    claim = (
        f"{names} {are} told in widths of pulses in microseconds, of which {_THROTTLE[0]:g} to "
        f"{_THROTTLE[1]:g} are the ctrlrange."
    )
    grounds = (
        f"As recorded, {first!r} has whole numbers from {lowest:.4g} to {highest:.4g}, and its "
        f"ctrlrange is {low:.3g} to {high:.3g}. Where the motor controllers have other ends, give "
        "their scale and offset."
    )
    return [(Change(FindingKind.UNIT, scale=scale, offset=offset), claim, grounds)]


def _is_torque(recorded: Recorded, most: float) -> bool:
    """Return whether what motors are told is nearer to what the model's bodies take than percent.

    Args:
      recorded: What was recorded.
      most: What percent are of.
    """
    size = size_of_torques(recorded)
    return size is not None and abs(math.log(size)) < abs(math.log(0.01 * most * size))


def _trusted_size(recorded: Recorded) -> float | None:
    """All torques over what the model's bodies take; ``None`` where that is far from one."""
    size = size_of_torques(recorded)
    return size if size is not None and 1.0 / TRUSTED < size < TRUSTED else None


def turns_away(recorded: Recorded) -> list[tuple[Change, str, str]]:
    """Find angles that turns put into the ranges of their joints, as 0 to 360 degrees.

    These are whole turns, which say the same, or half a turn of all joints alike, as servos that
    count from one end of theirs have their middle there.

    Returns:
      A repair with its claim and its grounds, if there are any.
    """
    offset: dict[str, float] = {}
    for joint, label in recorded.positions.items():
        low, high = map(float, recorded.model.jnt_range[joint])
        outside = share_outside(recorded.pooled(label), low, high)
        if recorded.is_hinge(joint) and recorded.model.jnt_limited[joint] and outside > _MOSTLY:
            values = positions_of(recorded, joint)
            back = _TURN * round(0.5 * (low + high - values.min() - values.max()) / _TURN)
            if back and _fits(values + back, low, high):
                offset[label] = back
                offset |= dict.fromkeys(_asked_there(recorded, joint, float(values.mean())), back)
    grounds = "As recorded, beyond the model's range; with {} less or more, within it."
    if offset:
        return [(Change(FindingKind.UNIT, offset=offset), "", grounds.format("whole turns"))]
    if offset := _half_a_turn(recorded):
        names = listed(map(repr, offset), None, last=" and ")
        claim = f"{names} are told half a turn from where the model counts."
        return [(Change(FindingKind.UNIT, offset=offset), claim, grounds.format("half a turn"))]
    return []


def _half_a_turn(recorded: Recorded) -> dict[str, float]:
    """The half turn, by signal, that alone puts all hinges with a range into it; none of one."""
    hinges = [
        (joint, label, float(low), float(high))
        for joint, label in recorded.positions.items()
        for low, high in [recorded.model.jnt_range[joint]]
        if recorded.is_hinge(joint) and recorded.model.jnt_limited[joint]
    ]
    beyond = [
        share_outside(recorded.pooled(label), low, high) > _MOSTLY for _, label, low, high in hinges
    ]
    if sum(beyond) < max(2.0, 0.5 * len(hinges)):
        return {}
    places = [(positions_of(recorded, joint), low, high) for joint, _, low, high in hinges]
    if all(_fits(one, low, high) or _fits(-one, low, high) for one, low, high in places):
        return {}  # of some the sign may be wrong instead
    for back in (-0.5 * _TURN, 0.5 * _TURN):
        if all(_fits(one + back, low, high) for one, low, high in places):
            told = [label for _, label, _, _ in hinges]
            for joint, _, _, _ in hinges:
                place = float(positions_of(recorded, joint).mean())
                told += _asked_there(recorded, joint, place, 0.25 * _TURN)
            return dict.fromkeys(told, back)
    return {}


def _fits(values: FloatArray, low: float, high: float) -> bool:
    """Return whether positions are within a range, or hardly beyond its ends."""
    spare = _SPARE * (high - low)
    return bool(low - spare < values.min() and values.max() < high + spare)


def _asked_there(
    recorded: Recorded, joint: int, place: float, near: float = 0.5 * _TURN
) -> list[str]:
    """The commands of a joint's position servos that are on average near a place."""
    model, found = recorded.model, []
    for servo in recorded.servos:
        label = str(model.actuator(servo).name)
        samples = recorded.pooled(label) if recorded.joint_of(servo) == joint else []
        told = [one.values.mean() for one in samples if len(one.values)]
        if told and abs(float(np.mean(told)) - place) < near:
            found.append(label)
    return found


def clipped_commands(recorded: Recorded) -> list[Finding]:
    """Find commands that lie beyond the range of their actuators in most of what was recorded.

    MuJoCo clips them, so that the simulation is told next to nothing.
    """
    if not (beyond := _clipped(recorded)):
        return []
    first = max(beyond, key=lambda label: beyond[label][0])
    share, lowest, highest, low, high = beyond[first]
    others = listed([repr(label) for label in beyond if label != first], 4)
    sentence = (
        f"{first!r} was told what the model clips in {100.0 * share:.3g} % of the samples: it went "
        f"from {lowest:.3g} to {highest:.3g}, and ctrlrange is {low:.3g} to {high:.3g}. "
        f"{_remedy(recorded, first)}{f'; likewise {others}' if others else ''}."
    )
    evidence = {"share": share, "lowest": lowest, "highest": highest}
    return [Finding(FindingKind.RANGE, tuple(beyond), evidence, sentence, "", ())]


def _remedy(recorded: Recorded, label: str) -> str:
    """The remedy of commands beyond their range."""
    size = _trusted_size(recorded) if label in recorded.efforts.values() else None
    if size is not None:
        return (
            f"All torques as recorded are {size:.2g} times what the model's bodies take, so that "
            "the range is too small: correct it in the model"
        )
    return "Give the command's scale or unit, or correct the range"


def _clipped(recorded: Recorded) -> dict[str, tuple[float, ...]]:
    """By command that mostly lies beyond its range, the share that does, its limits and those."""
    beyond: dict[str, tuple[float, ...]] = {}
    model = recorded.model
    clips = not model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)
    for actuator in range(n_actuators(model)) if clips else ():
        label = str(model.actuator(actuator).name)
        samples, (low, high) = recorded.pooled(label), control_range(model, actuator)
        told = bool(samples) and all(one.held for one in samples)  # what was measured acts as it is
        if told and np.isfinite(high):
            values = np.concatenate([one.values for one in samples])
            share = share_outside(samples, low, high)
            if share > _MOSTLY:
                ends = (share, values.min(), values.max(), low, high)
                beyond[label] = tuple(map(float, ends))
    return beyond


def _are_misread(recorded: Recorded, left: Sequence[int]) -> bool:
    """Return whether ranges of a few degrees, all of them, hold the motion as radians.

    Args:
      recorded: The recordings.
      left: Joints that were beyond their ranges.
    """
    model = recorded.model
    hinges = [
        one for one in recorded.positions if recorded.is_hinge(one) and model.jnt_limited[one]
    ]
    if len(left) < _SEVERAL or not {*left} <= {*hinges}:
        return False
    for joint in hinges:
        low, high = model.jnt_range[joint] / DEGREE
        values, spare = positions_of(recorded, joint), _SPARE * (high - low)
        within = low - spare <= values.min() and values.max() <= high + spare
        if high - low > _WIDEST or not within:
            return False
    return True


def _misread(recorded: Recorded, left: Sequence[int]) -> Finding:
    """Say of several joints at once that the model's angles are in another unit than they seem."""
    names = listed([repr(recorded.joint_name(joint)) for joint in left], _NAMED)
    outside = [
        float(np.mean((values < low) | (values > high)))
        for values, (low, high) in (
            (positions_of(recorded, joint), recorded.model.jnt_range[joint]) for joint in left
        )
    ]
    return Finding(
        FindingKind.RANGE,
        tuple(recorded.positions[joint] for joint in left),
        {"share": max(outside)},
        f"{names} were beyond the model's ranges in up to {100.0 * max(outside):.3g} % of the "
        "samples. The simulation stops them there. All ranges are of a few degrees and hold the "
        "motion as radians: the model file has radians and is read in degrees, as it lacks "
        '<compiler angle="radian"/>.',
        "",
        (),
    )


def _left_range(
    recorded: Recorded, joint: int, values: FloatArray, signals: tuple[str, ...]
) -> Finding:
    """Say where a joint was, and where the model stops it.

    Args:
      recorded: The recordings.
      joint: Which one.
      values: Its positions.
      signals: Those that measure it; none where others tell.
    """
    name, (low, high) = recorded.joint_name(joint), map(float, recorded.model.jnt_range[joint])
    lowest, highest = float(values.min()), float(values.max())
    share = float(np.mean((values < low) | (values > high)))
    unit = place_unit(recorded.model, joint)
    tied = "" if signals else ", tied to what is measured,"
    sentence = (
        f"{name!r}{tied} went from {lowest:.3g} to {highest:.3g} {unit} and was beyond the model's "
        f"range of {low:.3g} to {high:.3g} {unit} in {100.0 * share:.3g} % of the samples. The "
        f"simulation stops it there. Correct the range in the model, or "
    )
    if tied:
        sentence += "what ties it."
    elif highest - lowest < _TOO_WIDE * (high - low):
        spare = _SPARE * (high - low)  # what the other axis puts into the range has its sign
        mirrored = share > _MOSTLY and low - spare < -highest and -lowest < high + spare
        sentence += (
            f"give {'its sign (scale: -1) or ' if mirrored else ''}the offset of its encoder."
        )
    else:  # which no offset puts into the range
        sentence += f"give the unit or scale{_of_counts(values) or _OF_GEARS}."
    if _told_in_degrees(recorded, joint):
        sentence += (
            " The range of its servo's commands is 57 times as wide: the model file has radians "
            'and is read in degrees, as it lacks <compiler angle="radian"/>.'
        )
    evidence = {"share": share, "lowest": lowest, "highest": highest}
    return Finding(FindingKind.RANGE, signals or (name,), evidence, sentence, "", ())


def _of_counts(values: FloatArray) -> str:
    """The rest of a sentence on values that are all whole numbers, as an encoder counts."""
    if not np.array_equal(values, np.round(values)):
        return ""
    return f" of its encoder's counts ({_TURN / 4096:.4g} where 4096 are a turn) and its offset"


def _told_in_degrees(recorded: Recorded, joint: int) -> bool:
    """Return whether a servo of a hinge may be asked for as many radians as it has degrees."""
    model = recorded.model
    width = float(np.ptp(model.jnt_range[joint]))
    servos = [
        one for one in recorded.servos
        if np.isfinite(control_range(model, one)).all() and recorded.joint_of(one) == joint
    ]  # fmt: skip
    if not recorded.is_hinge(joint):
        return False
    ratios = [float(np.ptp(control_range(model, one))) / max(width, 1e-9) for one in servos]
    return any(abs(ratio * DEGREE - 1.0) < _ALIKE for ratio in ratios)
