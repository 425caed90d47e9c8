# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads a mapping of the YAML tree into one of the schema's dataclasses, field by field.

The field's type says what is accepted, its rule which limits hold. Problems are collected and a
stand-in is returned, so that one pass finds all of them; the caller raises at the end.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from sysid_ros.errors import unknown_name
from sysid_ros.experiment.problems import Problems
from sysid_ros.experiment.rules import Rule, rule_of
from sysid_ros.experiment.yaml_tree import Value

T = TypeVar("T")
_UNIONS = (Union, types.UnionType)  # Optional[float] and float | None differ before 3.14


def keys_of(cls: type) -> dict[str, Rule]:
    """The YAML keys of a schema class with their rules, in the order of its fields."""
    rules = {field.name: rule_of(field.metadata) for field in dataclasses.fields(cls)}
    return {name: rule for name, rule in rules.items() if rule is not None}


def as_mapping(value: Value, where: str, problems: Problems) -> dict[str, Value]:
    """The entries of a mapping; anything else is noted and read as empty."""
    if isinstance(value.content, dict):
        return value.content
    problems.add(value.place, f"{where} must be a mapping of keys, given {value.shown()}")
    return {}


def as_list(value: Value, where: str, problems: Problems) -> list[Value]:
    """The items of a list; anything else is noted and read as empty."""
    if isinstance(value.content, list):
        return value.content
    problems.add(value.place, f"{where} must be a list, given {value.shown()}")
    return []


def refuse_unknown(value: Value, valid: Iterable[str], where: str, problems: Problems) -> None:
    """Note every key of a mapping that is not among ``valid``."""
    valid = tuple(valid)
    entries = value.content if isinstance(value.content, dict) else {}
    for key, entry in entries.items():
        if key not in valid:
            problems.add(entry.place, unknown_name("key", key, valid, where=where, limit=30))


def read_section(
    cls: type[T],
    value: Value,
    where: str,
    problems: Problems,
    *,
    given: Mapping[str, object] | None = None,
    also: Iterable[str] = (),
    defaults: T | None = None,
) -> T:
    """Read a mapping into ``cls``.

    Args:
      cls: A dataclass whose keys carry rules.
      value: The mapping.
      where: Its key path for messages, such as ``signals[2]``; empty for the whole file.
      problems: Collects what is wrong.
      given: Fields that the caller has read already; their names stay valid as keys.
      also: Further valid keys, read by the caller.
      defaults: Where keys that are left out come from, instead of the class's own defaults.

    Returns:
      An instance; of no use if ``problems`` grew.
    """
    fields = dict(given or {})
    rules = keys_of(cls)
    entries = as_mapping(value, where or "an experiment", problems)
    refuse_unknown(value, (*rules, *also), where or "the experiment", problems)
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        name = field.name
        if name in fields:
            continue
        path = f"{where}.{name}" if where else name
        if name in rules and name in entries:
            expected = _types(cls)[name]  # type: ignore[arg-type]
            fields[name] = _read(entries[name], expected, rules[name], path, problems)
        elif defaults is not None:
            fields[name] = getattr(defaults, name)
        elif not _has_default(field):
            problems.add(value.place, f"{where or 'the experiment'} lacks the key {name!r}")
            fields[name] = None
    return cls(**fields)


def read_labels(value: Value, where: str, problems: Problems) -> dict[str, float | str]:
    """Read a mapping of names to numbers or text, such as a recording's conditions."""
    labels: dict[str, float | str] = {}
    for key, entry in as_mapping(value, where, problems).items():
        path = f"{where}.{key}"
        if isinstance(entry.content, str) and entry.number() is None:
            labels[key] = entry.content
        else:
            labels[key] = _number(entry, None, path, problems, "a number or text")
    return labels


