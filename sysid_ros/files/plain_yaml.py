# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Short YAML files of plain values, read in bounded time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sysid_ros.files.regular_file import read_regular

if TYPE_CHECKING:
    import yaml

LARGEST_YAML = 1 << 20  # bytes; a thousand topics or parameters take that
DEEPEST = 20  # levels


def read_yaml(path: str | Path) -> Any:
    """Return the plain values in a file.

    Raises:
      OSError: It cannot be read, is no regular file, or is larger than :data:`LARGEST_YAML`.
      ValueError: It is no YAML, or is nested deeper than :data:`DEEPEST`.
    """
    import yaml  # here, as the library hardly ever reads any

    # The same as yaml.safe_load, six times faster where PyYAML was built with libyaml.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = read_regular(path, LARGEST_YAML).decode("utf-8")
    try:
        _check_depth(yaml.parse(text, Loader=loader))
        return yaml.load(text, Loader=loader)  # noqa: S506
    except yaml.YAMLError as error:
        raise ValueError(_reason(error)) from error


def _check_depth(events: Iterable[yaml.Event]) -> None:
    """Look first: libyaml ends the process where nesting has no end."""
    from yaml import events as kinds

    depth = 0
    for event in events:
        depth += isinstance(event, kinds.CollectionStartEvent)
        depth -= isinstance(event, kinds.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} levels deep")


def _reason(error: yaml.YAMLError) -> str:
    """Return the fault on one line."""
    from yaml import MarkedYAMLError

    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}, {error.problem}"
    return " ".join(str(error).split())
