# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""YAML of plain data as text, keys in the order they were given."""

from __future__ import annotations

from typing import Any

import yaml

ONE_LINE = 2**30  # characters: lists of numbers are lines, however long
_UNICODE_LINE_BREAKS = frozenset("\x85\u2028\u2029")


# libyaml, where it is there, is ten times as fast on a covariance of a hundred parameters.
class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """PyYAML's, but text reads back as it was where it has line breaks beyond ASCII's."""

    def represent_str(self, text: str) -> yaml.ScalarNode:
        """Represent text; PyYAML writes those breaks bare, and they are read as spaces."""
        style = None if _UNICODE_LINE_BREAKS.isdisjoint(text) else '"'
        node: yaml.ScalarNode = self.represent_scalar("tag:yaml.org,2002:str", text, style=style)
        return node


_Dumper.add_representer(str, _Dumper.represent_str)


def yaml_text(document: Any, *, width: int = ONE_LINE) -> str:
    """Return a document as YAML, collections of plain values on a line each.

    Args:
      document: Made of dict, list, str, int, float, bool and ``None``.
      width: Characters after which such a line is broken.
    """
    text: str = yaml.dump(
        document,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=width,
    )
    return text


def yaml_line(value: Any) -> str:
    """Return plain values as YAML on one line, which reads back as the same."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=True,
        sort_keys=False,
        width=ONE_LINE,
        allow_unicode=True,
    )
    return text.removesuffix("...\n").strip("\n")
