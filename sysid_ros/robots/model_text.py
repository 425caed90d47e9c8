# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model as its author wrote it: the text, and where its files lie."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from sysid_ros.errors import ModelError
from sysid_ros.files import check_utf8, parsed_xml, read_regular

_ENCODING = re.compile(rb"""^(\s*<\?xml[^>]*?encoding\s*=\s*["'])([A-Za-z0-9._-]+)""")


@dataclass(frozen=True)
class ModelText:
    """A model file's text."""

    name: str  # the file's path or the topic it came from, for messages
    text: bytes  # the XML as it was written, in UTF-8
    folder: Path | None = None  # where the file lies; ``None`` for a text that came from elsewhere

    @classmethod
    def from_file(cls, path: Path) -> ModelText:
        """Read a model file.

        Raises:
          ModelError: It cannot be read, or not in the encoding that it declares.
        """
        try:
            check_utf8(path)
            return cls(str(path), _in_utf8(read_regular(path)), path.absolute().parent)
        except OSError as error:
            raise ModelError(f"model {path} cannot be read: {error.strerror}") from error
        except (LookupError, UnicodeDecodeError) as error:
            raise ModelError(f"model {path} cannot be read as it declares: {error}") from None
        except UnicodeError as error:
            raise ModelError(f"model {path} cannot be read: {error}") from None

    @classmethod
    def from_topic(cls, name: str, text: str) -> ModelText:
        """A text that came as a message, which is in UTF-8 whatever it declares to be in."""
        return cls(name, _ENCODING.sub(rb"\1UTF-8", text.encode(), count=1))

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


def _in_utf8(text: bytes) -> bytes:
    """An XML text in the encoding that all else expects, whatever it declares to be in."""
    declared = _ENCODING.match(text)
    if declared is None:
        return text
    rest = text[declared.end() :].decode(declared[2].decode())
    return declared[1] + b"UTF-8" + rest.encode()
