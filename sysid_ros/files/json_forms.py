# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Dataclasses as JSON and back: how a field is written follows from its annotation.

Numbers that are unknown or unbounded are ``null`` in JSON, which knows no NaN and no infinity.
Reading is strict about types, and its errors name the key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

Value = TypeVar("Value")


class FormError(ValueError):
    """Raised where a file has another form than expected; the message names the key."""


@dataclass(frozen=True)
class Form:
    """The form of one kind of value in JSON."""

    # takes what was read and its key; raises FormError where that is something else
    read: Callable[[Any, str], Any]
    # gives what is written; numbers may still be NaN or numpy's
    write: Callable[[Any], Any] = lambda value: value


def of_type(kind: type | tuple[type, ...], words: str) -> Form:
    """Return the form of what JSON knows by itself."""

    def read(value: Any, key: str) -> Any:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise FormError(f"{key} must be {words}, not {value!r:.60}")
        return value

    return Form(read)


TEXT = of_type(str, "a text")
INTEGER = of_type(int, "an integer")
_NUMBER = of_type((int, float), "a number or null")
LIST = of_type(list, "a list")
MAPPING = of_type(dict, "a mapping")
_ANYTHING = Form(lambda value, key: value)
_PLAIN = {str: TEXT, int: INTEGER, bool: of_type(bool, "true or false"), Any: _ANYTHING}


def number(unknown: float = math.nan) -> Form:
    """Return the form of a float; ``null`` stands for ``unknown``."""

    def read(value: Any, key: str) -> float:
        try:
            return unknown if value is None else float(_NUMBER.read(value, key))
        except OverflowError:  # an integer of hundreds of digits
            raise FormError(f"{key} is too large for a number") from None

    return Form(read)


def array(unknown: float = math.nan) -> Form:
    """Return the form of floats, (n,); ``null`` stands for ``unknown``."""
    items = several(number(unknown))
    return Form(lambda value, key: np.array(items.read(value, key), dtype=np.float64))


def matrix(unknown: float = math.nan) -> Form:
    """Return the form of floats, (n, m)."""
    rows = several(array(unknown))

    def read(value: Any, key: str) -> Any:
        found = rows.read(value, key)
        if len({len(row) for row in found}) > 1:
            raise FormError(f"{key} has rows of different lengths")
        return np.array(found, dtype=np.float64).reshape(len(found), -1 if found else 0)

    return Form(read)


def optional(form: Form) -> Form:
    """Return the form of something or ``null``."""
    return Form(
        lambda value, key: None if value is None else form.read(value, key),
        lambda value: None if value is None else form.write(value),
    )


def several(form: Form) -> Form:
    """Return the form of a tuple of values of one form."""

    def read(value: Any, key: str) -> tuple[Any, ...]:
        items = enumerate(LIST.read(value, key))
        return tuple(form.read(item, f"{key}[{i}]") for i, item in items)

    return Form(read, lambda values: [form.write(value) for value in values])


def by_name(form: Form) -> Form:
    """Return the form of values of one form by name."""

    def read(value: Any, key: str) -> dict[str, Any]:
        items = MAPPING.read(value, key).items()
        return {name: form.read(item, f"{key}.{name}") for name, item in items}

    return Form(read, lambda values: {name: form.write(item) for name, item in values.items()})


def choice(kind: type[Enum]) -> Form:
    """Return the form of a member of an enumeration, by its value."""

    def read(value: Any, key: str) -> Enum:
        try:
            return kind(value)
        except ValueError:
            valid = ", ".join(repr(member.value) for member in kind)
            raise FormError(f"{key} is {value!r:.60}, not one of {valid}") from None

    return Form(read, lambda member: member.value)


class Record(Generic[Value]):
    """A dataclass as a mapping.

    Args:
      kind: The dataclass.
      without: Fields that are kept elsewhere; reading gets them as arguments.
      keys: What fields are called that have another name in the file.
      **forms: Of fields whose annotation does not tell.
    """

    def __init__(
        self,
        kind: type[Value],
        *,
        without: Sequence[str] = (),
        keys: Mapping[str, str] | None = None,
        **forms: Form,
    ) -> None:
        self._kind = kind
        hints = get_type_hints(kind)
        self._rows = [
            (field.name, (keys or {}).get(field.name, field.name), form, required)
            for field in fields(kind)  # type: ignore[arg-type]
            if field.name not in without
            for form in [forms.get(field.name) or form_of(hints[field.name])]
            for required in [field.default is MISSING and field.default_factory is MISSING]
        ]

    @property
    def form(self) -> Form:
        """The same as a form."""
        return Form(self.read, self.write)

    def write(self, value: Value) -> dict[str, Any]:
        """Return the fields by key."""
        return {key: form.write(getattr(value, name)) for name, key, form, _ in self._rows}

    def read(self, value: Any, place: str, **given: Any) -> Value:
        """Return the dataclass; a field that is absent has its default.

        Args:
          value: What was read.
          place: Its key; empty for a whole document.
          **given: Fields that are kept elsewhere.

        Raises:
          FormError: Something is missing or of another form.
        """
        entry = MAPPING.read(value, place or "the document")
        for name, key, form, required in self._rows:
            path = f"{place}.{key}" if place else key
            if key in entry:
                given[name] = form.read(entry[key], path)
            elif required:
                raise FormError(f"{path} is missing")
        return self._kind(**given)


def named(record: Record[Any]) -> Form:
    """Return the form of dataclasses by their ``name``, which their record is without."""

    def read(value: Any, key: str) -> tuple[Any, ...]:
        items = MAPPING.read(value, key).items()
        return tuple(record.read(item, f"{key}.{name}", name=name) for name, item in items)

    return Form(read, lambda values: {value.name: record.write(value) for value in values})


def form_of(hint: Any) -> Form:
    """Return the form of an annotation.

    Raises:
      KeyError: There is none for it.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is float:
        return number()
    if origin is np.ndarray:
        return array()
    if origin in (Union, UnionType) and arguments[1:] == (type(None),):
        return optional(form_of(arguments[0]))
    if origin is tuple:
        return several(form_of(arguments[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return by_name(form_of(arguments[1]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return choice(hint)
    return _PLAIN[hint] if hint in _PLAIN else Record(hint).form
