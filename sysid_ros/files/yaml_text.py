# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""YAML of plain data as text, keys in the order they were given."""

from __future__ import annotations

from typing import Any

import yaml

# Ten times as fast on a covariance of a hundred parameters, where libyaml is there.
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
ONE_LINE = 2**30  # characters: lists of numbers are lines, however long


def yaml_text(document: Any, *, width: int = ONE_LINE) -> str:
    """Return a document as YAML, collections of plain values on a line each.

    Args:
      document: Made of dict, list, str, int, float, bool and ``None``.
      width: Characters after which such a line is broken.
    """
    text: str = yaml.dump(
        document,
        Dumper=_DUMPER,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=width,
    )
    return text


def yaml_line(value: Any) -> str:
    """Return plain values as YAML on one line, which reads back as the same."""
    text: str = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, width=ONE_LINE, allow_unicode=True
    )
    return text.removesuffix("...\n").strip()
