"""Message definitions: from the bag itself, from ``--msg-path``, or ROS's own types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosbags.typesys import (
    Stores,
    TypesysError,
    get_types_from_idl,
    get_types_from_msg,
    get_typestore,
)

from sysid_ros.errors import BagError
from sysid_ros.recording.storage import Definition

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs, Typesdict

_IDL_SEPARATOR = "=" * 80 + "\n"


class Definitions:
    """The field lists of the message types of one bag, parsed when first asked for."""

    def __init__(self, msg_paths: Sequence[Path] = (), *, ros_distro: str = "") -> None:
        """Read additional definitions.

        Args:
          msg_paths: ``.msg`` files, or folders that contain them as ``PACKAGE/msg/TYPE.msg``.
          ros_distro: Whose standard types serve a bag without definitions; the newest by default.

        Raises:
          BagError: A path is missing or a definition is malformed.
        """
        self._ros_distro = ros_distro
        self._added: Typesdict = {}
        for path in msg_paths:
            for file in _msg_files(Path(path)):
                self._added.update(_parse(file.read_text(), "msg", _type_of(file), str(file)))

    def types(
        self, msgtype: str, definition: Definition, *, serialization: str = "cdr"
    ) -> dict[str, Fielddefs]:
        """Return the fields of a type and of every type it uses.

        Args:
          msgtype: The type's name.
          definition: What the bag says about it; may be empty.
          serialization: ``"ros1"`` chooses ROS 1's standard types, whose header differs.

        Raises:
          BagError: The type has no definition anywhere, or the bag's is malformed.
        """
        known: Typesdict = dict(get_typestore(self._standard_store(serialization)).fielddefs)
        known.update(self._added)
        if definition.language:
            known.update(_parse(definition.text, definition.language, msgtype, "the bag"))
        fields = {name: fielddefs for name, (_, fielddefs) in known.items()}
        missing = _first_undefined(msgtype, fields)
        if missing is not None:
            user = "" if missing == msgtype else f" (used by {msgtype})"
            raise BagError(
                f"type {missing}{user} has no definition: the bag carries none and it is not a "
                "standard type; give its .msg file or folder with --msg-path"
            )
        return fields

    def _standard_store(self, serialization: str) -> Stores:
        if serialization == "ros1":
            return Stores.ROS1_NOETIC
        return getattr(Stores, f"ROS2_{self._ros_distro.upper()}", Stores.LATEST)


def _msg_files(path: Path) -> list[Path]:
    if not path.exists():
        raise BagError(f"message path {path} does not exist")
    files = [path] if path.is_file() else sorted(path.rglob("*.msg"))
    if not files:
        raise BagError(f"message path {path} holds no .msg files")
    return files


def _type_of(file: Path) -> str:
    """Name the type of ``PACKAGE/msg/TYPE.msg`` (or ``PACKAGE/TYPE.msg``)."""
    folder = file.resolve().parent
    package = folder.parent if folder.name == "msg" else folder
    return f"{package.name}/msg/{file.stem}"


def _parse(text: str, language: str, msgtype: str, source: str) -> Typesdict:
    try:
        if language == "msg":
            return get_types_from_msg(text, msgtype)
        types: Typesdict = {}
        for part in text.split(_IDL_SEPARATOR):
            head, _, body = part.partition("\n")
            types.update(get_types_from_idl(body if head.startswith("IDL: ") else part))
        return types
    except TypesysError as error:
        first = str(error).splitlines()[0]
        raise BagError(f"the definition of {msgtype} in {source} is malformed: {first}") from error


def _first_undefined(msgtype: str, fields: dict[str, Fielddefs]) -> str | None:
    """Return the first type, depth first, that is used but not defined."""
    visited: set[str] = set()
    pending = [msgtype]
    while pending:
        name = pending.pop()
        if name in visited:
            continue
        if name not in fields:
            return name
        visited.add(name)
        for _, description in fields[name]:
            pending.extend(_used_types(description))
    return None


def _used_types(description: Any) -> list[str]:
    """Return the message type that a field description names, if any."""
    while isinstance(description[1], tuple) and isinstance(description[1][0], tuple):
        description = description[1][0]  # an array's or a sequence's items
    return [description[1]] if isinstance(description[1], str) else []
