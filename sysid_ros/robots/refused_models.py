# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Refusing models before MuJoCo opens them: those without bounds, and files that are none.

A line of ``<replicate>`` can ask for a million bodies, and a mesh can be a pipe that never ends.
MuJoCo does not stop; so the text is looked through first, with all that it includes.
"""

from __future__ import annotations

import math
import re
import xml.parsers.expat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sysid_ros.errors import ModelError
from sysid_ros.files import check_regular, read_regular

MOST_ELEMENTS = 6_000  # of a model, replicated ones included; MuJoCo takes seconds for as many
_DEEPEST = 500  # levels of nesting, and links one behind the other
_LARGEST_TEXT = 64 << 20  # bytes
_REPEATING = ("replicate", "composite", "flexcomp")
_COUNT = re.compile(rb"""count\s*=\s*["']([^"']*)["']""")
_SIDES = ("right", "left", "up", "down", "front", "back")
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_FILES = ("file", "filename", *(f"file{side}" for side in _SIDES))


def check_sizes(text: bytes, source: str, folders: Sequence[Path]) -> None:
    """Refuse a model that no computer can hold, that is no XML, and files that are not regular.

    What is malformed otherwise is left to MuJoCo, whose messages say more.

    Raises:
      ModelError: It is such a model.
    """
    begun = text.lstrip(b"\xef\xbb\xbf \t\r\n")[:40].splitlines()
    if begun and not begun[0].startswith(b"<") and b"\0" not in text:  # nor an archive
        first = begun[0].decode(errors="replace")
        raise ModelError(
            f"the model from {source} is no XML, it begins with {first!r}; "
            "valid: MJCF (<mujoco>) or URDF (<robot>)"
        )
    total = _Total(source, folders)
    total.add(text, 1)


class _Total:
    """The number of elements of a model, over all its files."""

    def __init__(self, source: str, folders: Sequence[Path]) -> None:
        self._source = source
        self._folders = tuple(folders)
        self._elements = 0
        self._read: set[Path] = set()

    def add(self, text: bytes, times: int) -> None:
        """Count the elements of one file that is included so many times."""
        if len(text) > _LARGEST_TEXT:
            raise self._refused(f"has {len(text)} bytes; the limit is {_LARGEST_TEXT}")
        if re.search(rb"<!ENTITY", text, re.IGNORECASE):
            raise self._refused("declares entities (<!ENTITY ...>), which are not read")
        subfolders = [""]
        named: list[tuple[str, str, int]] = []
        ends: list[str] = []  # parent and child of each joint of a URDF in turn
        try:
            for tag, attributes, depth, repeated in _elements(text):
                self._elements += times * repeated
                if self._elements > MOST_ELEMENTS:
                    raise self._refused(f"has more than {MOST_ELEMENTS} elements once expanded")
                if depth > _DEEPEST:
                    raise self._refused(f"is nested more than {_DEEPEST} levels deep")
                if tag in ("parent", "child") and "link" in attributes:
                    ends.append(attributes["link"])
                if tag == "compiler":
                    subfolders += [attributes[name] for name in _FOLDERS if name in attributes]
                named += [
                    (tag, attributes[name], repeated) for name in _FILES if name in attributes
                ]
        except xml.parsers.expat.ExpatError:
            counts = [_product(count.decode(errors="replace")) for count in _COUNT.findall(text)]
            if times * math.prod(counts) > MOST_ELEMENTS:
                raise self._refused("is malformed and repeats without bounds") from None
        if _longest_chain(dict(zip(ends[1::2], ends[::2], strict=False))) > _DEEPEST:
            raise self._refused(f"has more than {_DEEPEST} links one behind the other")
        for tag, name, repeated in named:
            self._check_file(tag, name, subfolders, times * repeated)

    def _check_file(self, tag: str, name: str, subfolders: Sequence[str], times: int) -> None:
        for path in {top / part / name for top in self._folders for part in subfolders}:
            try:
                if not path.exists():
                    continue
                check_regular(path)
                if tag in ("include", "model") and path not in self._read:
                    self._read.add(path)
                    self.add(read_regular(path), times)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                why = f"names {path.name!r}, which cannot be read: {reason}"
                raise self._refused(why) from error

    def _refused(self, why: str) -> ModelError:
        return ModelError(f"the model from {self._source} {why}")


def _elements(text: bytes) -> Iterator[tuple[str, Mapping[str, str], int, int]]:
    """Yield each element's tag, attributes, depth, and how often it is there."""
    found: list[tuple[str, Mapping[str, str], int, int]] = []
    repeated = [1]
    parser = xml.parsers.expat.ParserCreate()

    def begin(tag: str, attributes: dict[str, str]) -> None:
        times = repeated[-1]
        if tag in _REPEATING:
            times *= _product(attributes.get("count", "1"))
        repeated.append(times)
        found.append((tag, attributes, len(repeated), times))

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _tag: repeated.pop()
    for start in range(0, len(text), 1 << 16):
        parser.Parse(text[start : start + (1 << 16)], False)
        yield from found
        found.clear()
    parser.Parse(b"", True)
    yield from found


def _longest_chain(parents: Mapping[str, str]) -> int:
    """The most links from one to the root, given each link's parent; MuJoCo refuses loops."""
    depths: dict[str, int] = {}
    for link in parents:
        path: dict[str, None] = {}
        above = link
        while above in parents and above not in depths and above not in path:
            path[above] = None
            above = parents[above]
        base = depths.get(above, 0)
        for number, passed in enumerate(reversed(path), start=1):
            depths[passed] = base + number
    return max(depths.values(), default=0)


def _product(counts: str) -> int:
    """The product of a ``count`` of one to three numbers; anything else counts once."""
    product = 1
    for word in counts.split()[:3]:
        try:
            product *= max(1, int(float(word)))
        except (ValueError, OverflowError):
            continue
    return product
