# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that can be told, each as the change that would undo it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import mujoco
import numpy as np

from sysid_ros.diagnosis.finding import Change, FindingKind
from sysid_ros.diagnosis.recorded import Recorded
from sysid_ros.diagnosis.sampling_mistakes import moves
from sysid_ros.engine.elements import is_effort, is_velocity_servo, tree_of
from sysid_ros.engine.uncertainty import sensor_of

Compared = TypeVar("Compared")
DEGREE = math.pi / 180.0

OFFSETS = (0.1, 0.3, 0.5, 0.8, 1.2, math.pi / 2.0, 2.0, 2.5, math.pi)  # rad
# Gravity makes the right scale of a position stand out sharply, so that steps are small.
_NEAR = (1.25, 1.4, 1.6, 1.8, 2.0, 2.25, 2.5, 2.8, 3.1, 3.5, 4.0, 5.0, 7.0, 10.0, 100.0, 1000.0)
SCALES = (*(1.0 / scale for scale in reversed(_NEAR)), *_NEAR)
SERVO_LAGS = (
    0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.055, 0.075, 0.1, 0.14, 0.2, 0.25, 0.3
)  # s  # fmt: skip
LAGS = (0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)  # s

_COARSE_SCALES = (0.1, 0.5, 2.0)  # of those that are simulated
_COARSE_OFFSETS = (-0.5, 0.5)  # rad; of a slide, of its range
_SMALLEST_FACTOR = 1.6
_SMALLEST_OFFSET = 0.1  # rad; of a slide, of its range
_SMALLEST_LAG = 0.01  # s
_BAD = 0.05  # share of a torque that is unexplained where something may be wrong
_EXCHANGED = 0.3  # the same of two that may be exchanged ...
_OF_WORST = 0.5  # ... or this much of the worst one's: what one leg does wrong, all have to bear
_FEW_REVERSED = 6  # entries of which two may have wrong signs
_MOST_EXCHANGED = 6  # joints among which exchanges are looked for


@dataclass(frozen=True)
class Family:
    """Changes of one kind that differ in one number.

    Attributes:
      kind: Of the mistake.
      labels: The signals that change together.
      sizes: Where to look first, increasing; zero size (or unit scale) is no change.
    """

    kind: FindingKind
    labels: tuple[str, ...]
    sizes: tuple[float, ...]

    def change(self, size: float) -> Change:
        """The change of one size."""
        each = dict.fromkeys(self.labels, size)
        if self.kind is FindingKind.OFFSET:
            return Change(self.kind, offset=each)
        if self.kind is FindingKind.LAG:
            return Change(self.kind, delay=each)
        return Change(self.kind, scale=each)


@dataclass(frozen=True)
class Suspects:
    """Joints whose torques are explained badly, the worst first.

    Attributes:
      joints: By their numbers in the model.
      shares: Unexplained share of the torque on each.
      silent: Joints whose torque is below its noise, so that nothing shows their mistakes.
    """

    joints: tuple[int, ...]
    shares: Mapping[int, float] = field(default_factory=dict)
    silent: frozenset[int] = frozenset()

    def worst(self) -> tuple[int, ...]:
        """Those among which an exchange is looked for, in the model's order."""
        worst = max(self.shares.values(), default=0.0)
        least = min(_EXCHANGED, _OF_WORST * worst)
        bad = [joint for joint in self.joints if self.shares[joint] > least]
        return tuple(sorted(bad[:_MOST_EXCHANGED]))

    def near(self, recorded: Recorded, joint: int) -> bool:
        """Return whether a joint, its parent or a child is explained badly, or not at all."""
        model = recorded.model
        body = int(model.jnt_bodyid[joint])
        known = [
            other
            for other in range(model.njnt)
            if other == joint
            or int(model.jnt_bodyid[other]) == int(model.body_parentid[body])
            or int(model.body_parentid[model.jnt_bodyid[other]]) == body
        ]
        shares = [self.shares.get(j, 1.0) for j in known if j not in self.silent]
        return bool(self.joints) and joint not in self.silent and max(shares, default=0.0) > _BAD


