# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""YAML of plain data as text, keys in the order they were given."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

ONE_LINE = 2**30  # characters: lists of numbers are lines, however long
_UNICODE_LINE_BREAKS = frozenset("\x85\u2028\u2029")


def yaml_text(document: Any, *, width: int = ONE_LINE) -> str:
    """Return a document as YAML, collections of plain values on a line each.

    Args:
      document: Made of dict, list, str, int, float, bool and ``None``.
      width: Characters after which such a line is broken.
    """
    return _dumped(document, default_flow_style=None, width=width)


def yaml_line(value: Any) -> str:
    """Return plain values as YAML on one line, which reads back as the same."""
    text = _dumped(value, default_flow_style=True, width=ONE_LINE)
    return text.removesuffix("...\n").strip("\n")


def _dumped(document: Any, **style: Any) -> str:
    import yaml  # here, as the library hardly ever writes any

    text: str = yaml.dump(document, Dumper=_dumper(), sort_keys=False, allow_unicode=True, **style)
    return text


@lru_cache
def _dumper() -> Any:
    """PyYAML's, but text reads back as it was where it has line breaks beyond ASCII's."""
    import yaml

    # libyaml, where it is there, is ten times as fast on a covariance of a hundred parameters.
    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        def represent_str(self, text: str) -> yaml.ScalarNode:
            """Represent text; PyYAML writes those breaks bare, and they are read as spaces."""
            style = None if _UNICODE_LINE_BREAKS.isdisjoint(text) else '"'
            node: yaml.ScalarNode = self.represent_scalar(
                "tag:yaml.org,2002:str", text, style=style
            )
            return node

    Dumper.add_representer(str, Dumper.represent_str)
    return Dumper
