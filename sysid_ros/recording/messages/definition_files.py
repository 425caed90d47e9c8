# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Message definitions in files: ``--msg-path``."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from sysid_ros.errors import BagError
from sysid_ros.files import parsed_xml, read_regular, read_regular_text

_LANGUAGES = {".msg": "msg", ".idl": "idl"}  # the first one wins where there are both
_KINDS = ("msg", "srv", "action")  # folders of a package
_MANIFEST = "package.xml"


class DefinitionFiles:
    """The files that define types, found when opened and read when asked for.

    A file in ``PACKAGE/msg`` defines a type of that package; the package is called by its
    ``package.xml`` or else its folder. Any other file defines the type of its name in whichever
    package asks for it.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        """Look for files.

        Args:
          paths: Files, or folders that contain them at any depth.

        Raises:
          BagError: A path does not exist or has no definitions.
        """
        self._of_packages: dict[str, Path] = {}
        self._loose: dict[str, list[Path]] = {}
        for path in paths:
            for file in _files_in(Path(path).expanduser()):
                package = _package_of(file)
                if package is None:
                    self._loose.setdefault(file.stem, []).append(file)
                else:
                    self._of_packages.setdefault(f"{package}/msg/{file.stem}", file)

    def find(self, msgtype: str) -> Path | None:
        """The file that defines a type, ``None`` if there is none.

        Raises:
          BagError: Several files could define it, and they differ.
        """
        package, _, rest = msgtype.partition("/")
        name = rest.rpartition("/")[2]
        known = self._of_packages.get(f"{package}/msg/{name}")
        if known is not None:
            return known
        loose = self._loose.get(name, [])
        if len({read_regular(file) for file in loose if file.suffix == loose[0].suffix}) > 1:
            listed = ", ".join(map(str, loose))
            raise BagError(f"type {msgtype} could be any of {listed}; give one of them")
        return loose[0] if loose else None

    @property
    def types(self) -> tuple[str, ...]:
        """The types that packages define, for messages."""
        return tuple(self._of_packages)

    @staticmethod
    def read(file: Path) -> tuple[str, str]:
        """Language and text of a file.

        Raises:
          BagError: It cannot be read.
        """
        try:
            return _LANGUAGES[file.suffix], read_regular_text(file)
        except (OSError, UnicodeDecodeError) as error:
            raise BagError(f"{file} cannot be read: {error}") from error


def _files_in(path: Path) -> list[Path]:
    if not path.exists():
        raise BagError(f"message path {path} does not exist")
    if path.is_file():
        if path.suffix not in _LANGUAGES:
            raise BagError(f"message path {path} is neither a folder nor a .msg or .idl file")
        return [path]
    files = [file for suffix in _LANGUAGES for file in sorted(path.rglob(f"*{suffix}"))]
    if not files:
        raise BagError(f"message path {path} holds no .msg or .idl files")
    return files


def _package_of(file: Path) -> str | None:
    """The package that a file lies in, as ROS packages are laid out."""
    folder = file.absolute().parent
    if folder.name not in _KINDS:
        return None
    try:
        root = parsed_xml(read_regular(folder.parent / _MANIFEST))
    except (OSError, ET.ParseError):
        return folder.parent.name
    return (root.findtext("name") or "").strip() or folder.parent.name
