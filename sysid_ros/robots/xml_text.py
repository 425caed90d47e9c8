# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""XML that is edited as text, so that everything nobody asked to change stays as it was written."""

from __future__ import annotations

import html
import re
import xml.parsers.expat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sysid_ros.errors import ModelError

_ATTRIBUTE = rb"(?P<space>\s+)(?P<name>%s)(?P<equals>\s*=\s*)(?P<value>\"[^\"]*\"|'[^']*')"


@dataclass(eq=False)
class Element:
    """One element and where its text lies, in bytes."""

    tag: str
    attributes: Mapping[str, str]
    parent: Element | None
    start: int  # of its "<"
    head_end: int  # behind the ">" of its start tag
    end: int = 0  # behind all of it
    children: list[Element] = field(default_factory=list)

    def descendants(self) -> Iterator[Element]:
        """The element itself and everything in it, in the order of the text."""
        yield self
        for child in self.children:
            yield from child.descendants()

    def ancestors(self) -> Iterator[Element]:
        """List the elements around this one, from the inside out."""
        element = self.parent
        while element is not None:
            yield element
            element = element.parent

    def named(self, tag: str) -> list[Element]:
        """Children of one kind."""
        return [child for child in self.children if child.tag == tag]


class XmlText:
    """An XML document with edits to be made.

    Edits are collected and made by :meth:`edited`; the elements keep describing the text as it
    was given.
    """

    def __init__(self, text: bytes) -> None:
        """Parse ``text``, UTF-8.

        Raises:
          ModelError: It is no well-formed XML.
        """
        self.text = text
        self.root = _parsed(text)
        self._heads: dict[Element, dict[str, str | None]] = {}
        self._tags: dict[Element, str] = {}
        self._pieces: list[tuple[int, int, bytes]] = []  # start, end, replacement

    def set(self, element: Element, name: str, value: str | None) -> None:
        """Give an attribute of ``element`` a value, or remove it (``None``)."""
        self._heads.setdefault(element, {})[name] = value

    def rename(self, element: Element, tag: str) -> None:
        """Turn ``element`` into one of another kind."""
        self._heads.setdefault(element, {})
        self._tags[element] = tag

    def insert_first(self, parent: Element, content: str) -> None:
        """Put a line with an element in front of the children of ``parent``."""
        if self._is_empty(parent):
            self._open(parent, content)
            return
        first = parent.children[0].start if parent.children else parent.end
        if b"\n" not in self.text[parent.head_end : first]:
            self._pieces.append((parent.head_end, parent.head_end, content.encode("utf-8")))
            return
        indent = self.indent(parent.children[0] if parent.children else parent)
        if not parent.children:
            indent += b"  "
        self._pieces.append(
            (parent.head_end, parent.head_end, b"\n" + indent + content.encode("utf-8"))
        )

    def insert_last(self, parent: Element, content: str) -> None:
        """Put lines behind the children of ``parent``."""
        if self._is_empty(parent):
            self._open(parent, content)
            return
        close = self.text.rindex(b"</", parent.start, parent.end)
        line = self.text.rfind(b"\n", 0, close) + 1
        if line <= parent.head_end or self.text[line:close].strip():
            # The end tag does not stand on a line of its own.
            self._pieces.append((close, close, content.encode("utf-8")))
            return
        inner = self.indent(parent) + b"  "
        lines = b"".join(inner + part.encode("utf-8") + b"\n" for part in content.splitlines())
        self._pieces.append((line, line, lines))

    def indent(self, element: Element) -> bytes:
        """The white space in front of ``element`` on its line."""
        line = self.text[self.text.rfind(b"\n", 0, element.start) + 1 : element.start]
        return line if not line.strip() else b""

    def edited(self) -> bytes:
        """The text with all edits made."""
        pieces = list(self._pieces)
        for element, attributes in self._heads.items():
            pieces.extend(self._head(element, attributes))
        # Insertions at one place keep their order; no two replacements overlap.
        pieces.sort(key=lambda piece: (piece[0], piece[1]))
        parts, position = [], 0
        for start, end, content in pieces:
            parts += [self.text[position:start], content]
            position = max(position, end)
        return b"".join([*parts, self.text[position:]])

    def _is_empty(self, element: Element) -> bool:
        return self.text[: element.head_end].endswith(b"/>")

    def _open(self, element: Element, content: str) -> None:
        """Turn ``<a/>`` into ``<a>...</a>``."""
        slash = self.text.rindex(b"/", element.start, element.head_end)
        indent = self.indent(element)
        tag = self._tags.get(element, element.tag).encode("utf-8")
        inner = b"".join(
            b"\n" + indent + b"  " + part.encode("utf-8") for part in content.splitlines()
        )
        self._pieces.append(
            (slash, element.head_end, b">" + inner + b"\n" + indent + b"</" + tag + b">")
        )

    def _head(
        self, element: Element, attributes: Mapping[str, str | None]
    ) -> Iterator[tuple[int, int, bytes]]:
        """The edits of one start tag, and of its end tag where it gets another name."""
        tag = element.tag.encode("utf-8")
        after_tag = element.start + 1 + len(tag)
        if element in self._tags:
            new = self._tags[element].encode("utf-8")
            yield element.start + 1, after_tag, new
            if not self._is_empty(element):
                close = self.text.rindex(b"</", element.start, element.end) + 2
                yield close, close + len(tag), new
        end = self._behind_attributes(element)
        for name, value in attributes.items():
            found = self._attribute(element, name)
            if value is None:
                if found is not None:
                    yield found.start(), found.end(), b""
                continue
            text = html.escape(value, quote=False).replace('"', "&quot;")
            quoted = b'"' + text.encode("utf-8") + b'"'
            if found is not None:
                yield found.start("value"), found.end("value"), quoted
            else:
                yield end, end, b" " + name.encode("utf-8") + b"=" + quoted

    def _attribute(self, element: Element, name: str) -> re.Match[bytes] | None:
        if name not in element.attributes:
            return None
        pattern = re.compile(_ATTRIBUTE % re.escape(name.encode("utf-8")))
        # Quoted values are skipped, so that a name within one is not taken for an attribute.
        position = element.start + 1 + len(element.tag.encode("utf-8"))
        while position < element.head_end:
            found = pattern.match(self.text, position, element.head_end)
            if found is not None:
                return found
            other = _ANY_ATTRIBUTE.match(self.text, position, element.head_end)
            if other is None:
                return None
            position = other.end()
        return None

    def _behind_attributes(self, element: Element) -> int:
        position = element.start + 1 + len(element.tag.encode("utf-8"))
        while (other := _ANY_ATTRIBUTE.match(self.text, position, element.head_end)) is not None:
            position = other.end()
        return position


