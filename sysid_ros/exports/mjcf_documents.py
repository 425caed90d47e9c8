# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An MJCF model over all its files, in which elements are found by name and edited."""

from __future__ import annotations

from pathlib import Path

from sysid_ros.errors import ModelError
from sysid_ros.files import read_regular
from sysid_ros.robots import Element, ModelText, XmlText

ACTUATOR_TAGS = (
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle",
    "adhesion", "dcmotor", "pid", "plugin",
)  # fmt: skip
_KINDS = {
    "joint": ("joint",),
    "body": ("body",),
    "geom": ("geom",),
    "pair": ("pair",),
    "site": ("site",),
    "tendon": ("spatial", "fixed"),
    "actuator": ACTUATOR_TAGS,
}
# Elements of the same tags stand for something else below these.
_ELSEWHERE = ("default", "equality", "sensor", "custom", "keyframe")


class MjcfDocuments:
    """The main file of a model and what it includes.

    Attributes:
      main: The main file.
      included: Other files by the path they were read from, in the order of their inclusion.
      includes: Every ``<include>`` with the file that it is in and the path that it names.
    """

    def __init__(self, source: ModelText) -> None:
        """Read all files.

        Raises:
          ModelError: One is missing or no well-formed XML.
        """
        self.main = XmlText(source.text)
        self.included: dict[Path, XmlText] = {}
        self.includes: list[tuple[XmlText, Element, Path]] = []
        self._folder = source.folder
        self._read_includes(self.main, source.folder)

    @property
    def all(self) -> list[XmlText]:
        """Every file, the main one first."""
        return [self.main, *self.included.values()]

    def find(self, kind: str, name: str) -> tuple[XmlText, Element]:
        """The file and the element that defines something.

        Args:
          kind: joint, body, geom, pair, site, tendon or actuator.
          name: Its name in the model.

        Raises:
          ModelError: No file writes it under that name.
        """
        for document in self.all:
            for element in document.root.descendants():
                named = element.tag in _KINDS[kind] and element.attributes.get("name") == name
                if named and not any(parent.tag in _ELSEWHERE for parent in element.ancestors()):
                    return document, element
        raise ModelError(
            f"no file of the model writes {kind} {name!r} under that name (attach and replicate "
            "make such names)"
        )

    def elements(self, tag: str) -> list[tuple[XmlText, Element]]:
        """All elements of a kind that stand directly under the root of a file."""
        return [(document, e) for document in self.all for e in document.root.named(tag)]

    def _read_includes(self, document: XmlText, folder: Path | None) -> None:
        for element in document.root.descendants():
            if element.tag != "include":
                continue
            path = self._located(element.attributes.get("file", ""), folder)
            self.includes.append((document, element, path))
            if path in self.included:
                continue
            try:
                self.included[path] = XmlText(read_regular(path))
            except OSError as error:
                raise ModelError(f"{path}, which the model includes, cannot be read") from error
            self._read_includes(self.included[path], path.parent)

    def _located(self, name: str, folder: Path | None) -> Path:
        """MuJoCo looks beside the main file first, then beside the file that includes."""
        if self._folder is None or folder is None:
            raise ModelError(f"the model includes {name!r}, but it is not a file itself")
        candidates = [self._folder / name, folder / name]
        return next((path for path in candidates if path.is_file()), candidates[0])
