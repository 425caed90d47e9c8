# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parsing XML that a stranger wrote: without entities, which can grow without bounds."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import xml.parsers.expat

_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_UNDECLARED = xml.parsers.expat.errors.codes["unbound prefix"]
_START = re.compile(r"(<[A-Za-z_][^\s/>]*)[^>]*>")  # the first tag
_PREFIX = re.compile(r"[<\s]/?([A-Za-z_][\w.-]*):[A-Za-z_]")
_DECLARED = re.compile(r"xmlns:([\w.-]+)\s*=")
_DEEPEST = 500  # levels; neither robots nor packages are nested like that


class EntityError(ET.ParseError):
    """The text declares entities."""

    def __init__(self) -> None:
        super().__init__("it declares entities (<!ENTITY ...>), which are not read")


def parsed_xml(text: str | bytes) -> ET.Element:
    """Parse a text; only of bytes does the encoding that they declare count.

    Raises:
      ET.ParseError: It is not well-formed, declares entities or an encoding that there is not, or
        is nested too deeply.
    """
    content = text.encode() if isinstance(text, str) else text
    if _ENTITY.search(content):
        raise EntityError
    if b"\0" in content[:64]:  # UTF-16, in which the search above finds nothing
        raise ET.ParseError("it is not in UTF-8")
    try:
        root = _parsed(text)
    except LookupError as error:
        raise ET.ParseError(str(error)) from None
    _check_depth(root)
    return root


def _parsed(text: str | bytes) -> ET.Element:
    """The root of a text, whose prefixes need not be declared, as Gazebo's often are not."""
    try:
        return ET.fromstring(text)  # noqa: S314
    except ET.ParseError as error:
        if error.code != _UNDECLARED:
            raise
    content = text if isinstance(text, str) else text.decode("latin-1")
    root = _START.search(content)
    if root is None:
        return ET.fromstring(text)  # noqa: S314
    prefixes = {*_PREFIX.findall(content)} - {"xml", "xmlns", *_DECLARED.findall(root[0])}
    added = "".join(f' xmlns:{prefix}="{prefix}"' for prefix in sorted(prefixes))
    whole = content[: root.end(1)] + added + content[root.end(1) :]
    return ET.fromstring(whole if isinstance(text, str) else whole.encode("latin-1"))  # noqa: S314


def _check_depth(root: ET.Element) -> None:
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise ET.ParseError(f"it is nested more than {_DEEPEST} levels deep")
        level = [child for element in level for child in element]
