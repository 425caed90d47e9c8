# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Message definitions: from the bag itself, from ``--msg-path``, or ROS's own types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosbags.typesys import (
    Stores,
    TypesysError,
    get_types_from_idl,
    get_types_from_msg,
    get_typestore,
)

from sysid_ros.errors import BagError, listed
from sysid_ros.recording.messages.definition_files import DefinitionFiles
from sysid_ros.recording.messages.definition_limits import LONGEST_TEXT, check_types
from sysid_ros.recording.messages.stored_message import Definition

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs, Typesdict

_IDL_SEPARATOR = "=" * 80 + "\n"
# What recorders and installations carry in IDL that changes no message's layout.
_NO_CODE = re.compile(
    r'(?P<text>"(?:\\.|[^"\\])*")'
    r"|//[^\n]*"  # comments
    r"|/\*.*?\*/"
    r"|^[ \t]*#[^\n]*",  # include, pragma
    re.DOTALL | re.MULTILINE,
)
# documentation, defaults, units
_ANNOTATION = re.compile(r"@[A-Za-z_][\w:]*(?:\s*\((?:[^()]|\([^()]*\))*\))?")
# What rosbags' parser raises besides its own error, for text that nobody meant to be a definition.
_UNPARSABLE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
_NOT_SUPPORTED = ("wstring", "wchar")  # implementations of DDS disagree on their layout


class Definitions:
    """The field lists of the message types of one bag, parsed when first asked for."""

    def __init__(self, msg_paths: Sequence[Path] = (), *, ros_distro: str = "") -> None:
        """Find additional definitions.

        Args:
          msg_paths: ``.msg`` or ``.idl`` files, packages, or folders of them.
          ros_distro: Whose standard types serve a bag without definitions; the newest by default.

        Raises:
          BagError: A path is missing or has no definitions.
        """
        self._ros_distro = ros_distro
        self._files = DefinitionFiles(msg_paths)
        self._parsed: dict[tuple[str, Definition, str], dict[str, Fielddefs]] = {}

    def types(
        self, msgtype: str, definition: Definition, *, serialization: str = "cdr"
    ) -> dict[str, Fielddefs]:
        """Return the fields of a type and of every type it uses.

        What the bag says comes first, then the files given, then ROS's standard types.

        Args:
          msgtype: The type's name.
          definition: What the bag says about it; may be empty.
          serialization: ``"ros1"`` chooses ROS 1's standard types, whose header differs.

        Raises:
          BagError: The type has no definition anywhere, its definition is malformed, or one from
            elsewhere is not that of the bag, which has its hash.
        """
        key = msgtype, definition, serialization
        if key not in self._parsed:
            self._parsed[key] = self._types(msgtype, definition, serialization)
        return self._parsed[key]

    def _types(
        self, msgtype: str, definition: Definition, serialization: str
    ) -> dict[str, Fielddefs]:
        known: Typesdict = {}
        if definition.language:
            known.update(_parse(definition.text, definition.language, msgtype, "the bag"))
        found: dict[str, Fielddefs] = {}
        pending = [msgtype]
        while pending:
            name = pending.pop()
            if name in found:
                continue
            if name not in known:
                known.update(self._given(name))
            if name not in known:
                standard = _standard_types(self._standard_store(serialization))
                if name not in standard:
                    raise self._undefined(name, msgtype)
                known[name] = standard[name]
            found[name] = known[name][1]
            pending += [used for _, kind in reversed(found[name]) for used in used_types(kind)]
        check_types(msgtype, found)
        if not definition.language and definition.digest.startswith("RIHS01"):
            self._check_version(msgtype, found, definition.digest)
        return found

    def _check_version(self, msgtype: str, types: dict[str, Fielddefs], digest: str) -> None:
        """Refuse a definition that is not the one that was recorded (REP 2011)."""
        if type_digest(msgtype, types) == digest:
            return
        file = self._files.find(msgtype)
        standard = f"ROS's own definition of {msgtype}"
        source = standard if file is None else f"the definition of {msgtype} in {file}"
        raise BagError(
            f"{source}, or of a type it uses, is not of the version that was recorded; give that "
            "one with --msg-path"
        )

    def _given(self, name: str) -> Typesdict:
        """Return the definition of a type in the files given, with what stands in the same file."""
        file = self._files.find(name)
        if file is None:
            return {}
        language, text = self._files.read(file)
        return _parse(text, language, name, str(file))

    def _undefined(self, name: str, msgtype: str) -> BagError:
        if not name:
            return BagError("the bag does not say of which type its messages are")
        user = "" if name == msgtype else f" (used by {msgtype})"
        kind = name.rpartition("/")[2]
        if kind in _NOT_SUPPORTED:
            return BagError(f"type {msgtype} uses {kind}, which is not supported")
        given = self._files.types
        also = f"; those given define {listed(given, 5)}" if given else ""
        return BagError(
            f"type {name}{user} has no definition: the bag carries none and it is not a "
            f"standard type; give its .msg or .idl file, or a folder, with --msg-path{also}"
        )

    def _standard_store(self, serialization: str) -> Stores:
        if serialization == "ros1":
            return Stores.ROS1_NOETIC
        return getattr(Stores, f"ROS2_{self._ros_distro.upper()}", Stores.LATEST)


@lru_cache
def _standard_types(store: Stores) -> Typesdict:
    """ROS's own types, which take a fifth of a second to load; most bags have definitions."""
    return get_typestore(store).fielddefs


def type_digest(msgtype: str, types: dict[str, Fielddefs]) -> str:
    """The RIHS01 hash of a type, as ROS 2 computes it from names and types of fields."""
    store = get_typestore(Stores.EMPTY)
    store.fielddefs.update({name: ([], _hashed(fields)) for name, fields in types.items()})
    return store.hash_rihs01(msgtype)


def _hashed(description: Any) -> Any:
    """A field list in which ``char`` is what IDL makes of it."""
    if isinstance(description, (tuple, list)):
        return type(description)(_hashed(part) for part in description)
    return "uint8" if description == "char" else description


def _parse(text: str, language: str, msgtype: str, source: str) -> Typesdict:
    if len(text) > LONGEST_TEXT:
        raise BagError(
            f"the definition of {msgtype} in {source} has {len(text)} characters; the limit is "
            f"{LONGEST_TEXT}"
        )
    try:
        return _parse_text(text, language, msgtype)
    except (TypesysError, *_UNPARSABLE) as error:
        raise BagError(f"the definition of {msgtype} in {source} is malformed") from error


@lru_cache(maxsize=32)
def _parse_text(text: str, language: str, msgtype: str) -> Typesdict:
    """The types in a definition; all bags of an experiment have the same few."""
    if language == "msg":
        return get_types_from_msg(text, msgtype)
    types: Typesdict = {}
    for part in filter(str.strip, text.split(_IDL_SEPARATOR)):
        head, _, body = part.partition("\n")
        code = body if head.startswith("IDL: ") else part
        code = _NO_CODE.sub(lambda match: '""' if match["text"] else " ", code)
        types.update(get_types_from_idl(_ANNOTATION.sub(" ", code)))
    return types


def used_types(description: Any) -> list[str]:
    """The message type that a field description names, if any."""
    while isinstance(description[1], tuple) and isinstance(description[1][0], tuple):
        description = description[1][0]  # an array's or a sequence's items
    return [description[1]] if isinstance(description[1], str) else []
