# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recorded motion, as the tests of :mod:`sysid_ros.diagnosis` need it."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.driven_by_torque import (
    measured_labels,
    torque_sensors,
    with_motors,
)
from sysid_ros.diagnosis.evidence.signal_roles import Role, arms, joint_of_site, part_of
from sysid_ros.engine.elements import BALL, FREE, HINGE, SCALAR, is_effort, n_actuators
from sysid_ros.engine.signals import (
    JointSignal,
    ModelSequences,
    SignalIntegral,
    TimeSeries,
    joint_signal,
    value_at,
    without_sign_jumps,
)

_LOOKS = 200  # postures
PASSED_MOST = 20.0  # Hz, that a test's low-pass passes
PASSED_SHARE = 0.15  # of the slowest sensor's rate, that it passes


@dataclass(frozen=True)
class Samples:
    """One signal of one recording: ``times`` (n,) s and ``values`` (n,), scale and offset applied.

    Vectors have (n, k) values. ``method`` is the way between samples: zoh, linear or cubic.
    """

    times: FloatArray
    values: FloatArray
    method: str = "linear"

    @property
    def held(self) -> bool:
        """True if it keeps its value until the next sample."""
        return self.method == "zoh"

    def at(self, times: FloatArray) -> FloatArray:
        """Values at other instants; the nearest sample before the first and after the last."""
        return value_at(self.times, self.values, times, self.method)

    def between(self, begin: float, end: float) -> Samples:
        """The samples from one instant to another, both included."""
        inside = (self.times >= begin) & (self.times <= end)
        return Samples(self.times[inside], self.values[inside], self.method)

    def mean_around(self, times: FloatArray, width: float) -> FloatArray:
        """Values at other instants, of a held signal the mean over a time [s] around each.

        A held signal sampled once per grid instant would seem early by up to its own interval,
        depending on how the grid lies.
        """
        if not self.held:
            return self.at(times)
        integral = SignalIntegral(self.times, self.values, self.method)
        return integral.mean(times - 0.5 * width, width)


