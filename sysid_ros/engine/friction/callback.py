# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Switching the native friction on for a while: MuJoCo has one control callback per process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco

from sysid_ros.closing import shared_by_blocks
from sysid_ros.errors import ModelError


class CallbackInUseError(ModelError, RuntimeError):
    """The process has another control callback."""


@shared_by_blocks
@contextmanager
def friction_callback() -> Iterator[None]:
    """Let the joints' friction models act in every simulation inside the block.

    In ``mj_step``, ``mj_forward`` and ``mujoco.rollout``, from any number of threads. Models
    without such joints are left alone, and MuJoCo's control callback is free again afterwards;
    blocks may be nested and overlap in several threads.

    Raises:
      CallbackInUseError: Another control callback is set.
      ModelError: There is no numba, or it does not know this MuJoCo.
    """
    current = mujoco.get_mjcb_control()
    if current is not None:
        raise CallbackInUseError(
            f"MuJoCo's control callback is {current!r}; friction models need it. Set "
            "data.ctrl in the loop instead"
        )
    mujoco.set_mjcb_control(_function())
    yield
    mujoco.set_mjcb_control(None)


def _function() -> Any:
    try:
        from sysid_ros.engine.friction.native import native_callback
    except ImportError as error:
        raise ModelError(f"friction models other than m1 need numba: {error}") from error
    return native_callback().ctypes
