# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fixtures for every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes is a matter of what else the machine does.
settings.register_profile("any_machine", deadline=None)
settings.load_profile("any_machine")

# An animation for every fit of every test would take minutes; tests of it ask for one.
os.environ.setdefault("MUJOCO_GL", "disabled")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Recordings and models that are too large for the repository; skips where they are absent."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SYSID_ROS_SHARED_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no recordings at {folder}; set SYSID_ROS_SHARED_DATA")
    return folder