@dataclass(frozen=True)
class Recorded:
    """Every recording of one model, and which signal is which joint's."""

    model: mujoco.MjModel  # the compiled model, with a sensor for every measured signal
    recordings: tuple[Mapping[str, Samples], ...]  # per recording its scalar signals by label
    vectors: tuple[Mapping[str, Samples], ...]  # the same for those of several numbers
    # the label of each joint's position, by the joint's number in the model
    positions: Mapping[int, str]
    velocities: Mapping[int, str]  # the same for velocities
    # by actuator number the label of a force or torque, on a joint or on a free body
    efforts: Mapping[int, str]
    # by actuator number the label of a position that a joint's servo is asked for
    servos: Mapping[int, str]
    # servos that the model lacked, by actuator number: nobody knows their gains
    guessed: frozenset[int] = frozenset()
    # the same of velocities, and of lengths of tendons that are linear in joint positions
    others: Mapping[int, str] = field(default_factory=dict)
    # labels of the seven coordinates of each free joint whose pose is measured
    poses: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    # what is known of joints' motion already; hypotheses ask for it again and again
    ranges: dict[int, tuple[float, float]] = field(default_factory=dict, init=False, compare=False)

    @property
    def commands(self) -> dict[int, str]:
        """The labels of what all servos are asked for, by actuator number."""
        return {**self.servos, **self.others}

    def pooled(self, label: str) -> list[Samples]:
        """One signal's samples, recording by recording."""
        return [signals[label] for signals in self.recordings if label in signals]

    def without(self, labels: Collection[str]) -> Recorded:
        """The same as if some signals were not mapped."""

        def kept(own: Mapping[int, str]) -> dict[int, str]:
            return {number: label for number, label in own.items() if label not in labels}

        left = [{k: v for k, v in one.items() if k not in labels} for one in self.recordings]
        return replace(
            self, recordings=tuple(left), positions=kept(self.positions),
            velocities=kept(self.velocities), efforts=kept(self.efforts),
            servos=kept(self.servos), others=kept(self.others),
        )  # fmt: skip

    def during(self, number: int, begin: float, end: float) -> Recorded:
        """The scalar signals of one recording from one instant to another, and no others."""
        part = {label: own.between(begin, end) for label, own in self.recordings[number].items()}
        return replace(self, recordings=(part,), vectors=({},))

    def joint_name(self, joint: int) -> str:
        """A joint's name in the model."""
        return str(self.model.joint(joint).name)

    def is_hinge(self, joint: int) -> bool:
        """Return whether a joint turns."""
        return int(self.model.jnt_type[joint]) == HINGE

    @property
    def all_positions(self) -> list[str]:
        """Labels of the positions of all joints, in their order.

        None where a joint is neither hinge nor slide, or one is not measured.
        """
        joints = range(self.model.njnt)
        scalar = self.model.nq == self.model.nv == len(joints)
        measured = scalar and all(joint in self.positions for joint in joints)
        return [self.positions[joint] for joint in joints] if measured else []

    @property
    def coordinates(self) -> list[str]:
        """Labels of all of qpos, of hinges, slides and free joints; none where one is unknown."""
        own = {joint: (label,) for joint, label in self.positions.items()}
        told = {**own, **self.poses}
        joints = range(self.model.njnt)
        known = all(joint in told for joint in joints)
        return [label for joint in joints for label in told[joint]] if known else []

    @property
    def is_open_chain(self) -> bool:
        """True if the model is a tree of hinges and slides whose positions are all measured."""
        return bool(self.all_positions) and not np.any(self.model.eq_active0)

    @property
    def interval(self) -> float:
        """The longest of the position signals' usual sampling intervals, s."""
        return max(
            (
                float(np.median(np.diff(samples.times)))
                for label in (*self.positions.values(), *itertools.chain(*self.poses.values()))
                for samples in self.pooled(label)
            ),
            default=0.0,
        )

    def postures(self) -> FloatArray:
        """Some recorded postures of all recordings; what is not measured at rest, (n, nq)."""
        told = {**{joint: (label,) for joint, label in self.positions.items()}, **self.poses}
        first = self.model.jnt_qposadr
        places = {first[j] + k: one for j, labels in told.items() for k, one in enumerate(labels)}
        found = []
        for signals in self.recordings:
            known = {place: signals[one] for place, one in places.items() if one in signals}
            times = next((samples.times for samples in known.values()), np.zeros(0))
            some = times[:: max(1, len(times) * len(self.recordings) // _LOOKS)]
            found.append(np.tile(self.model.qpos0, (len(some), 1)))
            for place, samples in known.items():
                found[-1][:, place] = samples.at(some)
        return np.concatenate(found)

    def joint_of(self, actuator: int) -> int:
        """The joint that an actuator moves, the first one of a tendon's, or its body's own."""
        return next(iter(self.arms(actuator)), joint_of_site(self.model, actuator))

    def arms(self, actuator: int) -> dict[int, float]:
        """The joints that an actuator moves, with what it moves for each of their units."""
        return arms(self.model, actuator)


def recorded(groups: Sequence[ModelSequences], guessed: Collection[str] = ()) -> Recorded:
    """Sort an experiment's sequences into joints.

    Where recordings have different models, those of the model that most were recorded with count.

    Args:
      groups: Sequences by model, at least one.
      guessed: Names of servos whose gains nobody knows.
    """
    group = max(groups, key=len)
    torques = torque_sensors(group)
    spec = with_motors(group.spec, torques) if torques else group.spec.copy()
    model = spec.compile()
    if any(is_effort(model, a) for a in range(n_actuators(model))):
        model = _without_unmeasured_joints(spec, measured_labels(group)) or model
    recordings: tuple[Mapping[str, Samples], ...] = tuple(
        {**_signals(measured), **_signals(control)}
        for measured, control in zip(group.sensordata, group.control, strict=True)
    )
    sorted_: dict[Role, dict[int, str]] = {role: {} for role in Role}
    for label in dict.fromkeys(label for signals in recordings for label in signals):
        if (part := part_of(model, label, torques)) is not None:
            sorted_[part[0]].setdefault(part[1], label)
    vectors = tuple(_vectors(measured) for measured in group.sensordata)
    poses, recordings = _with_poses(model, recordings, vectors)
    servos, others = sorted_[Role.SERVO], sorted_[Role.OTHER]
    return Recorded(
        model,
        recordings,
        vectors,
        sorted_[Role.POSITION],
        sorted_[Role.VELOCITY],
        sorted_[Role.EFFORT],
        servos,
        frozenset(a for a in (*servos, *others) if model.actuator(a).name in guessed),
        others,
        poses,
    )


def pose_of(model: mujoco.MjModel, joint: int, vectors: Mapping[str, Samples]) -> Samples | None:
    """The measured coordinates of a free or ball joint, (n, 7 or 4)."""
    parts: dict[int, tuple[JointSignal, Samples]] = {}
    for name, one in vectors.items():
        told = joint_signal(model, name)
        if told is not None and told.joint == joint:
            parts.setdefault(told.width, (told, one))
    if 4 not in parts:
        return None
    signal, one = parts[4]
    turned = Samples(one.times, without_sign_jumps(signal.body_orientation(one.values)))
    if int(model.jnt_type[joint]) == BALL:
        return turned
    if 3 not in parts:
        return None
    signal, one = parts[3]
    place = np.stack([np.interp(turned.times, one.times, x) for x in one.values.T], axis=1)
    place = signal.body_position(place, turned.values)
    return Samples(turned.times, np.concatenate([place, turned.values], axis=1))


def _with_poses(
    model: mujoco.MjModel,
    recordings: Sequence[Mapping[str, Samples]],
    vectors: Sequence[Mapping[str, Samples]],
) -> tuple[dict[int, tuple[str, ...]], tuple[Mapping[str, Samples], ...]]:
    """Labels of the coordinates of free joints, and recordings that have them as signals."""
    labels: dict[int, tuple[str, ...]] = {}
    found = [dict(signals) for signals in recordings]
    for joint in np.flatnonzero(np.asarray(model.jnt_type) == FREE).tolist():
        for signals, own in zip(found, vectors, strict=True):
            pose = pose_of(model, joint, own)
            if pose is not None:
                labels[joint] = tuple(f"coordinate {i} of free joint {joint}" for i in range(7))
                for label, column in zip(labels[joint], pose.values.T, strict=True):
                    signals[label] = Samples(pose.times, column)
    return labels, tuple(found)


def _without_unmeasured_joints(spec: mujoco.MjSpec, labels: set[str]) -> mujoco.MjModel | None:
    """The model with joints welded whose position is not measured, such as those of a gripper.

    Returns:
      ``None`` where every joint is measured, or where something else holds on to those that are
      not.
    """
    kinds = (mujoco.mjtSensor.mjSENS_JOINTPOS, mujoco.mjtSensor.mjSENS_BALLQUAT)
    measured = {s.objname for s in spec.sensors if s.type in kinds and s.name in labels}
    copy = spec.copy()
    gone = [joint for joint in copy.joints if joint.type in SCALAR and joint.name not in measured]
    if not gone or len(gone) == len(copy.joints):
        return None
    names = {joint.name for joint in gone}
    held = [e for e in copy.equalities if names & {e.name1, e.name2}]
    for element in (*copy.keys, *held, *gone):
        copy.delete(element)
    copy.compiler.fusestatic = True  # what moves as one is one body, of which tests need but few
    try:
        return copy.compile()
    except ValueError:
        return None


def _signals(series: TimeSeries) -> dict[str, Samples]:
    """The scalar signals of a series by label."""
    found = {}
    for name, (_, columns) in (series.signal_mapping or {}).items():
        times, values = series.known(name)
        if len(columns) == 1 and len(times) >= 2:
            found[name] = Samples(times, values[:, 0], series.method_of(int(columns[0])))
    return found


def _vectors(series: TimeSeries) -> dict[str, Samples]:
    """The signals of several numbers of a series by label."""
    found = {}
    for name, (_, columns) in (series.signal_mapping or {}).items():
        times, values = series.known(name)
        if len(columns) > 1 and len(times) >= 2:
            found[name] = Samples(times, values)
    return found
