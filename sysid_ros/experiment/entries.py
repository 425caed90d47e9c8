# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads the lists of the experiment file: recordings, signals and parameters."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from sysid_ros.errors import DataError, unknown_name
from sysid_ros.experiment.attribute_names import ELEMENTS, FRICTION, attribute_names, form_problem
from sysid_ros.experiment.experiment_schema import (
    AlternativeConfig,
    ParameterConfig,
    SequenceConfig,
    SignalConfig,
    ValidationConfig,
)
from sysid_ros.experiment.problems import Problems
from sysid_ros.experiment.section import as_list, as_mapping, keys_of, read_section, read_text
from sysid_ros.experiment.yaml_tree import Value
from sysid_ros.recording.mapping import Interpolation, SignalKind
from sysid_ros.recording.messages import parse_fields

_ADDED = (SignalKind.EFFORT, SignalKind.SERVO, SignalKind.VELOCITY_SERVO)
_SWITCHES = ("frozen", "shared", "per_robot")
_SIGNAL_KINDS = tuple(kind.value for kind in SignalKind)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")  # of what may become a folder


def read_sequences(value: Value, where: str, problems: Problems) -> tuple[SequenceConfig, ...]:
    """Read a list of recordings, each a bag's path or a mapping."""
    return tuple(
        _read_sequence(item, f"{where}[{i}]", problems)
        for i, item in enumerate(as_list(value, where, problems))
    )


def _read_sequence(value: Value, where: str, problems: Problems) -> SequenceConfig:
    if not isinstance(value.content, dict):
        return SequenceConfig(bag=read_text(value, where, problems))
    before = len(problems)
    sequence = read_section(SequenceConfig, value, where, problems)
    if sequence.robot is not None and not _NAME.fullmatch(sequence.robot):
        problems.add(
            value.place,
            f"{where}.robot: a name takes letters, digits, _ and -, given {sequence.robot!r}",
        )
    start = sequence.start or 0.0
    if len(problems) == before and sequence.end is not None and not start < sequence.end:
        problems.add(
            value.place, f"{where}: start ({start:g} s) must come before end ({sequence.end:g} s)"
        )
    return sequence


def read_validation(value: Value, where: str, problems: Problems) -> ValidationConfig:
    """Read what is held out, of which there is one kind at most."""
    entries = as_mapping(value, where, problems)
    chosen = [key for key in keys_of(ValidationConfig) if key in entries]
    if len(chosen) > 1:
        problems.add(
            value.place,
            f"{where} takes one of bags, fraction, condition, folds; given {', '.join(chosen)}",
        )
    bags: tuple[SequenceConfig, ...] = ()
    if "bags" in entries:
        bags = read_sequences(entries["bags"], f"{where}.bags", problems)
    return read_section(ValidationConfig, value, where, problems, given={"bags": bags})


def read_signals(value: Value, where: str, problems: Problems) -> tuple[SignalConfig, ...]:
    """Read the signal map; each model element may appear once."""
    signals = []
    seen: dict[tuple[SignalKind, str], Value] = {}
    for i, item in enumerate(as_list(value, where, problems)):
        signal = _read_signal(item, f"{where}[{i}]", problems)
        if signal is None:
            continue
        first = seen.setdefault((signal.kind, signal.name), item)
        if first is not item:
            problems.add(
                item.place,
                f"{where}[{i}]: {signal.kind.value} {signal.name!r} is mapped already, "
                f"in line {first.place.line}",
            )
        signals += _as_inputs(signal)
    return tuple(signals)


def _as_inputs(signal: SignalConfig) -> list[SignalConfig]:
    """A signal, or the inputs that one without an actuator in the model is simulated with."""
    if signal.kind is SignalKind.WRENCH:
        return _components(signal)
    if signal.kind in _ADDED:
        joint: dict[str, Any] = {signal.kind.value: signal.name}
        name = added_input(signal.kind, signal.name)
        return [replace(signal, kind=SignalKind.ACTUATOR, name=name, **joint)]
    return [signal]


def added_input(kind: SignalKind, joint: str) -> str:
    """The name of the input that a joint gets for a signal without an actuator in the model."""
    return f"{joint}_{kind.value}"


def _components(wrench: SignalConfig) -> list[SignalConfig]:
    """The six inputs that a measured wrench is simulated with."""
    # The library brings MuJoCo along.
    from sysid_ros.engine.signals import COMPONENTS, wrench_inputs

    return [
        replace(
            wrench,
            kind=SignalKind.ACTUATOR,
            name=name,
            field=f"{wrench.field}.{component.replace('_', '.')}",
            interpolation=wrench.interpolation or Interpolation.LINEAR,
            wrench=wrench.name,
        )
        for name, component in zip(wrench_inputs(wrench.name), COMPONENTS, strict=True)
    ]


def _read_signal(value: Value, where: str, problems: Problems) -> SignalConfig | None:
    entries = as_mapping(value, where, problems)
    kind = _only_key(value, entries, _SIGNAL_KINDS, where, problems)
    if kind is None:
        return None
    name = read_text(entries[kind], f"{where}.{kind}", problems)
    given = {"kind": SignalKind(kind), "name": name, "place": value.place}
    signal = read_section(SignalConfig, value, where, problems, given=given, also=_SIGNAL_KINDS)
    if (path := entries.get("field")) is not None and isinstance(path.content, str):
        try:
            parse_fields(path.content)
        except DataError as error:
            problems.add(path.place, f"{where}.field: {error}")
    if (signal.type is None) != (signal.at is None):
        problems.add(value.place, f"{where}: type and at belong together")
    elif signal.type is not None and signal.kind is not SignalKind.SENSOR:
        problems.add(value.place, f"{where}: type and at describe a sensor, not a {kind}")
    return signal


