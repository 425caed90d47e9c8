# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Check that signals were sampled often, evenly and finely enough, and moved enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.filtered import motion_bandwidth
from sysid_ros.diagnosis.evidence.recorded import PASSED_MOST, PASSED_SHARE, Recorded, Samples
from sysid_ros.engine.elements import control_range
from sysid_ros.engine.signals import Saturation, level_step, saturation
from sysid_ros.errors import listed

_ALWAYS_ENOUGH = 30.0  # Hz, for robots that move like ones
_NEVER_ENOUGH = 5.0  # Hz
_SAMPLES_PER_PERIOD = 5.0  # of the fastest motion, at the least
_COMFORTABLE = 40.0  # samples per period, enough at any rate
_UNEVEN = 0.4  # of the usual interval, the 95th percentile of the deviation from it
_FEWEST = 16  # intervals that tell a rate
_AS_SLOW = 0.5  # of the slowest recording's interval, from which on one is sampled much alike
_JAGGED = 1.3  # roughness by the stamps over that without them, from which stamps are wrong
_COARSE = {"position": 0.002, "velocity": 0.01, "effort": 0.02}  # level step over range
_DITHERED = 1.5  # noise over that of the levels, from which the levels hide nothing
_BEYOND = 0.05  # of a range, that drawings are wrong by
_AT_STOP = 0.02  # of a joint's range: how far its model's stop may be off
PLAYED = "command"  # its levels and rate are its own business
_LEAST_TURN = 0.02  # rad: less may be the give of a gear
_LEAST_TRAVEL = 0.002  # m
_LEAST_SHARE = 0.1  # of a joint's range, of one with less than ten times the above
_OVER_NOISE = 10.0  # range over the noise from sample to sample
_DROWNED = 0.25  # of a torque's power, noise with which no repair of it could be decisive
_NAMED = 4  # joints that a sentence names


@dataclass(frozen=True)
class Rate:
    """The sampling of a signal in recordings of about one rate."""

    rate: float  # Hz, the slowest one's
    deviation: float  # of 95 % of the intervals from their recording's usual one, over that
    bandwidth: float  # the motion's top, Hz
    # from sample to sample, with the stamps as they are, over that with even ones
    roughness: float = 0.0


def sampling_of(parts: Sequence[Samples]) -> tuple[Rate, ...]:
    """Describe the stamps of a measured signal in all recordings, the slowest rate first.

    What is sampled more often may move faster, and its stamps may vary by more without harm: each
    rate is held against its own recordings. None is told by a few intervals.
    """
    intervals = [np.diff(part.times) for part in parts]
    if sum(map(len, intervals)) < _FEWEST:
        return ()
    pooled = float(np.median(np.concatenate(intervals)))
    usual = [float(np.median(one)) if len(one) >= _FEWEST else pooled for one in intervals]
    found: list[Rate] = []
    rest = [*zip(usual, parts, strict=True)]
    while rest:
        slowest = max(own for own, _ in rest)
        found.append(_rate_of([one for one in rest if one[0] >= _AS_SLOW * slowest]))
        rest = [one for one in rest if one[0] < _AS_SLOW * slowest]
    return tuple(found)


def _rate_of(alike: Sequence[tuple[float, Samples]]) -> Rate:
    """The sampling in recordings with usual intervals [s] that are much alike."""
    off = np.concatenate([np.abs(np.diff(part.times) / own - 1.0) for own, part in alike])
    tops = []
    for own, part in alike:
        grid = np.arange(part.times[0], part.times[-1], own)
        top = motion_bandwidth(part.at(grid), 1.0 / own, level_step([part.values]))
        if top is not None:
            tops.append(top)
    return Rate(
        1.0 / max(own for own, _ in alike),
        float(np.percentile(off, 95)),
        float(np.median(tops)) if tops else 0.0,
        _roughness([part for _, part in alike]),
    )


