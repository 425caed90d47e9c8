# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mappings from the signals of a model to columns of arrays.

A mapping is ``{name: (SignalType, column indices)}``. Sensors keep their name; states and
controls get a suffix: ``elbow_qpos``, ``elbow_qvel``, ``motor_act``, ``motor_ctrl``. A free joint
goes by its body's name, as in MuJoCo's own library. What has no name in the model is called
``unnamed_sensor_0`` and so on, by its id.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import IndexArray
from sysid_ros.engine.elements import BALL, FREE, control_columns, n_actuators
from sysid_ros.errors import SignalError, unknown_name


class SignalType(Enum):
    """The kinds of signals of a model."""

    MjSensor = 0
    CustomObs = 1
    MjStateQPos = 2
    MjStateQVel = 3
    MjStateAct = 4
    MjCtrl = 5


SignalMapping = Mapping[str, tuple[SignalType, IndexArray]]

SUFFIXES = {
    SignalType.MjStateQPos: "_qpos",
    SignalType.MjStateQVel: "_qvel",
    SignalType.MjStateAct: "_act",
    SignalType.MjCtrl: "_ctrl",
}

# Inputs of an actuator, mjtInput, in the order of their columns.
_INPUTS = {1: "position", 2: "velocity", 4: "feedforward", 8: "voltage", 32: "pressure"}

OBSERVABLE = (
    SignalType.MjSensor,
    SignalType.MjStateQPos,
    SignalType.MjStateQVel,
    SignalType.MjStateAct,
)


def sensor_mapping(model: Any) -> dict[str, tuple[SignalType, IndexArray]]:
    """All sensors and their columns in ``sensordata``."""
    mapping = {}
    for i in range(model.nsensor):
        address, width = int(model.sensor_adr[i]), int(model.sensor_dim[i])
        name = _name(model, mujoco.mjtObj.mjOBJ_SENSOR, i)
        mapping[name] = (SignalType.MjSensor, _columns(address, width))
    return mapping


def sensor_id(model: Any, name: str) -> int:
    """The id of a sensor by its name in a mapping; -1 where there is none."""
    known = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR.value, name)
    if known >= 0:
        return int(known)
    return list(sensor_mapping(model)).index(name) if name in sensor_mapping(model) else -1


def control_mapping(model: Any) -> dict[str, tuple[SignalType, IndexArray]]:
    """All actuators that take a command and their columns in ``ctrl``."""
    mapping = {}
    for i in range(n_actuators(model)):
        address, width = control_columns(model, i)
        if width:
            name = _name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) + SUFFIXES[SignalType.MjCtrl]
            mapping[name] = (SignalType.MjCtrl, _columns(address, width))
    return mapping


def custom_mapping(
    signals: Iterable[str | tuple[str, int, SignalType]],
) -> dict[str, tuple[SignalType, IndexArray]]:
    """Signals beside each other: names of one column each, or ``(name, width, type)``.

    Raises:
      SignalError: A width is not positive.
    """
    mapping: dict[str, tuple[SignalType, IndexArray]] = {}
    column = 0
    for item in signals:
        name, width, kind = (item, 1, SignalType.CustomObs) if isinstance(item, str) else item
        if width <= 0:
            raise SignalError(f"Signal '{name}' must have positive width, got {width}.")
        mapping[name] = (kind, _columns(column, width))
        column += width
    return mapping


def input_actuators(model: Any) -> IndexArray:
    """The id of the actuator that each column of ``ctrl`` belongs to, (nu,)."""
    ids = np.zeros(int(model.nu), dtype=np.intp)
    for i in range(n_actuators(model)):
        address, width = control_columns(model, i)
        ids[address : address + width] = i
    return ids


def control_names(model: Any) -> tuple[str, ...]:
    """The name of each column of ``ctrl``, length nu.

    The first input of an actuator has its name, a further one also says what it is, such as
    ``elbow.velocity`` of a pid.
    """
    found: list[str] = []
    for i, name in enumerate(actuator_names(model)):
        width = control_columns(model, i)[1]
        if width > 1:
            given = int(model.actuator_ctrlspec[i])
            told = [kind for bit, kind in _INPUTS.items() if given & bit]
            told += [str(k) for k in range(len(told), width)]
            found += [name, *(f"{name}.{kind}" for kind in told[1:width])]
        else:
            found += [name] * width
    return tuple(found)


def actuator_names(model: Any) -> list[str]:
    """Names of all actuators, by id."""
    return [_name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) for i in range(n_actuators(model))]


def state_mappings(
    model: Any,
) -> tuple[
    dict[str, tuple[SignalType, IndexArray]],
    dict[str, tuple[SignalType, IndexArray]],
    dict[str, tuple[SignalType, IndexArray]],
]:
    """Positions, velocities and activations, as columns of the state without its time.

    Returns:
      Mappings of qpos, qvel and act. The columns count from the start of qpos, so that those of
      qvel begin at nq and those of act at nq + nv.
    """
    qpos, qvel, act = {}, {}, {}
    for i in range(model.njnt):
        free = int(model.jnt_type[i]) == FREE
        kind, owner = mujoco.mjtObj.mjOBJ_JOINT, i
        if free:
            kind, owner = mujoco.mjtObj.mjOBJ_BODY, int(model.jnt_bodyid[i])
        name = _name(model, kind, owner)
        positions, velocities = joint_widths(model, i)
        first_q, first_v = int(model.jnt_qposadr[i]), int(model.jnt_dofadr[i])
        qpos[name + "_qpos"] = (SignalType.MjStateQPos, _columns(first_q, positions))
        qvel[name + "_qvel"] = (SignalType.MjStateQVel, _columns(model.nq + first_v, velocities))
    for i in range(n_actuators(model)):
        address, width = int(model.actuator_actadr[i]), int(model.actuator_actnum[i])
        if address >= 0:
            name = _name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) + "_act"
            first = model.nq + model.nv + address
            act[name] = (SignalType.MjStateAct, _columns(first, width))
    return qpos, qvel, act


