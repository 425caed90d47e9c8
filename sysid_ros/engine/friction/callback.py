# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Switching the native friction on for a while: MuJoCo has one control callback per process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import mujoco

from sysid_ros.errors import ModelError


class CallbackInUseError(ModelError, RuntimeError):
    """The process has another control callback."""


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
    slot = _slot()
    slot.enter()
    try:
        yield
    finally:
        slot.leave()


class _Slot:
    """MuJoCo's one control callback, and how many blocks need it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                current = mujoco.get_mjcb_control()
                if current is not None:
                    raise CallbackInUseError(
                        f"MuJoCo's control callback is {current!r}; friction models need it. Set "
                        "data.ctrl in the loop instead, or step with FrictionStepper"
                    )
                mujoco.set_mjcb_control(_function())
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                mujoco.set_mjcb_control(None)


@lru_cache(maxsize=1)
def _slot() -> _Slot:
    return _Slot()


def _function() -> Any:
    try:
        from sysid_ros.engine.friction.native import native_callback
    except ImportError as error:
        raise ModelError(f"friction models other than m1 need numba: {error}") from error
    return native_callback().ctypes
