# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quality of service that a person prescribes, in the YAML format of rosbag2's overrides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sysid_ros.errors import ExperimentError, unknown_name
from sysid_ros.files import read_yaml

_CHOICES = {
    "reliability": ("reliable", "best_effort"),
    "durability": ("volatile", "transient_local"),
    "history": ("keep_last", "keep_all"),
}
# Policies that rosbag2's files may carry and that do not decide what a recorder receives.
_IGNORED = (
    "deadline",
    "lifespan",
    "liveliness",
    "liveliness_lease_duration",
    "avoid_ros_namespace_conventions",
)


@dataclass(frozen=True)
class QosOverride:
    """The QoS prescribed for one topic; ``None`` leaves it to the publishers."""

    reliability: str | None = None
    durability: str | None = None
    history: str | None = None
    depth: int | None = None


def read_qos_overrides(path: Path) -> dict[str, QosOverride]:
    """Read overrides by topic name.

    Args:
      path: A file as for ``ros2 bag record --qos-profile-overrides-path``.

    Raises:
      ExperimentError: It cannot be read, or a policy or value is unknown.
    """
    try:
        content = read_yaml(path)
    except (OSError, ValueError) as error:
        raise ExperimentError(f"QoS overrides {path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ExperimentError(f"QoS overrides {path} must map topics to policies")
    return {str(topic): _override(path, str(topic), given) for topic, given in content.items()}


def _override(path: Path, topic: str, given: Any) -> QosOverride:
    where = f"QoS overrides {path}, topic {topic}"
    if not isinstance(given, Mapping):
        raise ExperimentError(f"{where}: give policies such as {{reliability: best_effort}}")
    known = [*_CHOICES, "depth", *_IGNORED]
    for policy, value in given.items():
        if policy not in known:
            raise ExperimentError(f"{where}: {unknown_name('policy', str(policy), known)}")
        if policy in _CHOICES and value not in _CHOICES[policy]:
            valid = ", ".join(_CHOICES[policy])
            raise ExperimentError(f"{where}: {policy} is {value!r}; valid: {valid}")
    depth = given.get("depth")
    if depth is not None and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
        raise ExperimentError(f"{where}: depth must be a positive integer, given {depth!r}")
    return QosOverride(
        given.get("reliability"), given.get("durability"), given.get("history"), depth
    )