def _roughness(parts: Sequence[Samples]) -> float:
    """Distance of samples from the line through their neighbours: as stamped over as numbered.

    Stamps that tell when a joint was read make its motion smoother, wrong ones make it jagged;
    where noise is all there is they are much the same.
    """
    stamped, numbered = [], []
    for part in parts:
        before, here, after = part.values[:-2], part.values[1:-1], part.values[2:]
        width = np.maximum(part.times[2:] - part.times[:-2], 1e-12)
        share = (part.times[1:-1] - part.times[:-2]) / width
        stamped.append(np.abs(here - before - share * (after - before)))
        numbered.append(np.abs(here - 0.5 * (before + after)))
    even = float(np.mean(np.concatenate(numbered)))
    return float(np.mean(np.concatenate(stamped))) / even if even > 0.0 else 0.0


def is_slow(sampled: Rate) -> bool:
    """Return whether the motion between samples is a guess."""
    if sampled.bandwidth <= 0.0:  # too few samples to tell
        return sampled.rate < _NEVER_ENOUGH
    per_period = sampled.rate / sampled.bandwidth
    if sampled.rate >= _ALWAYS_ENOUGH:
        return bool(per_period < _SAMPLES_PER_PERIOD)
    return bool(per_period < _COMFORTABLE)


def is_uneven(sampled: Rate) -> bool:
    """Return whether intervals vary by a good part of their length, and that does harm.

    It does where the stamps are wrong, and where the long ones hide what happens between samples.
    """
    if sampled.deviation <= _UNEVEN:
        return False
    long = sampled.rate / (1.0 + sampled.deviation)
    sparse = long < max(_ALWAYS_ENOUGH, _COMFORTABLE * sampled.bandwidth)
    return sparse or sampled.roughness > _JAGGED


def signal_kinds(recorded: Recorded) -> dict[str, str]:
    """Every signal of a joint with what it is: position, velocity, effort, or effort command."""
    kinds = dict.fromkeys(recorded.positions.values(), "position")
    kinds.update(dict.fromkeys(recorded.velocities.values(), "velocity"))
    for label in recorded.efforts.values():
        held = any(part.held for part in recorded.pooled(label))
        kinds[label] = "command" if held else "effort"
    return kinds


def coarse_step(recorded: Recorded, label: str, kind: str) -> float | None:
    """The distance between a signal's levels where it hides much of the motion."""
    if kind == PLAYED:
        return None
    values = [part.values for part in recorded.pooled(label)]
    step = level_step(values)
    if step is None or jitter_of(values) > _DITHERED * step / np.sqrt(12.0):
        return None
    low, high = np.percentile(np.concatenate(values), [1.0, 99.0])
    return step if step > _COARSE[kind] * (high - low) else None


def stuck_limit(recorded: Recorded, label: str) -> Saturation | None:
    """The limit that a signal is cut off at; none where the model or the command has it, too.

    Such are the stop that a joint rests on, the largest command that an actuator takes, and the
    farthest that a joint's servo was asked for, where friction holds it.
    """
    found = saturation([part.values for part in recorded.pooled(label)])
    return None if found is not None and _is_modelled(recorded, label, found.limit) else found


def _is_modelled(recorded: Recorded, label: str, limit: float) -> bool:
    """Return whether a value is an end of a joint's range, of a command's, or of what was asked."""
    model = recorded.model
    asked = [
        [part.values for part in recorded.pooled(command)]
        for actuator, command in recorded.servos.items()
        if recorded.positions.get(recorded.joint_of(actuator)) == label
    ]
    ranges = [
        model.jnt_range[joint]
        for joint, own in recorded.positions.items()
        if own == label and model.jnt_limited[joint]
    ]
    ranges += [np.array([min(map(np.min, v)), max(map(np.max, v))]) for v in asked if v]
    actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, label)
    if actuator >= 0 and np.isfinite(control_range(model, actuator)).all():
        ranges.append(control_range(model, actuator))
    return any(np.abs(own - limit).min() < _AT_STOP * np.ptp(own) for own in ranges)


