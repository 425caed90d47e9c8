# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Model texts as MuJoCo reads them."""

from __future__ import annotations

from pathlib import Path

import mujoco

from sysid_ros.robots.model_text import ModelText


def spec_of(source: ModelText) -> mujoco.MjSpec:
    """The model, with files found where the text lies."""
    if Path(source.name).is_file():
        return mujoco.MjSpec.from_file(source.name)
    return mujoco.MjSpec.from_string(source.text.decode())
