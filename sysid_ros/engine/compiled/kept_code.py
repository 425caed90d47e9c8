# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The folder where compiled code is kept, and the turn that processes take there.

numba keeps code beside the source, or in the user's cache where that may not be written. Where
neither may, this module gives it a folder for temporary files that belongs to this user alone:
what lies there is executed.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.ccallback import CFunc
from numba.core.runtime.nrt import rtsys

from sysid_ros.engine.compiled.one_module import OPTIONS_OF_WHOLES

WAITING = "sysid_ros:waiting"  # numba's kind of event: another process has its turn
# Likewise, now and then while that goes on. Both carry the folder where code is kept, if any.
STILL_WAITING = "sysid_ros:still waiting"
LOOK = 0.5  # s from one of these to the next
_SHORT = 2.0  # s of waiting that are not worth an event: the other one may only load
_POLL = 0.05  # s


def keeping(
    function: Callable[..., Any], apart: Callable[[], object] | None = None, **more: Any
) -> Any:
    """A function compiled when it is first called, kept on disk where there is a place for it.

    Args:
      function: Called from Python alone.
      apart: Called where nothing is kept yet: has another process compile and keep it. What that
        does not keep is compiled in this one.
      more: Options of numba's besides.
    """
    # Nothing is allocated: numba's runtime, which takes a while to load, is not used.
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    options |= OPTIONS_OF_WHOLES | more
    njit: Any = numba.njit
    with suppress(RuntimeError):  # numba found no place
        return soon_loaded(njit(cache=True, **options)(function), apart)
    folder = private_folder(Path(tempfile.gettempdir()))
    if folder is None:
        return njit(**options)(function)
    config: Any = numba.config
    chosen, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        return soon_loaded(njit(cache=True, **options)(function), apart)
    finally:
        config.CACHE_DIR = chosen


def kept_callback(function: Callable[..., Any], signature: Any) -> Any:
    """A C callback of numba, loaded as :func:`soon_loaded`, or compiled now and kept on disk.

    Args:
      function: Allocates nothing.
      signature: Its numba type.
    """
    options: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}
    if not OPTIONS_OF_WHOLES:
        cfunc: Any = numba.cfunc
        return cfunc(signature, cache=True, **options)(function)
    make: Any = CFunc
    callback = make(function, (signature.args, signature.return_type), {}, options)
    callback.enable_caching()
    callback.targetoptions = options  # as functions for Python have them
    soon_loaded(callback).compile()
    return callback


def soon_loaded(compiled: Any, apart: Callable[[], object] | None = None) -> Any:
    """The function, which numba keeps, loaded from disk without what only compiling needs.

    That is numba's tables of functions, and SciPy's linear algebra to look for BLAS: half a second.
    A compilation loads them by itself. The class is not documented, so this is for versions of
    numba that it was tried with.
    """
    if OPTIONS_OF_WHOLES:
        cache = compiled._cache

        def load_overload(signature: Any, target: Any) -> Any:
            if compiled.targetoptions.get("_nrt", True):
                rtsys.initialize(target)
            found = loaded(signature, target)
            if found is None and apart is not None:
                apart()
                found = loaded(signature, target)
            return found

        def loaded(signature: Any, target: Any) -> Any:
            with cache._guard_against_spurious_io_errors():
                try:
                    return cache._load_overload(signature, target)
                except (AttributeError, ImportError):  # kept for classes that are elsewhere now
                    cache._cache_file.flush()
            return None

        cache.load_overload = load_overload
    return compiled


def private_folder(parent: Path) -> Path | None:
    """A folder that only this user may write, the same for every process; None if there is none."""
    folder = parent / f"sysid_ros_numba_{os.getuid()}"
    with suppress(OSError):
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
        if is_ours and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return folder
    return None


@contextmanager
def turn(compiled: Any) -> Iterator[None]:
    """Let one process at a time compile or load; the others wait and find what it kept.

    Waiting that takes more than moments is an event :data:`WAITING`, with one
    :data:`STILL_WAITING` after the other in it. A process that is killed loses
    its turn. Where code is not kept, or its file system knows no locks, nobody waits.

    Args:
      compiled: From :func:`keeping`.
    """
    folder = -1
    with suppress(OSError, TypeError):  # no path: it is not kept
        folder = os.open(compiled.stats.cache_path, os.O_RDONLY)
        _wait_for(folder, compiled.stats.cache_path)
    try:
        yield
    finally:
        if folder >= 0:
            os.close(folder)


def kept_in(compiled: Any) -> str | None:
    """The folder where a function from :func:`keeping` is kept; ``None`` where it is not."""
    folder = compiled.stats.cache_path
    return None if folder is None else str(folder)


def still_waiting(folder: str | None) -> None:
    """Make an event :data:`STILL_WAITING`."""
    start: Any = event.start_event
    start(STILL_WAITING, folder)


def _wait_for(folder: int, path: str) -> None:
    """Wait for the turn in an open folder, of that path."""
    deadline = time.monotonic() + _SHORT
    while time.monotonic() < deadline:
        with suppress(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_POLL)
    with event.trigger_event(WAITING, path):
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            still_waiting(path)
            time.sleep(LOOK)