def _read(value: Value, expected: Any, rule: Rule, where: str, problems: Problems) -> Any:
    """One value of the type that a field's annotation names."""
    options = get_args(expected) if get_origin(expected) in _UNIONS else (expected,)
    if type(None) in options:
        if value.content is None or (rule.none_word and value.content == rule.none_word):
            return None
        options = tuple(option for option in options if option is not type(None))
    kind = options[0]
    if get_origin(kind) is tuple and dataclasses.is_dataclass(get_args(kind)[0]):
        return _sections(get_args(kind)[0], value, where, problems)
    if get_origin(kind) is tuple and get_args(kind)[0] is str:
        return _texts(value, rule, where, problems)
    if any(get_origin(option) is tuple for option in options):
        return _numbers(value, rule, where, problems)
    if get_origin(kind) is Mapping:
        if get_args(kind)[1] is not float:
            return read_labels(value, where, problems)
        entries = as_mapping(value, where, problems).items()
        return {key: _number(one, rule, f"{where}.{key}", problems) for key, one in entries}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return read_section(kind, value, where, problems)
    if isinstance(kind, type) and issubclass(kind, Enum):
        choice = _choice(value, tuple(member.value for member in kind), where, problems)
        return next((member for member in kind if member.value == choice), None)
    return _read_scalar(value, kind, rule, where, problems)


def _sections(cls: Any, value: Value, where: str, problems: Problems) -> tuple[Any, ...]:
    """One mapping, or a list of them."""
    if isinstance(value.content, dict):
        return (read_section(cls, value, where, problems),)
    return tuple(
        read_section(cls, item, f"{where}[{i}]", problems)
        for i, item in enumerate(as_list(value, where, problems))
    )


def _texts(value: Value, rule: Rule, where: str, problems: Problems) -> tuple[str, ...]:
    """One text, or a list of them."""
    if isinstance(value.content, str):
        return (_read_scalar(value, str, rule, where, problems),)
    items = as_list(value, where, problems)
    return tuple(
        _read_scalar(item, str, rule, f"{where}[{i}]", problems) for i, item in enumerate(items)
    )


def _read_scalar(value: Value, kind: Any, rule: Rule, where: str, problems: Problems) -> Any:
    if rule.choices:
        return _choice(value, rule.valid(), where, problems)
    if kind is bool:
        if not isinstance(value.content, bool):
            problems.add(value.place, f"{where} must be true or false, given {value.shown()}")
        return bool(value.content)
    if kind is int:
        number = value.number()
        if not isinstance(number, int):
            problems.add(value.place, f"{where} must be a whole number, given {value.shown()}")
            return 1
        _number(value, rule, where, problems)
        return number
    if kind is float:
        wanted = f"a number or {rule.none_word}" if rule.none_word else "a number"
        return _number(value, rule, where, problems, wanted)
    return read_text(value, where, problems)


def read_text(value: Value, where: str, problems: Problems) -> str:
    """Text that is not empty."""
    if not isinstance(value.content, str):
        hint = "; put it in quotes" if isinstance(value.content, (bool, int, float)) else ""
        problems.add(value.place, f"{where} must be text, given {value.shown()}{hint}")
        return ""
    if not value.content.strip():
        problems.add(value.place, f"{where} must not be empty")
    return value.content


def _number(
    value: Value, rule: Rule | None, where: str, problems: Problems, wanted: str = "a number"
) -> float:
    """A finite number within the rule's limits; 1.0 stands in for anything else."""
    written = value.number()
    if written is None:
        problems.add(value.place, f"{where} must be {wanted}, given {value.shown()}")
        return 1.0
    try:
        number = float(written)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        problems.add(value.place, f"{where} must be finite, given {value.shown()}")
        return 1.0
    limit = rule.broken_by(number) if rule else None
    if limit:
        problems.add(value.place, f"{where} must be {limit}, given {value.shown()}")
    return number


def _numbers(value: Value, rule: Rule, where: str, problems: Problems) -> float | tuple[float, ...]:
    """A number, or a list of them for an attribute with several components."""
    if not isinstance(value.content, list):
        return _number(value, rule, where, problems, "a number or a list of numbers")
    if not value.content:
        problems.add(value.place, f"{where} must not be an empty list")
    return tuple(
        _number(item, rule, f"{where}[{i}]", problems) for i, item in enumerate(value.content)
    )


def _choice(value: Value, choices: tuple[str, ...], where: str, problems: Problems) -> str | None:
    if value.content in choices and isinstance(value.content, str):
        return value.content
    given = value.content if isinstance(value.content, str) else value.shown()
    problems.add(value.place, unknown_name(where, given, choices))
    return None


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return (
        field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
    )


@cache
def _types(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)
