# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Force laws of actuators in the words of the element that the author chose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sysid_ros.robots import number, numbers

_FIELDS = ("gainprm", "biasprm", "dynprm")
_TYPES = ("gaintype", "biastype", "dyntype")


def force_law_changed(before: Any, after: Any) -> bool:
    """Return whether gain, bias or dynamics of an actuator of two specs differ."""
    return any(
        not np.array_equal(getattr(before, field), getattr(after, field)) for field in _FIELDS
    ) or any(int(getattr(before, kind)) != int(getattr(after, kind)) for kind in _TYPES)


def force_law(tag: str, before: Any, after: Any) -> tuple[str, Mapping[str, str | None]]:
    """Return the edits that write a changed force law.

    Args:
      tag: The element as it stands in the file, such as ``position``.
      before: The actuator in the spec of the file.
      after: The identified one.

    Returns:
      The tag to write, ``general`` where ``tag`` has no attribute for what changed, and the
      attributes to set (``None``: to remove).
    """
    short = _shortcut(tag, before, after)
    if short is not None:
        return tag, short
    attributes: dict[str, str | None] = {}
    for field in _FIELDS:
        was, now = np.array(getattr(before, field)), np.array(getattr(after, field))
        told = now.any() if field == "biasprm" else field == "gainprm"
        if (tag != "general" and told) or not np.array_equal(was, now):
            used = np.flatnonzero((now != 0.0) | (was != now))
            attributes[field] = numbers(now[: int(np.max(used, initial=0)) + 1])
    for kind in _TYPES:
        same = int(getattr(before, kind)) == int(getattr(after, kind))
        if tag != "general" or not same:
            name = str(getattr(after, kind).name)  # mjGAIN_FIXED is called fixed in MJCF
            attributes[kind] = name.partition("_")[2].lower()
    if tag in _INPUTS and hasattr(after, "ctrlspec"):  # since MuJoCo 4
        attributes["input"] = _INPUTS[tag]
    removed = _OWN_ATTRIBUTES.get(tag, ())
    return "general", {**dict.fromkeys(removed), **attributes}


# What the command of a shortcut means.
_INPUTS = {"position": "pos", "velocity": "vel"}
# What a shortcut writes that ``general`` does not know.
_OWN_ATTRIBUTES = {
    "position": ("kp", "kv", "dampratio", "timeconst"),
    "intvelocity": ("kp", "kv", "dampratio"),
    "velocity": ("kv",),
    "damper": ("kv",),
    "cylinder": ("timeconst", "area", "diameter", "bias"),
    "adhesion": ("gain",),
}


def _shortcut(tag: str, before: Any, after: Any) -> dict[str, str | None] | None:
    """The shortcut's own attributes, where they say all that changed."""
    gain, bias, dynamics = (np.array(getattr(after, field)) for field in _FIELDS)
    changed = {
        (field, int(i))
        for field in _FIELDS
        for i in np.flatnonzero(np.array(getattr(before, field)) != getattr(after, field))
    }
    kp, kv = ("gainprm", 0), ("biasprm", 2)
    found: dict[str, str | None] = {}
    if tag in ("position", "intvelocity") and gain[0] == -bias[1]:
        if changed & {kp, ("biasprm", 1)}:
            found["kp"] = number(gain[0])
        if kv in changed:
            found.update(kv=number(-bias[2]), dampratio=None)
        if tag == "position" and ("dynprm", 0) in changed:
            found["timeconst"] = number(dynamics[0])
        known = {kp, ("biasprm", 1), kv, *([("dynprm", 0)] if tag == "position" else [])}
        return found if changed <= known else None
    if tag == "velocity" and gain[0] == -bias[2] and changed <= {kp, kv}:
        return {"kv": number(gain[0])}
    return None
