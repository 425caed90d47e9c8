# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a node as its command line has them."""

from __future__ import annotations

from collections.abc import Mapping


def ros_parameters(given: Mapping[str, object]) -> list[str]:
    """``-p name:=value`` for each, to follow ``--ros-args``."""
    return [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
