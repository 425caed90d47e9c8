# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's warnings as data instead of a file ``MUJOCO_LOG.TXT`` in the current folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect what MuJoCo warns about inside the block, from any thread.

    MuJoCo has one handler per process; the previous one is back afterwards.

    Yields:
      The list that warnings are added to, one text each.
    """
    warnings: list[str] = []
    previous = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(warnings.append)
    try:
        yield warnings
    finally:
        mujoco.set_mju_user_warning(previous)
