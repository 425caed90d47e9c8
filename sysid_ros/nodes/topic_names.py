# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names of topics that come from names of parameters."""

from __future__ import annotations

import re


def topic_part(parameter: str) -> str:
    """A parameter's name as part of a topic's: ``link_inertia[2]`` becomes ``link_inertia_2``."""
    return re.sub(r"\W+", "_", parameter, flags=re.ASCII).strip("_")
