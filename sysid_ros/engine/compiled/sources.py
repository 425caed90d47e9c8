# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files of this room, which compiled functions of other rooms contain a copy of."""

from __future__ import annotations

from pathlib import Path


def source_files() -> tuple[str, ...]:
    """List the files whose change makes functions compile anew that call functions here."""
    return tuple(str(path) for path in sorted(Path(__file__).parent.glob("*.py")))