def read_parameters(value: Value, where: str, problems: Problems) -> tuple[ParameterConfig, ...]:
    """Read what to identify: per entry one element pattern and one or more attributes."""
    parameters: list[ParameterConfig] = []
    for i, item in enumerate(as_list(value, where, problems)):
        parameters.extend(_read_parameter(item, f"{where}[{i}]", problems))
    return tuple(parameters)


def read_alternatives(value: Value, where: str, problems: Problems) -> dict[str, AlternativeConfig]:
    """Read the other structures that the model may have, by name."""
    found = {}
    for name, entry in as_mapping(value, where, problems).items():
        path = f"{where}.{name}"
        if not _NAME.fullmatch(name):
            problems.add(
                entry.place, f"{where}: a name takes letters, digits, _ and -, given {name!r}"
            )
        entries = as_mapping(entry, path, problems)
        given: dict[str, object] = {
            key: read_parameters(entries[key], f"{path}.{key}", problems)
            for key in ("parameters", "add")
            if key in entries
        }
        found[name] = read_section(AlternativeConfig, entry, path, problems, given=given)
    return found


def _read_parameter(value: Value, where: str, problems: Problems) -> list[ParameterConfig]:
    entries = as_mapping(value, where, problems)
    element = _only_key(value, entries, ELEMENTS, where, problems)
    if element is None:
        return []
    pattern = read_text(entries[element], f"{where}.{element}", problems)
    known = attribute_names(element)
    found = []
    for name, entry in entries.items():
        if name in known:
            found.append(
                _read_attribute(entry, element, pattern, name, f"{where}.{name}", problems)
            )
        elif name not in ELEMENTS:
            problems.add(
                entry.place, unknown_name("key", name, (element, *known), where=where, limit=40)
            )
    if len(entries) == 1:
        problems.add(
            value.place,
            f"{where} names no attribute of the {element}; valid: {', '.join(sorted(known))}",
        )
    return found


def _read_attribute(
    value: Value, element: str, pattern: str, attribute: str, where: str, problems: Problems
) -> ParameterConfig:
    """An attribute's settings: a mapping, nothing (all defaults), or one word for its form."""
    given: dict[str, object] = {
        "element": element,
        "pattern": pattern,
        "attribute": attribute,
        "place": value.place,
    }
    if value.content is None and attribute != FRICTION:
        return ParameterConfig(element, pattern, attribute, place=value.place)
    if value.content is None:
        value = Value({}, value.place)
    if isinstance(value.content, str):
        switch = value.content in _SWITCHES
        entry = {value.content: Value(True, value.place)} if switch else {"form": value}
        value = Value(entry, value.place)
    elif not isinstance(value.content, dict):
        problems.add(
            value.place,
            f"{where} must be a mapping such as {{initial: 0.1, min: 0, max: 1}}, "
            f"given {value.shown()}",
        )
        return ParameterConfig(element, pattern, attribute)
    before = len(problems)
    config = read_section(ParameterConfig, value, where, problems, given=given)
    wrong = None
    if config.form is not None or attribute == FRICTION:
        wrong = form_problem(element, attribute, config.form)
    if wrong is not None:
        problems.add(value.place, f"{where}: {wrong}")
    if attribute == FRICTION and (config.initial, config.min, config.max) != (None, None, None):
        problems.add(
            value.place,
            f"{where}: a friction model has several parameters; give starts and bounds to them, "
            "such as friction_base: {max: 2.0} beside friction: m4",
        )
    if len(problems) == before:
        _check_bounds(config, value, where, problems)
    return config


def _check_bounds(config: ParameterConfig, value: Value, where: str, problems: Problems) -> None:
    """Each component must keep min <= initial <= max; a single number counts for all."""
    sizes = {len(x) for x in (config.initial, config.min, config.max) if isinstance(x, tuple)}
    if len(sizes) > 1:
        problems.add(value.place, f"{where}: initial, min and max differ in length")
        return
    for i in range(sizes.pop() if sizes else 1):
        low, start, high = (_component(x, i) for x in (config.min, config.initial, config.max))
        if low is not None and high is not None and low > high:
            problems.add(value.place, f"{where}: min ({low:g}) is above max ({high:g})")
            return
        if start is not None and (
            (low is not None and start < low) or (high is not None and start > high)
        ):
            problems.add(
                value.place,
                f"{where}: initial ({start:g}) lies outside its bounds "
                f"[{_bound(low, '-inf')}, {_bound(high, 'inf')}]",
            )
            return


def _component(value: float | tuple[float, ...] | None, index: int) -> float | None:
    return value[index] if isinstance(value, tuple) else value


def _bound(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value:g}"


def _only_key(
    value: Value,
    entries: dict[str, Value],
    choices: tuple[str, ...],
    where: str,
    problems: Problems,
) -> str | None:
    """The one key of ``choices`` that an entry has."""
    found = [key for key in choices if key in entries]
    if len(found) == 1:
        return found[0]
    given = ", ".join(entries) if entries else "none"
    if isinstance(value.content, dict):
        problems.add(
            value.place,
            f"{where} needs exactly one of the keys {', '.join(choices)}; its keys are: {given}",
        )
    return None