def discrete(recorded: Recorded, suspects: Suspects) -> Iterator[Change]:
    """Signs, degrees for radians and exchanged signals, of single joints and of all.

    Args:
      recorded: What was recorded.
      suspects: The joints among which mistakes are looked for.
    """
    if not suspects.joints:
        return
    efforts = tuple(recorded.efforts.values())
    joints = [joint for joint in recorded.positions if suspects.near(recorded, joint)]
    acting = tuple(
        label
        for actuator, label in recorded.efforts.items()
        if suspects.near(recorded, recorded.joint_of(actuator))
    )
    measured = [joint_labels(recorded, joint) for joint in joints]
    for labels in dict.fromkeys([*((one,) for one in acting), *measured, efforts]):
        yield Change(FindingKind.SIGN, scale=dict.fromkeys(labels, -1.0))
    hinges = [joint_labels(recorded, j) for j in joints if recorded.is_hinge(j)]
    all_hinges = [joint_labels(recorded, j) for j in recorded.positions if recorded.is_hinge(j)]
    everything = tuple(label for labels in all_hinges for label in labels)
    for labels in dict.fromkeys([*hinges, everything]):
        if labels:
            yield Change(FindingKind.DEGREES, scale=dict.fromkeys(labels, DEGREE))
            yield Change(FindingKind.DEGREES, scale=dict.fromkeys(labels, 1.0 / DEGREE))
    yield from _exchanges(recorded, suspects.worst())


def _exchanges(recorded: Recorded, joints: tuple[int, ...]) -> Iterator[Change]:
    """Exchanged torques, positions, or both, of two joints."""
    acting = [label for a, label in recorded.efforts.items() if recorded.joint_of(a) in joints]
    for pair in itertools.combinations(acting, 2):
        yield Change(FindingKind.SWAP, exchange=(pair,))
    measured = [joint for joint in joints if joint in recorded.positions]
    for first, second in itertools.combinations(measured, 2):
        own = [_effort_on(recorded, joint) for joint in (first, second)]
        torques = ((own[0], own[1]),) if own[0] is not None and own[1] is not None else ()
        if recorded.is_hinge(first) == recorded.is_hinge(second):
            pairs = joint_pairs(recorded, first, second)
            yield Change(FindingKind.SWAP, exchange=pairs)
            if torques:
                yield Change(FindingKind.SWAP, exchange=(*pairs, *torques))


def families(recorded: Recorded, suspects: Suspects) -> Iterator[Family]:
    """Offsets, scales and lags; without suspects only the lag of all torques.

    Args:
      recorded: What was recorded.
      suspects: The joints among which mistakes are looked for.
    """
    efforts = tuple(recorded.efforts.values())
    lags = (*(-lag for lag in reversed(LAGS[:7])), *LAGS)
    yield Family(FindingKind.LAG, efforts, lags)
    for joint, label in recorded.positions.items():
        if not suspects.near(recorded, joint) or not moves(recorded, joint):
            continue
        if recorded.is_hinge(joint):
            yield Family(FindingKind.OFFSET, (label,), both_ways())
        yield Family(FindingKind.SCALE, joint_labels(recorded, joint), SCALES)
    for actuator, label in recorded.efforts.items():
        if len(efforts) > 1 and suspects.near(recorded, recorded.joint_of(actuator)):
            yield Family(FindingKind.LAG, (label,), lags)
            yield Family(FindingKind.SCALE, (label,), SCALES)


def named_degrees(factor: float) -> bool:
    """Return whether a factor is that between degrees and radians."""
    return min(abs(factor / DEGREE - 1.0), abs(factor * DEGREE - 1.0)) < 0.15


def both_ways() -> tuple[float, ...]:
    """Offsets of either sign, increasing."""
    return (*(-size for size in reversed(OFFSETS)), *OFFSETS)


def offset_unit(recorded: Recorded, joint: int) -> float:
    """The unit of a joint's offsets: 1 rad, or the range of a slide, zero without one."""
    return 1.0 if recorded.is_hinge(joint) else float(np.ptp(recorded.model.jnt_range[joint]))


def joint_labels(recorded: Recorded, joint: int) -> tuple[str, ...]:
    """A joint's position and, where it is measured, its velocity."""
    position, velocity = recorded.positions[joint], recorded.velocities.get(joint)
    return (position,) if velocity is None else (position, velocity)


def joint_pairs(recorded: Recorded, first: int, second: int) -> tuple[tuple[str, str], ...]:
    """List the signals to exchange where two joints' measurements are exchanged."""
    return tuple(zip(joint_labels(recorded, first), joint_labels(recorded, second), strict=False))


def _effort_on(recorded: Recorded, joint: int) -> str | None:
    found = [label for a, label in recorded.efforts.items() if recorded.joint_of(a) == joint]
    return found[0] if len(found) == 1 else None


def told_actuators(recorded: Recorded) -> set[int]:
    """Actuators of single joints, whose motion tells of them."""
    single = {a for a in recorded.others if len(recorded.arms(a)) == 1}
    return {*recorded.servos, *recorded.efforts, *single}


