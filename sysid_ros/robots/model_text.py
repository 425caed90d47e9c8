# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model as its author wrote it: the text, and where its files lie."""

from __future__ import annotations

import hashlib
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from sysid_ros.errors import ModelError
from sysid_ros.files import parsed_xml, read_regular


@dataclass(frozen=True)
class ModelText:
    """A model file's text.

    Attributes:
      name: The file's path or the topic it came from, for messages.
      text: The XML as it was written.
      folder: Where the file lies; ``None`` for a text that came from elsewhere.
    """

    name: str
    text: bytes
    folder: Path | None = None

    @classmethod
    def from_file(cls, path: Path) -> ModelText:
        """Read a model file.

        Raises:
          ModelError: It cannot be read.
        """
        try:
            return cls(str(path), read_regular(path), path.absolute().parent)
        except OSError as error:
            raise ModelError(f"model {path} cannot be read: {error.strerror}") from error

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text).hexdigest()

    @property
    def is_urdf(self) -> bool:
        """True if the text is URDF; MJCF, or no well-formed XML, otherwise."""
        try:
            return bool(parsed_xml(self.text.decode(errors="replace")).tag == "robot")
        except ET.ParseError:
            return False
