# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings with a known truth: a model, hidden values and a motion become a bag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import joint_of, n_actuators
from sysid_ros.recording.bags import BagFolder
from sysid_ros.rehearsal import messages
from sysid_ros.rehearsal.drive import Joined, drive_for
from sysid_ros.rehearsal.plan import (
    CommandForm,
    Controller,
    JointStates,
    RecordingPlan,
    RehearsalError,
    StateForm,
    Timing,
)
from sysid_ros.rehearsal.readings import Published, published, scalar_joints
from sysid_ros.rehearsal.simulation import Course, simulate
from sysid_ros.rehearsal.true_model import based, start_of, true_model

_COMMAND_TRANSPORT = 5e-4  # s from a command's publication to its receipt, at most


@dataclass(frozen=True)
class GeneratedSignal:
    """The place of one signal of the model in a generated recording."""

    kind: str  # actuator or joint
    name: str  # in the model
    topic: str  # where it is
    field: str  # its path


@dataclass(frozen=True)
class GeneratedRecording:
    """A bag with a known truth."""

    bag: Path  # its folder
    signals: tuple[GeneratedSignal, ...]  # where commands and joint positions are in it
    course: Course  # the true motion


def generate(spec: mujoco.MjSpec, plan: RecordingPlan, folder: Path) -> GeneratedRecording:
    """Simulate a robot with hidden values and record it.

    The same arguments give the same messages.

    Args:
      spec: The model as its user has it; not changed.
      plan: What to play and to record.
      folder: The bag's folder, which must not exist.

    Returns:
      The bag and what is known of it.

    Raises:
      RehearsalError: Nothing can move, or the simulation runs away.
      ModelError: The model does not compile.
      ParameterError: A hidden value is for something that the model does not have.
      OutputError: The bag cannot be written.
    """
    model = true_model(based(spec, plan.base), plan.truth, plan.timestep)
    random = np.random.default_rng(plan.seed)
    start = start_of(model, plan.base, dict(plan.posture))
    drive = drive_for(
        model, start, plan.motion, duration=plan.duration, rate=plan.rate, seed=plan.seed
    )
    if plan.joined:
        drive = Joined(drive, plan.shown / plan.rate)
    controllers = [(one, _actuators(model, one)) for one in plan.controllers]
    delays = np.zeros(n_actuators(model))
    for controller, actuators in controllers:
        delays[actuators] = controller.delay
    jitter = max((controller.jitter for controller in plan.controllers), default=0.0)
    course = simulate(
        model,
        start,
        drive,
        ticks=_instants(Timing(rate=plan.rate, jitter=jitter), plan.duration, random),
        delays=delays,
        instants={one.topic: _instants(one.timing, plan.duration, random) for one in plan.sensors},
        settle=plan.settle,
    )
    stream: list[Published] = []
    for sensor in plan.sensors:
        stream += published(model, sensor, course.seen[sensor.topic], plan.start_ns, random)
    for controller, actuators in controllers:
        stream += _commands(model, controller, actuators, course, plan, random)
    _write(stream, folder)
    return GeneratedRecording(folder, tuple(_signals(model, plan, controllers)), course)


def _actuators(model: mujoco.MjModel, controller: Controller) -> list[int]:
    """Numbers of a controller's actuators, in its order."""
    if not controller.actuators:
        return list(range(n_actuators(model)))
    found = []
    for name in controller.actuators:
        actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
        if actuator < 0:
            known = ", ".join(str(model.actuator(a).name) for a in range(n_actuators(model)))
            raise RehearsalError(f"{controller.topic}: no actuator {name!r}; there are {known}")
        found.append(actuator)
    return found


def _instants(timing: Timing, duration: float, random: np.random.Generator) -> FloatArray:
    """Instants of a topic, s, in order."""
    count = round(duration * timing.rate)
    even = np.arange(count) / timing.rate
    moved = even + timing.jitter * random.standard_normal(count)
    kept = random.uniform(size=count) >= timing.loss
    inside = duration - np.abs(duration - np.abs(moved))
    return np.asarray(np.sort(inside)[kept])  # nobody publishes two messages at once


def _commands(
    model: mujoco.MjModel,
    controller: Controller,
    actuators: list[int],
    course: Course,
    plan: RecordingPlan,
    random: np.random.Generator,
) -> Iterator[Published]:
    """A controller's commands; without a header, the publish time dates them."""
    names = [controller.prefix + _driven(model, actuator) for actuator in actuators]
    period = round(1e9 * plan.shown / plan.rate)
    sent, controls = course.sent[:: plan.shown], course.controls[:: plan.shown, actuators]
    for time, values in zip(sent, controls, strict=True):
        stamp = plan.start_ns + round(1e9 * time)
        if controller.form is CommandForm.ARRAY:
            data = messages.array(values)
        elif controller.form is CommandForm.TRAJECTORY:
            data = messages.trajectory(names, values, period)
        else:
            data = messages.controller_state(stamp, names, values, np.zeros(len(values)))
        receive = stamp + round(1e9 * random.uniform(0.0, _COMMAND_TRANSPORT))
        yield Published(controller.topic, controller.form.value, stamp, receive, data)


def _driven(model: mujoco.MjModel, actuator: int) -> str:
    """The joint that an actuator drives, or the actuator's own name."""
    joint = joint_of(model, actuator)
    return str((model.actuator(actuator) if joint is None else model.joint(joint)).name)


def _signals(
    model: mujoco.MjModel, plan: RecordingPlan, controllers: list[tuple[Controller, list[int]]]
) -> Iterator[GeneratedSignal]:
    for controller, actuators in controllers:
        for place, actuator in enumerate(actuators):
            shown = controller.prefix + _driven(model, actuator)
            field = {
                CommandForm.ARRAY: f"data[{place}]",
                CommandForm.TRAJECTORY: f"points[-1].positions[{shown}]",
                CommandForm.STATE: f"reference.positions[{shown}]",
            }[controller.form]
            name = str(model.actuator(actuator).name)
            yield GeneratedSignal("actuator", name, controller.topic, field)
    for sensor in plan.sensors:
        if isinstance(sensor, JointStates):
            for joint in sensor.joints or scalar_joints(model):
                shown = sensor.prefix + joint
                field = {
                    StateForm.JOINT_STATE: f"position[{shown}]",
                    StateForm.DYNAMIC: f"interface_values[{shown}].values[position]",
                }[sensor.form]
                yield GeneratedSignal("joint", joint, sensor.topic, field)


def _write(stream: list[Published], folder: Path) -> None:
    """Write messages in the order in which they were received, a topic's as they were sent."""
    last: dict[str, int] = {}
    for place, one in enumerate(stream):
        last[one.topic] = max(one.receive_ns, last.get(one.topic, 0))
        stream[place] = replace(one, receive_ns=last[one.topic])
    bag = BagFolder(folder.parent, folder.name, dated=False)
    channels = {
        name: bag.add_topic(messages.topic_of(name, msgtype))
        for name, msgtype in dict.fromkeys((one.topic, one.msgtype) for one in stream)
    }
    for number, one in enumerate(sorted(stream, key=lambda one: one.receive_ns)):
        bag.write(
            channels[one.topic],
            one.data,
            log_ns=one.receive_ns,
            publish_ns=one.publish_ns,
            sequence=number,
        )
    bag.close()
