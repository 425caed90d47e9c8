# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""YAML text as a tree of plain values that know where they stand.

Only what an experiment file needs is accepted: mappings with text keys, lists, text, numbers,
true, false and null. PyYAML's composer does the parsing, so nothing is ever constructed from tags.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Union

import yaml

from sysid_ros.errors import ExperimentError
from sysid_ros.experiment.problems import Place, Problems

# Far above any sensible experiment; they bound the time and memory that a hostile file can take.
_MAX_CHARACTERS = 150_000
_MAX_VALUES = 20_000
_MAX_DEPTH = 20

_TAG = "tag:yaml.org,2002:"
_SCALARS = {_TAG + name for name in ("null", "bool", "int", "float")}
_TEXTS = {_TAG + name for name in ("str", "timestamp", "value")}
# YAML 1.1 reads 010 as 8 (octal) and 1:30 as 90 (sixties), which nobody who writes it means.
_OCTAL = re.compile(r"[-+]?0[0-7_]+")
# YAML 1.1 takes 1e-3 for text, as its floats need a dot; nobody who writes it means text.
_EXPONENT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")

_quick_loader: Any = None
if yaml.__with_libyaml__:

    class _QuickLoader(yaml.composer.Composer, yaml.CSafeLoader):  # type: ignore[misc, unused-ignore]
        """Events of libyaml, in a fifth of the time; its own composer overruns the stack."""

        def __init__(self, stream: str) -> None:
            yaml.CSafeLoader.__init__(self, stream)
            yaml.composer.Composer.__init__(self)

    _quick_loader = _QuickLoader


Content = Union[None, bool, int, float, str, "list[Value]", "dict[str, Value]"]


@dataclass(frozen=True)
class Value:
    """A YAML value, where it stands, and for scalars how it was written."""

    content: Content
    place: Place
    raw: str = ""
    quoted: bool = False

    def number(self) -> int | float | None:
        """The number that is written here, ``None`` for anything else."""
        content = self.content
        if isinstance(content, str) and not self.quoted and _EXPONENT.fullmatch(content):
            return float(content)
        if isinstance(content, bool) or not isinstance(content, (int, float)):
            return None
        return content

    def shown(self) -> str:
        """Return the value as messages quote it."""
        if self.content is None:
            return "nothing"
        if isinstance(self.content, dict):
            return "a mapping"
        if isinstance(self.content, list):
            return "a list"
        if isinstance(self.content, str):
            return repr(_shortened(self.content))
        return _shortened(self.raw)


def parse_yaml(text: str, source: str, *, numbered: bool = True) -> Value:
    """Parse one YAML document.

    Args:
      text: The document.
      source: What messages call it, usually the file's path.
      numbered: Whether places have a line; for text that is no file, they need none.

    Returns:
      The tree; its root's place is the first line.

    Raises:
      ExperimentError: Not YAML, empty, too large, or beyond the subset described above.
    """
    places = _Places(source, numbered)
    if len(text) > _MAX_CHARACTERS:
        raise ExperimentError(
            f"{source}: {len(text)} characters; an experiment file has at most {_MAX_CHARACTERS}"
        )
    root = _compose(text, places)
    if root is None:
        raise ExperimentError(f"{places.at(0)}: the file is empty")
    problems = Problems()
    value = _Builder(places, problems).build(root, places.at(0), depth=0)
    problems.raise_if_any()
    return value


@dataclass(frozen=True)
class _Places:
    source: str
    numbered: bool

    def at(self, line: int) -> Place:
        """The place in a line, counted from 0 as PyYAML does."""
        return Place(self.source, line + 1 if self.numbered else None)


