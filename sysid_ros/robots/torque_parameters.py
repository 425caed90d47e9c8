# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that a fit to measured torque has by itself, and bounds that do not bind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes import INERTIAS, Attribute
from sysid_ros.engine.elements import ON_JOINT, SCALAR, is_moved, read_inertia
from sysid_ros.engine.friction import SHAPE
from sysid_ros.engine.inverse_dynamics import PAYLOAD, TENDON_ATTRIBUTES, coupling_name
from sysid_ros.engine.parameters import Parameter, ParameterDict, SignalModifier, corrects
from sysid_ros.experiment import Experiment, ParameterConfig
from sysid_ros.recording.mapping import SignalKind

_LEAST_MASS = 1e-3  # of the model's
LONGEST_DELAY, _USUAL_DELAY = 0.05, 0.01  # s, of measured torque either way
_SPRINGS = ("stiffness", "springref", "torque_offset")


def unlimited(row: Attribute, nominal: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Bounds of an attribute where the best value is found at once, whatever its size.

    Those of a simulation keep a search where simulations make sense. Regression needs none, and
    masses, frictions and armatures of a model that has none are of any size.

    Returns:
      Lower and upper bounds; ``None`` for an attribute that keeps its own.
    """
    infinite = np.full_like(nominal, np.inf)
    if (row.element, row.name) in (("joint", "torque_offset"), ("joint", "damping_poly"),
                                   *(("body", name) for name in INERTIAS),
                                   ("signal", "bias")):  # fmt: skip
        return -infinite, infinite
    if (row.element, row.name) == ("signal", "delay"):
        return np.full_like(nominal, -LONGEST_DELAY), np.full_like(nominal, LONGEST_DELAY)
    if (row.element, row.name) == ("body", "mass"):
        return _LEAST_MASS * nominal, infinite
    if row.element in ("joint", "tendon") and row.name not in (
        "springref",
        "stiffness_poly",
        *SHAPE,
    ):
        lower, _ = row.bounds(nominal)
        return lower, infinite
    return None


def torque_offsets(experiment: Experiment, spec: Any) -> tuple[ParameterConfig, ...]:
    """A constant torque for every joint whose torque is measured and that has none declared."""
    fit = experiment.fit
    if fit.simulates or not fit.inverse_dynamics.torque_offsets:
        return ()
    taken = experiment.parameters
    return tuple(
        ParameterConfig("joint", joint.name, "torque_offset")
        for joint, signal in _with_torque(experiment, spec)
        if joint.type in SCALAR
        and not np.any(joint.stiffness)
        and not any(_names(config, joint.name, signal) for config in taken)
    )


def measures_torque(experiment: Experiment, spec: Any) -> bool:
    """Return whether a signal of the experiment tells a joint's torque."""
    return any(True for _ in _with_torque(experiment, spec))


def torque_delays(
    experiment: Experiment, spec: Any, parameters: ParameterDict
) -> Iterator[Parameter]:
    """A delay for the torque of each topic, unless parameters have one for some of it."""
    fit = experiment.fit
    if fit.simulates or not fit.inverse_dynamics.torque_delay:
        return
    taken = {name for p in parameters.values() for name in corrects(p, "delay")}
    topics: dict[str, list[str]] = {}
    for _, name in _with_torque(experiment, spec):
        topic = next(s.topic for s in experiment.signals if s.name == name)
        topics.setdefault(topic, []).append(name)
    for topic, names in topics.items():
        if not taken & set(names):
            modifier = SignalModifier(tuple(names) if len(names) > 1 else names[0], "delay")
            label = topic.strip("/").replace("/", "_")
            name = "_".join(part for part in (label, "torque_delay") if part)
            yield Parameter(
                name, 0.0, -LONGEST_DELAY, LONGEST_DELAY, modifier=modifier, unit="s",
                prior=(0.0, _USUAL_DELAY),
            )  # fmt: skip


def jointed_bodies(spec: Any, names: Sequence[str]) -> list[str]:
    """The bodies among some that joints move and that are more than frames; all if none are."""
    found = [n for n in names if is_moved(spec.body(n)) and read_inertia(spec, n).mass > 0.0]
    return found or list(names)


def payload_inertia(experiment: Experiment) -> tuple[ParameterConfig, ...]:
    """The whole inertia of the experiment's payload, unless its parameters say otherwise."""
    declared = any(
        config.element == "body" and fnmatchcase(PAYLOAD, config.pattern)
        for config in experiment.parameters
    )
    if experiment.payload is None or declared:
        return ()
    return (ParameterConfig("body", PAYLOAD, "inertia", form="pseudo"),)


def coupling_parameters(experiment: Experiment) -> tuple[ParameterConfig, ...]:
    """Armature and friction of coupled joints' tendons that parameters do not speak of."""
    declared = {
        (coupling_name(one.joint, one.other), config.attribute)
        for one in experiment.couplings
        for config in experiment.parameters
        if config.element == "tendon"
        and fnmatchcase(coupling_name(one.joint, one.other), config.pattern)
    }
    return tuple(
        ParameterConfig("tendon", name, attribute)
        for name in (coupling_name(one.joint, one.other) for one in experiment.couplings)
        for attribute in TENDON_ATTRIBUTES
        if (name, attribute) not in declared
    )


def _names(config: ParameterConfig, joint: str, signal: str) -> bool:
    """Return whether an entry concerns the constant torque of a joint or of its signal."""
    if config.element == "signal":
        return config.attribute == "bias" and fnmatchcase(signal, config.pattern)
    matches = config.element == "joint" and fnmatchcase(joint, config.pattern)
    return matches and config.attribute in _SPRINGS


def _with_torque(experiment: Experiment, spec: Any) -> Iterator[tuple[Any, str]]:
    """Joints whose torque is measured, and the signal's name."""
    joints = {joint.name: joint for joint in spec.joints if joint.name}
    actuators = {actuator.name: actuator for actuator in spec.actuators}
    sensors = {sensor.name: sensor for sensor in spec.sensors}
    found: dict[str, str] = {}
    for signal in experiment.signals:
        if signal.wrench is not None:
            continue
        if signal.kind is SignalKind.ACTUATOR and signal.name in actuators:
            actuator = actuators[signal.name]
            plain = actuator.biastype == mujoco.mjtBias.mjBIAS_NONE
            if plain and int(actuator.trntype) in ON_JOINT:
                found.setdefault(actuator.target, signal.name)
        elif signal.kind is SignalKind.SENSOR and signal.name in sensors:
            sensor = sensors[signal.name]
            if sensor.type == mujoco.mjtSensor.mjSENS_JOINTACTFRC:
                found[sensor.objname] = signal.name
    for joint, name in found.items():
        if joint in joints:
            yield joints[joint], name