def covered_positions(recorded: Recorded) -> set[str]:
    """Positions of joints that have equations of their own, where only tied fingers have none."""
    model = recorded.model
    active = model.eq_active0.astype(bool)
    if np.any(model.eq_type[active] != mujoco.mjtEq.mjEQ_JOINT):
        return set()
    tied = {*model.eq_obj1id[active].tolist(), *model.eq_obj2id[active].tolist()}
    if not {*range(model.njnt)} <= {*recorded.positions} | tied:
        return set()
    joints = {j for a in told_actuators(recorded) for j in recorded.arms(a)} - tied
    return {label for joint, label in recorded.positions.items() if joint in joints}


@dataclass(frozen=True)
class Simulated:
    """Mistakes that a simulation can tell, of robots which no equation of single joints covers.

    Attributes:
      recorded: What was recorded.
      topics: The topic of each entry's signal.
    """

    recorded: Recorded
    topics: Mapping[str, str]

    @property
    def inputs(self) -> dict[int, str]:
        """Every input that was recorded, by actuator; those of winding cables, too."""
        model = self.recorded.model
        names = {actuator: str(model.actuator(actuator).name) for actuator in range(model.nu)}
        rest = {actuator: name for actuator, name in names.items() if self.recorded.pooled(name)}
        return {**rest, **self.recorded.commands, **self.recorded.efforts}

    def compared(self, powers: Mapping[str, Compared]) -> dict[str, Compared]:
        """Powers but of sensors that the poses of a free body alone explain or contradict.

        Nor of joints that rest though nothing holds them: how they creep is friction's matter.
        """
        left_out = self._resting
        if self.recorded.coordinates:
            left_out = left_out | {
                name for signals in self.recorded.vectors for name in signals
                if not any(part in name for part in ("_position", "_orientation"))
            }  # fmt: skip
        return {k: power for k, power in powers.items() if sensor_of(k) not in left_out}

    @cached_property
    def _resting(self) -> frozenset[str]:
        """Measurements of joints that neither an actuator nor an equality moves, nor the motion."""
        model, recorded = self.recorded.model, self.recorded
        moved = {joint for actuator in self.inputs for joint in recorded.arms(actuator)}
        tied = np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_JOINT)
        moved |= {*model.eq_obj1id[tied].tolist(), *model.eq_obj2id[tied].tolist()}
        rest = [j for j in recorded.positions if j not in moved and not moves(recorded, j)]
        return frozenset(label for joint in rest for label in joint_labels(recorded, joint))

    def by_topic(self) -> dict[str, list[str]]:
        """Inputs by their topics."""
        topics: dict[str, list[str]] = {}
        for label in self.inputs.values():
            topics.setdefault(self.topics[label], []).append(label)
        return topics

    def unequalled(self) -> set[str]:
        """Inputs of actuators that no equation of joints covers, as servos' lags are read from."""
        covered = {
            actuator for actuator in self.recorded.commands
            if {*self.recorded.arms(actuator)} <= {*self.recorded.positions}
        }  # fmt: skip
        return {label for actuator, label in self.inputs.items() if actuator not in covered}

    def driving(self, measured: list[str]) -> list[str]:
        """Inputs that may be to blame: of the joints that are explained badly, or all."""
        told = self.recorded.positions
        joints = {joint for joint, label in told.items() if label in measured}
        moved = {label: {*self.recorded.arms(a)} for a, label in self.inputs.items()}
        unseen = [label for label, arms in moved.items() if arms.isdisjoint(told)]
        return [*(label for label, arms in moved.items() if arms & joints), *unseen]

    def discrete(
        self, inputs: list[str], measured: list[str], partners: Sequence[str] = ()
    ) -> Iterator[tuple[Change, ...]]:
        """Signs, degrees and exchanges, these with signs, with further inputs as partners."""
        for label in (*inputs, *measured):
            yield (Change(FindingKind.SIGN, scale={label: -1.0}),)
            if self.is_angle(label):
                for factor in (DEGREE, 1.0 / DEGREE):
                    yield (Change(FindingKind.DEGREES, scale={label: factor}),)
        for one, other in (*self._pairs(inputs, partners), *self._pairs(measured)):
            swap = Change(FindingKind.SWAP, exchange=((one, other),))
            yield (swap,)
            for turned in ((one,), (other,), (one, other)):
                yield (swap, Change(FindingKind.SIGN, scale=dict.fromkeys(turned, -1.0)))

    def reversed_pairs(self, labels: Sequence[str]) -> Iterator[tuple[Change, ...]]:
        """Two signs, none of which may help alone; of few entries, as each pair is simulated."""
        for pair in itertools.combinations(labels if len(labels) <= _FEW_REVERSED else (), 2):
            yield tuple(Change(FindingKind.SIGN, scale={label: -1.0}) for label in pair)

    def sized(self, inputs: list[str], measured: list[str], lags: Sequence[float]) -> list[Family]:
        """Scales and offsets of entries, and the lag of all inputs of each topic."""
        topics = self.by_topic()
        own = [one for label in (*inputs, *measured) for one in self._families(label)]
        late = [Family(FindingKind.LAG, tuple(labels), tuple(lags)) for labels in topics.values()]
        return [*own, *late]

    def _pairs(self, labels: list[str], partners: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
        """Entries that may stand in each other's place: of one topic, or alone on theirs."""
        scalar = {*self.recorded.positions.values(), *self.inputs.values()}
        entries = Counter(self.topics.values())
        own, others = ([x for x in some if x in scalar] for some in (labels, partners))
        for one, other in (*itertools.combinations(own, 2), *itertools.product(own, others)):
            topics = {self.topics[one], self.topics[other]}
            if len(topics) == 1 or all(entries[topic] == 1 for topic in topics):
                yield one, other

    def joint(self, label: str) -> int | None:
        """The joint that a position or a position servo's command is of."""
        for joint, own in self.recorded.positions.items():
            if own == label:
                return joint
        for actuator, own in self.recorded.commands.items():
            if own == label and not is_velocity_servo(self.recorded.model, actuator):
                return self.recorded.joint_of(actuator)
        return None

    def is_angle(self, label: str) -> bool:
        """Return whether an entry is in radians, or radians per second."""
        joint = self.joint(label)
        if joint is not None:
            return self.recorded.is_hinge(joint)
        model = self.recorded.model
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, label)
        if sensor >= 0:
            return int(model.sensor_type[sensor]) == int(mujoco.mjtSensor.mjSENS_GYRO)
        return label in self.recorded.others.values()

    def matters(self, change: Change, size: float) -> bool:
        """Return whether a size is more than what frictions and cables pass for."""
        label = change.signals[0]
        if change.kind is FindingKind.SCALE:
            degrees = named_degrees(size) and self.is_angle(label)
            return max(abs(size), 1.0 / abs(size)) >= _SMALLEST_FACTOR and not degrees
        if change.kind is FindingKind.OFFSET:
            joint = self.joint(label)
            unit = 0.0 if joint is None else offset_unit(self.recorded, joint)
            return bool(unit) and abs(size) >= _SMALLEST_OFFSET * unit
        return change.kind is not FindingKind.LAG or abs(size) >= _SMALLEST_LAG

    def usual_efforts(self, labels: Sequence[str]) -> dict[str, float]:
        """Forces of the actuators that entries concern, on the joints that they move, by name."""
        recorded = self.recorded
        own = [
            actuator for actuator, label in self.inputs.items()
            if label in labels
            or any(recorded.positions.get(joint) in labels for joint in recorded.arms(actuator))
        ]  # fmt: skip
        return {
            recorded.joint_name(joint): abs(arm) * self._usual_effort(actuator)
            for actuator in own
            for joint, arm in recorded.arms(actuator).items()
        }

    def _usual_effort(self, actuator: int) -> float:
        """The force that an actuator makes of its usual input, a servo if nothing moved."""
        own = self.recorded.pooled(self.inputs[actuator])
        usual = float(np.mean([np.std(one.values) for one in own]))
        return usual * abs(float(self.recorded.model.actuator_gainprm[actuator, 0]))

    def moves_with_others(self, actuator: int) -> bool:
        """Return whether other forces and torques move the same free body, or its limbs."""
        model = self.recorded.model
        roots = [tree_of(model, one) for one in self.inputs if is_effort(model, one)]
        root = tree_of(model, actuator)
        joint = model.body_jntadr[root]
        free = joint >= 0 and int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_FREE)
        return free and roots.count(root) > 1

    def _families(self, label: str) -> Iterator[Family]:
        """Scales and offsets; the factor of what acts alone looks like that of masses."""
        model = self.recorded.model
        forces = [a for a, own in self.inputs.items() if own == label]
        if not any(is_effort(model, a) and not self.moves_with_others(a) for a in forces):
            yield Family(FindingKind.SCALE, (label,), _COARSE_SCALES)
        joint = self.joint(label)
        if joint is not None and (unit := offset_unit(self.recorded, joint)):
            yield Family(FindingKind.OFFSET, (label,), tuple(unit * one for one in _COARSE_OFFSETS))
