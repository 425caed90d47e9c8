# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The text that tells a bag's reader how a message type is laid out, wherever ROS keeps it."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

from sysid_ros.errors import BagError

_SEPARATOR = "=" * 80
# A field or constant: type, perhaps with array or length bounds, then its name.
_FIELD = re.compile(r"^\s*([a-zA-Z][\w/]*)(?:<=\d+)?(\[[^\]]*\])?\s+[a-zA-Z]\w*")
_COMPOUND = {"action": "an action", "srv": "a service"}  # by the middle of a type's name
_BUILTIN = re.compile(r"bool|byte|char|float(32|64)|u?int(8|16|32|64)|w?string|duration|time")


def message_class(msgtype: str) -> Any:
    """Import the Python class of a message type such as ``sensor_msgs/msg/JointState``.

    Raises:
      BagError: Its package is not installed here, has no such type, or it is no message.
    """
    package, _, rest = msgtype.partition("/")
    namespace, _, name = rest.rpartition("/")
    try:
        module = importlib.import_module(f"{package}.{namespace.replace('/', '.')}")
        return getattr(module, name)
    except (ImportError, AttributeError, ValueError):
        if namespace in _COMPOUND:
            raise BagError(
                f"{msgtype} belongs to {_COMPOUND[namespace]}; only messages can be recorded"
            ) from None
        raise BagError(
            f"message type {msgtype} is not installed here; install the package {package!r} "
            "and source it"
        ) from None


def definition(msgtype: str) -> str:
    """The definition of a type and of all types it uses, in rosbag2's form ``ros2msg``.

    Args:
      msgtype: For example ``sensor_msgs/msg/JointState``.

    Returns:
      The text of its ``.msg`` file, then that of every type used below it, each after a line of
      80 equals signs and a line ``MSG: package/Name``.

    Raises:
      BagError: The type or one that it uses is not installed here.
    """
    texts = {_short(msgtype): _text(msgtype)}
    pending = [_short(msgtype)]
    while pending:
        name = pending.pop(0)
        for used in _types_used(name, texts[name]):
            if used not in texts:
                texts[used] = _text(_long(used))
                pending.append(used)
    first, *others = texts.items()
    parts = [first[1], *(f"{_SEPARATOR}\nMSG: {name}\n{text}" for name, text in others)]
    return "\n".join(part.rstrip("\n") for part in parts) + "\n"


def has_header(msgtype: str) -> bool:
    """Return whether the type's first field is a ``std_msgs/Header``."""
    fields = list(message_class(msgtype).get_fields_and_field_types().values())
    return bool(fields) and fields[0] == "std_msgs/Header"


def _text(msgtype: str) -> str:
    """The ``.msg`` file of a type, or what its Python class says where it has none (IDL)."""
    package, *_, name = msgtype.split("/")
    python_class = message_class(msgtype)
    package_file = sys.modules[python_class.__module__.partition(".")[0]].__file__ or ""
    for folder in Path(package_file).parents:
        path = folder / "share" / package / "msg" / f"{name}.msg"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return text_from_fields(python_class)


def text_from_fields(python_class: Any) -> str:
    """The definition of a :func:`message_class` as a ``.msg`` file has it, without constants."""
    fields: dict[str, str] = python_class.get_fields_and_field_types()
    return "".join(f"{_msg_spelling(kind)} {field}\n" for field, kind in fields.items())


def _msg_spelling(kind: str) -> str:
    """An IDL spelling such as ``sequence<double, 3>`` in that of ``.msg`` files."""
    spelled = {"float": "float32", "double": "float64", "boolean": "bool", "octet": "byte"}
    if sequence := re.fullmatch(r"sequence<(.+?)(?:,\s*(\d+))?>", kind):
        bound = f"<={sequence[2]}" if sequence[2] else ""
        return f"{_msg_spelling(sequence[1])}[{bound}]"
    if array := re.fullmatch(r"(.+)\[(\d+)\]", kind):
        return f"{_msg_spelling(array[1])}[{array[2]}]"
    if text := re.fullmatch(r"(w?string)<(\d+)>", kind):
        return f"{text[1]}<={text[2]}"
    return spelled.get(kind, kind)


def _types_used(name: str, text: str) -> list[str]:
    """Types such as ``std_msgs/Header`` that the fields of a definition have."""
    used = []
    for line in text.splitlines():
        field = _FIELD.match(line.partition("#")[0])
        if field is None or _BUILTIN.fullmatch(field[1]):
            continue
        kind = field[1]
        used.append(_short(kind) if "/" in kind else _in_package(name, kind))
    return used


def _in_package(name: str, kind: str) -> str:
    """A type named without a package is of the same package; ``Header`` alone is an old form."""
    return "std_msgs/Header" if kind == "Header" else f"{name.partition('/')[0]}/{kind}"


def _short(msgtype: str) -> str:
    package, *_, name = msgtype.split("/")
    return f"{package}/{name}"


def _long(name: str) -> str:
    package, _, kind = name.partition("/")
    return f"{package}/msg/{kind}"