def motion_range(recorded: Recorded, joint: int) -> tuple[float, float]:
    """Return the range of a joint's motion in all recordings, and the least that would do."""
    if joint not in recorded.ranges:
        recorded.ranges[joint] = _motion_range(recorded, joint)
    return recorded.ranges[joint]


def _motion_range(recorded: Recorded, joint: int) -> tuple[float, float]:
    """Return the same, which takes a look at the spectrum of every recording."""
    parts = recorded.pooled(recorded.positions[joint])
    low, high = np.percentile(np.concatenate([part.values for part in parts]), [1.0, 99.0])
    sampled = sampling_of(parts)
    noise = 0.0
    if sampled and all(map(_is_fine, sampled)):
        noise = jitter_of([part.values for part in parts])
    least = _LEAST_TURN if recorded.is_hinge(joint) else _LEAST_TRAVEL
    if recorded.model.jnt_limited[joint]:
        least = min(least, _LEAST_SHARE * float(np.ptp(recorded.model.jnt_range[joint])))
    return float(high - low), max(least, _OVER_NOISE * noise)


def jitter_of(parts: Sequence[FloatArray]) -> float:
    """Standard deviation of a signal's noise from sample to sample, by its second differences."""
    jumps = np.concatenate([np.diff(part, n=2) for part in parts])
    return float(np.median(np.abs(jumps))) / 0.6745 / np.sqrt(6.0) if len(jumps) else 0.0


def _is_fine(sampled: Rate) -> bool:
    """Return whether the motion from sample to sample is small, so that what remains is noise."""
    return sampled.rate >= max(_ALWAYS_ENOUGH, _COMFORTABLE * sampled.bandwidth)


def share_outside(samples: Sequence[Samples], low: float, high: float) -> float:
    """Return the share of some signal's values that are clearly outside a range."""
    values = np.concatenate([one.values for one in samples])
    reach = _BEYOND * (high - low)
    return float(np.mean((values < low - reach) | (values > high + reach)))


def moves(recorded: Recorded, joint: int) -> bool:
    """Return whether a joint moved enough to say anything about its zero and scale."""
    reach, least = motion_range(recorded, joint)
    return reach >= least


def still_joints(recorded: Recorded) -> frozenset[str]:
    """Names of the measured joints that moved too little to say anything about them."""
    still = (joint for joint in recorded.positions if not moves(recorded, joint))
    return frozenset(recorded.joint_name(joint) for joint in still)


def silent_joints(recorded: Recorded) -> frozenset[int]:
    """Joints whose torques are below their noise, as a finger's: they say nothing about a robot.

    The third difference of what is sampled much faster than it moves is noise, of twenty times its
    power; its median knows nothing of steps, as dry friction makes them.
    """
    heard: dict[int, bool] = {}
    for actuator, label in recorded.efforts.items():
        joint = recorded.joint_of(actuator)
        heard[joint] = heard.get(joint, False) or any(map(_is_heard, recorded.pooled(label)))
    return frozenset(joint for joint, known in heard.items() if not known)


def not_tested(recorded: Recorded) -> str:
    """A sentence about what the tests by torque leave out; empty where that is nothing."""
    names = [repr(recorded.joint_name(joint)) for joint in sorted(silent_joints(recorded))]
    return f"not tested: torque below its noise, of {listed(names, _NAMED)}" if names else ""


def _is_heard(one: Samples) -> bool:
    """Return whether enough of a torque is no noise for a repair of it to be decisive."""
    if len(one.times) < 8:
        return False
    noise = (np.median(np.abs(np.diff(one.values, 3))) / 0.6745) ** 2 / 20.0
    rate = 1.0 / float(np.median(np.diff(one.times)))
    passed = noise * min(2.0 * PASSED_MOST / rate, 2.0 * PASSED_SHARE)
    return bool(np.mean(one.values**2) - noise >= (1.0 / _DROWNED - 1.0) * passed)


def by_topic(labels: Mapping[str, str]) -> dict[str, list[str]]:
    """Signals by the topic that they come from."""
    topics: dict[str, list[str]] = {}
    for label, topic in labels.items():
        topics.setdefault(topic, []).append(label)
    return topics
