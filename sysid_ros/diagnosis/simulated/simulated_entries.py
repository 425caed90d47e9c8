# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that a simulation can tell, of robots which no equation of single joints covers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray
from sysid_ros.diagnosis.evidence import (
    DEGREE,
    Change,
    Family,
    FindingKind,
    Recorded,
    joint_labels,
    leaves_range,
    motion_range,
    moves,
    named_degrees,
    offset_unit,
    repaired,
)
from sysid_ros.engine.elements import (
    actuator_moments,
    is_effort,
    is_velocity_servo,
    n_actuators,
    servo_gain,
    tree_of,
)
from sysid_ros.engine.uncertainty import sensor_of
from sysid_ros.engine.windows import ClosedLoops

Compared = TypeVar("Compared")

_COARSE_SCALES = (0.1, 0.5, 2.0)  # of those that are simulated
_COARSE_OFFSETS = (-0.5, 0.5)  # rad; of a slide, of its range
_SMALLEST_FACTOR = 1.6
_SMALLEST_OFFSET = 0.1  # rad; of a slide, of its range
_SMALLEST_LAG = 0.01  # s
_AWAY = 0.1  # rad or m, from where joints of a model are zero
_NEARLY_NONE = 1e-9  # N or N m, of springs and of actuators that exert one
_FEW_REVERSED = 6  # entries of which two may have wrong signs
_TURN = 2.0 * np.pi  # rad, beyond which an angle is rather degrees than forces of another size


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


def held_dofs(model: mujoco.MjModel, actuators: Sequence[int]) -> BoolArray:
    """Mark degrees of freedom that some actuators, a spring or an equality acts on, (nv,)."""
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, np.full(model.nv, _AWAY), 1.0)  # springs pull there
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    acting = np.abs(np.vstack([actuator_moments(data)[list(actuators)], data.qfrc_spring]))
    held: BoolArray = np.any(acting > _NEARLY_NONE, axis=0)
    if loops := ClosedLoops.of(model, ()):
        held[loops.free] = True
    return held


@dataclass(frozen=True)
class Simulated:
    """Mistakes that a simulation can tell, of robots which no equation of single joints covers."""

    recorded: Recorded  # what was recorded
    topics: Mapping[str, str]  # the topic of each entry's signal

    @property
    def inputs(self) -> dict[int, str]:
        """Every input that was recorded, by actuator; those of winding cables, too."""
        model = self.recorded.model
        names = {
            actuator: str(model.actuator(actuator).name) for actuator in range(n_actuators(model))
        }
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

    def forces_like(self, change: Change, *beside: Change) -> tuple[Change, ...]:
        """The size of all forces on a joint that the unit of its position looks like.

        What is ``beside`` that unit follows, as the position without it has it.

        It is free of weight, springs and other joints that the two differ: a gear that the model
        lacks turns a joint as much less as degrees do. Empty of what no force moves, and where
        angles go beyond a turn that do not as degrees.
        """
        ((label, factor),) = change.scale.items() if len(change.scale) == 1 else (("", 1.0),)
        own = [joint for joint, one in self.recorded.positions.items() if one == label]
        if change.kind is not FindingKind.DEGREES or not own:
            return ()
        if factor < 1.0 and motion_range(self.recorded, own[0])[0] > _TURN:
            return ()
        model, driving = self.recorded.model, self.driving([label])
        inputs = self.inputs.items()
        forces = [one for a, one in inputs if one in driving and is_effort(model, a)]
        if not forces:
            return ()
        size = Change(FindingKind.SCALE, scale=dict.fromkeys(forces, 1.0 / factor))
        shifts = [{name: one / change.scale.get(name, 1.0) for name, one in each.offset.items()}
                  for each in beside]  # fmt: skip
        return (size, *map(lambda each, own: replace(each, offset=own), beside, shifts))

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
        """Return whether a size is more than what frictions and cables pass for.

        Nor is it known of a joint that goes beyond its stops, which push a simulation back.
        """
        label = change.signals[0]
        for moved, own in self.recorded.positions.items() if size else ():
            if own == label and leaves_range(repaired(self.recorded, change), moved):
                return False
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
        return usual * abs(servo_gain(self.recorded.model, actuator))

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
