# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""ROS packages as folders of this machine: what ``package://`` stands for."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sysid_ros.errors import ExperimentError
from sysid_ros.files import parsed_xml, read_regular

PACKAGE = "package://"
_MANIFEST = "package.xml"
_DEEPEST = 6  # levels of a workspace that are searched for packages
_BUILT = ("build", "log", "node_modules")  # folders that hold no sources of packages
_NEIGHBOURHOOD = 6  # folders above a file in which packages beside it are looked for
_FIND = re.compile(r"\$\(find ([\w-]+)\)/?")  # xacro's spelling, left behind in some files


@dataclass(frozen=True)
class Packages:
    """The places to look for packages: folders given, sourced installations, neighbours."""

    # folder by package name, from ``package_path``
    given: Mapping[str, Path] = field(default_factory=dict)
    # folders that hold ``share/PACKAGE``: those given, then the sourced ones
    prefixes: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()  # folders that hold ``PACKAGE`` itself
    neighbours: tuple[Path, ...] = ()  # folders beside or above which packages may lie

    @classmethod
    def of(cls, paths: Iterable[Path] = (), *, neighbours: Iterable[Path | None] = ()) -> Packages:
        """Look into the folders given and the environment.

        Args:
          paths: Packages, folders or workspaces of packages, or installation prefixes.
          neighbours: Folders beside or above which packages may lie.

        Raises:
          ExperimentError: A path is no folder.
        """
        paths = [Path(path).expanduser().absolute() for path in paths]
        for path in paths:
            if not path.is_dir():
                raise ExperimentError(f"package path {path}: there is no such folder")
        given: dict[str, Path] = {}
        for path in paths:
            for name, folder in _packages_below(path):
                given.setdefault(name, folder)
        return cls(
            given,
            (*paths, *_environment("AMENT_PREFIX_PATH")),
            (*paths, *_environment("ROS_PACKAGE_PATH")),
            tuple(folder.absolute() for folder in neighbours if folder is not None),
        )

    def near(self, folder: Path) -> Packages:
        """The same, and also the neighbours of a folder."""
        neighbours = (folder.absolute(), *self.neighbours)
        return Packages(self.given, self.prefixes, self.sources, neighbours)

    def candidates(self, uri: str) -> list[Path]:
        """Every place where a ``package://PACKAGE/PATH`` may be, best first."""
        package, _, rest = uri.removeprefix(PACKAGE).lstrip("/").partition("/")
        roots = [self.given[package]] if package in self.given else []
        roots += [prefix / "share" / package for prefix in self.prefixes]
        for folder in self.sources:
            roots += [folder] if folder.name == package else []
            roots.append(folder / package)
        for neighbour in self.neighbours:
            for folder in (neighbour, *neighbour.parents[: _NEIGHBOURHOOD - 1]):
                named = package in (folder.name, _name_of(folder))
                roots += [folder] if named else []
                roots.append(folder / package)
        return [root / rest for root in dict.fromkeys(roots)]


def as_uri(path: str) -> str:
    """Spell a path into a package as a URI: ``$(find p)/x`` and ``model://p/x`` too."""
    found = _FIND.match(path)
    if found:
        return f"{PACKAGE}{found[1]}/{path[found.end() :]}"
    return PACKAGE + path.removeprefix("model://") if path.startswith("model://") else path


def _environment(name: str) -> list[Path]:
    return [Path(part) for part in os.environ.get(name, "").split(os.pathsep) if part]


def _packages_below(top: Path) -> Iterator[tuple[str, Path]]:
    """Names and folders of the packages in a folder, at any reasonable depth."""
    seen: set[Path] = set()  # workspaces may have links to packages, and links may go in circles
    level = [top]
    for _ in range(_DEEPEST):
        fresh = {folder.resolve(): folder for folder in reversed(level)}
        level = [folder for real, folder in sorted(fresh.items()) if real not in seen]
        seen |= fresh.keys()
        for folder in level:
            name = _name_of(folder)
            if name is not None:
                yield name, folder
        level = [below for folder in level for below in _folders_in(folder)]


def _folders_in(folder: Path) -> list[Path]:
    try:
        entries = [entry for entry in sorted(folder.iterdir()) if entry.is_dir()]
    except OSError:  # not ours to read
        return []
    return [one for one in entries if not one.name.startswith(".") and one.name not in _BUILT]


def _name_of(folder: Path) -> str | None:
    """The name in a folder's ``package.xml``, where there is one."""
    try:
        root = parsed_xml(read_regular(folder / _MANIFEST))
    except (OSError, ET.ParseError):
        return None
    return (root.findtext("name") or "").strip() or None