def joint_widths(model: Any, joint: int) -> tuple[int, int]:
    """Number of positions and of velocities of one joint."""
    kind = int(model.jnt_type[joint])
    widths = {FREE: (7, 6), BALL: (4, 3)}
    return widths.get(kind, (1, 1))


def resolve(
    model: Any, names: Sequence[str | tuple[str, SignalType]], allowed: Iterable[SignalType]
) -> dict[str, tuple[SignalType, IndexArray]]:
    """Assign consecutive columns of an array to named signals of a model.

    Args:
      model: An MjModel.
      names: Signal names, with or without suffix, or ``(name, type)`` where a name alone would
        be ambiguous. In doubt a sensor comes first, then controls, qpos, qvel, act.
      allowed: The types that may be meant.

    Raises:
      SignalError: A name is unknown or named twice, or its type is not allowed.
    """
    allowed = tuple(allowed)
    known = _known_signals(model)
    mapping: dict[str, tuple[SignalType, IndexArray]] = {}
    column = 0
    for item in names:
        name, hint = (item, None) if isinstance(item, str) else item
        if hint is not None and hint not in allowed:
            raise SignalError(f"Signal '{name}' has type {hint.name} which is not allowed.")
        found = _first_match(known, name, hint, allowed)
        if found is None:
            valid = [n for kind in allowed for n in known[kind]]
            raise SignalError(
                f"Could not resolve signal '{item}' with allowed types "
                f"{[kind.name for kind in allowed]}: " + unknown_name("signal", name, valid)
            )
        canonical, kind, width = found
        if canonical in mapping:
            raise SignalError(f"signal {canonical!r} is named twice")
        mapping[canonical] = (kind, _columns(column, width))
        column += width
    return mapping


def width_of(mapping: SignalMapping) -> int:
    """Number of columns a mapping needs."""
    return max(
        (int(columns.max()) + 1 for _, columns in mapping.values() if columns.size), default=0
    )


def encode(mapping: SignalMapping) -> str:
    """A mapping as JSON."""
    return json.dumps(
        {name: [kind.value, columns.tolist()] for name, (kind, columns) in mapping.items()}
    )


def decode(text: str) -> dict[str, tuple[SignalType, IndexArray]]:
    """The mapping that :func:`encode` wrote.

    Raises:
      SignalError: The text is not a mapping.
    """
    try:
        return {
            name: (SignalType(kind), np.asarray(columns, dtype=np.intp))
            for name, (kind, columns) in json.loads(text).items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise SignalError(f"this is no signal mapping: {text[:80]!r}") from error


def _known_signals(model: Any) -> dict[SignalType, dict[str, tuple[str, int]]]:
    """For each type the names that may be used: ``{name: (canonical name, width)}``."""
    qpos, qvel, act = state_mappings(model)
    mappings = {
        SignalType.MjSensor: sensor_mapping(model),
        SignalType.MjCtrl: control_mapping(model),
        SignalType.MjStateQPos: qpos,
        SignalType.MjStateQVel: qvel,
        SignalType.MjStateAct: act,
        SignalType.CustomObs: {},
    }
    known: dict[SignalType, dict[str, tuple[str, int]]] = {}
    for kind, mapping in mappings.items():
        suffix = SUFFIXES.get(kind, "")
        entries = {name: (name, columns.size) for name, (_, columns) in mapping.items()}
        bare = {name[: len(name) - len(suffix)]: entry for name, entry in entries.items()}
        known[kind] = {**bare, **entries}
    for i in range(model.njnt):  # a free joint's own name stands for its body's
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT.value, i)
        if name and int(model.jnt_type[i]) == FREE:
            body = _name(model, mujoco.mjtObj.mjOBJ_BODY, int(model.jnt_bodyid[i]))
            for kind in (SignalType.MjStateQPos, SignalType.MjStateQVel):
                entry = known[kind][body + SUFFIXES[kind]]
                known[kind].setdefault(name, entry)
                known[kind].setdefault(name + SUFFIXES[kind], entry)
    return known


def _first_match(
    known: Mapping[SignalType, Mapping[str, tuple[str, int]]],
    name: str,
    hint: SignalType | None,
    allowed: tuple[SignalType, ...],
) -> tuple[str, SignalType, int] | None:
    order = (SignalType.MjSensor, SignalType.MjCtrl, *OBSERVABLE[1:])
    for kind in order:
        if kind in allowed and hint in (None, kind) and name in known[kind]:
            canonical, width = known[kind][name]
            return canonical, kind, width
    return None


def _columns(first: int, width: int) -> IndexArray:
    return np.arange(first, first + width, dtype=np.intp)


def _name(model: Any, kind: Any, index: int) -> str:
    name = mujoco.mj_id2name(model, kind.value, index)
    return name or f"unnamed_{kind.name.split('_')[1].lower()}_{index}"
