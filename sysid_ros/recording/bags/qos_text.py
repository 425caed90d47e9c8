# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The quality of service that bags keep as YAML text, in the spelling of any distribution."""

from __future__ import annotations

from typing import Any

import yaml

from sysid_ros.recording.bags.bag_folder import QosProfile

# Until Iron, rosbag2 wrote rmw's numbers.
_NUMBERS = {
    "history": ("system_default", "keep_last", "keep_all", "unknown"),
    "reliability": ("system_default", "reliable", "best_effort", "unknown"),
    "durability": ("system_default", "transient_local", "volatile", "unknown"),
    "liveliness": ("system_default", "automatic", "manual_by_node", "manual_by_topic", "unknown"),
}


def read_profiles(text: str) -> tuple[QosProfile, ...]:
    """Read the profiles that publishers offered.

    Args:
      text: As in MCAP channels and SQLite topics; anything unreadable gives no profiles.
    """
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):  # a date of no calendar, endless nesting
        return ()
    if not isinstance(content, list):
        return ()
    return tuple(_profile(entry) for entry in content if isinstance(entry, dict))


def _profile(entry: dict[str, Any]) -> QosProfile:
    depth = entry.get("depth", 0)
    return QosProfile(
        **{policy: _name(policy, entry.get(policy)) for policy in _NUMBERS},
        depth=depth if isinstance(depth, int) else 0,
        deadline_ns=_nanoseconds(entry.get("deadline")),
        lifespan_ns=_nanoseconds(entry.get("lifespan")),
        lease_ns=_nanoseconds(entry.get("liveliness_lease_duration")),
    )


def _name(policy: str, value: Any) -> str:
    names = _NUMBERS[policy]
    if isinstance(value, int) and 0 <= value < len(names):
        return names[value]
    return value if isinstance(value, str) else "unknown"


def _nanoseconds(value: Any) -> int:
    if not isinstance(value, dict):
        return 0
    try:
        return int(value.get("sec", 0)) * 1_000_000_000 + int(value.get("nsec", 0))
    except (TypeError, ValueError):
        return 0