_ANY_ATTRIBUTE = re.compile(_ATTRIBUTE % rb"[^\s=/>]+")


def _parsed(text: bytes) -> Element:
    roots: list[Element] = []
    open_elements: list[Element] = []
    parser = xml.parsers.expat.ParserCreate()

    def begin(tag: str, attributes: dict[str, str]) -> None:
        parent = open_elements[-1] if open_elements else None
        start = parser.CurrentByteIndex
        element = Element(tag, attributes, parent, start, _end_of_head(text, start))
        (parent.children if parent else roots).append(element)
        open_elements.append(element)

    def finish(tag: str) -> None:
        element = open_elements.pop()
        empty = text[: element.head_end].endswith(b"/>")
        element.end = element.head_end if empty else text.index(b">", parser.CurrentByteIndex) + 1

    parser.StartElementHandler = begin
    parser.EndElementHandler = finish
    try:
        parser.Parse(text, True)
    except xml.parsers.expat.ExpatError as error:
        raise ModelError(f"the model is no well-formed XML: {error}") from error
    return roots[0]


def _end_of_head(text: bytes, start: int) -> int:
    """Behind the ">" that ends the tag at ``start``; one in a quoted value does not."""
    quote = 0
    for position in range(start, len(text)):
        byte = text[position]
        if quote:
            quote = 0 if byte == quote else quote
        elif byte in b"\"'":
            quote = byte
        elif byte == 0x3E:
            return position + 1
    return len(text)


def number(value: float) -> str:
    """The shortest text that reads back as exactly ``value``, whole numbers without a point."""
    text = repr(float(value))
    return text.removesuffix(".0") if "e" not in text else text


def numbers(values: npt.ArrayLike) -> str:
    """Several of them, as XML attributes hold them."""
    return " ".join(number(value) for value in np.atleast_1d(values))
