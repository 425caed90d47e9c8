# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Settings given on top of an experiment file: ``fit.max_iterations=20``.

A path names keys and list positions (``parameters[0].armature.max``); the value is YAML. ``+=``
appends to a list. Overrides change the YAML tree before it is validated, so that they obey the
same rules and their mistakes get the same messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from sysid_ros.errors import ExperimentError
from sysid_ros.experiment.problems import Place
from sysid_ros.experiment.yaml_tree import Value, parse_yaml

_OVERRIDE = re.compile(r"(?P<path>[^=+]+?)\s*(?P<sign>\+?=)(?P<value>.*)", re.DOTALL)
_STEP = re.compile(r"(?P<key>[A-Za-z_]\w*)|\[(?P<index>\d{1,6})\]")
_PATH = re.compile(r"[A-Za-z_]\w*(\[\d{1,6}\])*(\.[A-Za-z_]\w*(\[\d{1,6}\])*)*")


def apply_overrides(root: Value, overrides: Iterable[str]) -> Value:
    """Change a tree, which is not modified, by ``path=value`` or ``path+=value`` each.

    Returns:
      A tree with the changes, whose places name the override; the same where it is no mapping,
      as no experiment is, which readers say of the file.

    Raises:
      ExperimentError: An override is malformed or its path leads nowhere.
    """
    if root.content is not None and not isinstance(root.content, dict):
        return root
    for override in overrides:
        match = _OVERRIDE.fullmatch(override.strip())
        source = f"override {override!r}"
        if match is None or not _PATH.fullmatch(match["path"]):
            raise ExperimentError(
                f"{source}: must look like fit.max_iterations=20 or parameters[0].armature.max=0.1"
            )
        value = parse_yaml(match["value"].strip() or "null", source, numbered=False)
        steps = [
            step["key"] if step["key"] is not None else int(step["index"])
            for step in _STEP.finditer(match["path"])
        ]
        root = _changed(root, steps, value, source, append=match["sign"] == "+=")
    return root


def _changed(
    value: Value, steps: list[str | int], new: Value, source: str, *, append: bool
) -> Value:
    """``value`` with ``new`` at the end of the path ``steps``."""
    if not steps:
        if not append:
            return new
        if value.content is not None and not isinstance(value.content, list):
            raise ExperimentError(f"{source}: += appends to a list, but there is {value.shown()}")
        added = new.content if isinstance(new.content, list) else [new]
        return replace(value, content=[*(value.content or ()), *added])
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        if not isinstance(value.content, list) or step >= len(value.content):
            count = len(value.content) if isinstance(value.content, list) else 0
            raise ExperimentError(f"{source}: there is no [{step}] among {count} items")
        items = list(value.content)
        items[step] = _changed(items[step], rest, new, source, append=append)
        return replace(value, content=items)
    if value.content is not None and not isinstance(value.content, dict):
        raise ExperimentError(f"{source}: {step!r} is sought in {value.shown()}, not a mapping")
    entries = dict(value.content or {})
    entry = entries.get(step, Value(None, Place(source)))
    entries[step] = _changed(entry, rest, new, source, append=append)
    return replace(value, content=entries)