def _compose(text: str, places: _Places) -> yaml.Node | None:
    """PyYAML's node graph, its errors translated."""
    if _quick_loader is not None and "\t" not in text:  # which libyaml takes for some spaces
        # PyYAML's own parser says more of the same.
        with suppress(yaml.YAMLError, UnicodeError, RecursionError):
            node: yaml.Node | None = yaml.compose(text, Loader=_quick_loader)
            return node
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = places.at(mark.line) if mark else Place(places.source)
        problem = error.problem or "malformed"
        if "'\\t'" in problem:
            problem = "a tab indents this line; YAML allows spaces only"
        elif isinstance(error, yaml.composer.ComposerError) and "document" in (error.context or ""):
            problem = "a second document starts here; an experiment file has one"
        raise ExperimentError(f"{place}: not valid YAML: {problem}") from error
    except yaml.reader.ReaderError as error:
        place = places.at(text.count("\n", 0, error.position))
        character = repr(text[error.position])
        raise ExperimentError(
            f"{place}: not valid YAML: the character {character} is not allowed"
        ) from error
    except RecursionError as error:
        raise ExperimentError(f"{places.source}: nested too deeply") from error


class _Builder:
    """Turns nodes into values, counting them: aliases make a graph exponentially large."""

    def __init__(self, places: _Places, problems: Problems) -> None:
        self._places = places
        self._problems = problems
        self._count = 0

    def build(self, node: yaml.Node, place: Place, depth: int) -> Value:
        """The value of ``node``, which messages place at ``place``."""
        self._count += 1
        if self._count > _MAX_VALUES:
            raise ExperimentError(f"{place}: more than {_MAX_VALUES} values (aliases expanded)")
        if depth > _MAX_DEPTH:
            raise ExperimentError(f"{place}: nested more than {_MAX_DEPTH} levels deep")
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return Value(self._mapping(node, depth), place)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            items = [self.build(item, self._place(item), depth + 1) for item in node.value]
            return Value(items, place)
        if isinstance(node, yaml.ScalarNode):
            quoted = bool(node.style)
            return Value(self._scalar(node, place), place, node.value, quoted)
        self._problems.add(place, f"the tag {_tag_name(node)} is not allowed here")
        return Value(None, place)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Value]:
        """Keys must be text and unique; each value is placed at its key's line."""
        entries: dict[str, Value] = {}
        for key_node, value_node in node.value:
            place = self._place(key_node)
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str) or key_node.tag != _TAG + "str":
                shown = key if isinstance(key, str) else "a collection"
                merges = key_node.tag == _TAG + "merge"
                remedy = "merging is not read, write the keys out" if merges else "put it in quotes"
                self._problems.add(place, f"the key {shown} is not text; {remedy}")
            elif key in entries:
                first = entries[key].place.line
                self._problems.add(place, f"the key {key!r} is there already, in line {first}")
            else:
                entries[key] = self.build(value_node, place, depth + 1)
        return entries

    def _scalar(self, node: yaml.ScalarNode, place: Place) -> Content:
        if node.tag in _TEXTS:
            text: str = node.value
            return text
        if node.tag in _SCALARS:
            try:
                content = _constructed(node)
            except (ValueError, KeyError, OverflowError, AttributeError):
                kind = node.tag[len(_TAG) :]
                self._problems.add(place, f"{_shortened(node.value)!r} is not a valid {kind}")
                return None
            self._refuse_odd_number(node.value, content, place)
            return content
        self._problems.add(place, f"the tag {_tag_name(node)} is not allowed here")
        return None

    def _refuse_odd_number(self, written: str, content: Content, place: Place) -> None:
        """Refuse a number that YAML reads otherwise than people do."""
        octal = _OCTAL.fullmatch(written) and int(written.replace("_", "")) != content
        if octal or ":" in written:
            remedy, shown = "leading zeros" if octal else "a colon", _shortened(written)
            self._problems.add(
                place,
                f"YAML reads {shown} as {content}; write a number without {remedy}, text in quotes",
            )

    def _place(self, node: yaml.Node) -> Place:
        return self._places.at(node.start_mark.line)


def _constructed(node: yaml.ScalarNode) -> bool | int | float | None:
    scalar: bool | int | float | None = yaml.constructor.SafeConstructor().construct_object(node)
    return scalar


def _tag_name(node: yaml.Node) -> str:
    return str(node.tag).replace(_TAG, "!!")


def _shortened(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."


def without_places(value: Value) -> Any:
    """A tree as plain dictionaries, lists and scalars."""
    content = value.content
    if isinstance(content, dict):
        return {key: without_places(entry) for key, entry in content.items()}
    if isinstance(content, list):
        return [without_places(entry) for entry in content]
    return content
