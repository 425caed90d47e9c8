# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Linear algebra on one thread."""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import Any

# Names of OpenBLAS's functions, as NumPy's and SciPy's wheels, Debian and Conda build it.
_PREFIXES, _SUFFIXES = ("scipy_openblas_", "openblas_"), ("64_", "", "_64")
# What calls BLAS: its libraries are found through it, without looking at all that is loaded.
_CALLERS = ("numpy.linalg._umath_linalg", "scipy.linalg._fblas")


class _Threads:
    """The threads of a loaded OpenBLAS, one while anybody wants that.

    Args:
      read: Tells how many there are.
      use: Takes how many there shall be.
    """

    def __init__(self, read: Any, use: Any) -> None:
        self._read, self._use = read, use
        self._lock = threading.Lock()
        self._users = self._before = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Use one; as many as before when the last of those that overlap in time has ended."""
        with self._lock:
            if not self._users:
                self._before = self._read()
                self._use(1)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._use(self._before)


def single_blas_thread() -> AbstractContextManager[object]:
    """Keep products on the caller's thread, with OpenBLAS or where threadpoolctl is installed.

    That holds for NumPy's and, if it is loaded already, for ``scipy.linalg``, which has a BLAS of
    its own.

    The matrices of a fit are tall and narrow: shared among threads, ``J^T J`` takes ten times as
    long as on one, and takes the cores from the simulations.
    """
    return _limited(tuple(name for name in _CALLERS if name in sys.modules))


@contextmanager
def _limited(callers: tuple[str, ...]) -> Iterator[None]:
    known = [_openblas(name) for name in callers]
    with ExitStack() as undo:
        for threads in known:
            if threads is not None:
                undo.enter_context(threads.one())
        controller = _controller(callers) if None in known else None
        if controller is not None:
            undo.enter_context(controller.limit(limits=1, user_api="blas"))
        yield


@cache
def _openblas(caller: str) -> _Threads | None:
    """The OpenBLAS that a loaded module calls, ``None`` where it calls something else."""
    try:
        library = ctypes.CDLL(str(sys.modules[caller].__file__))
    except OSError:
        return None
    for prefix, suffix in itertools.product(_PREFIXES, _SUFFIXES):
        names = [f"{prefix}{what}_num_threads{suffix}" for what in ("get", "set")]
        if all(hasattr(library, name) for name in names):
            read, use = (getattr(library, name) for name in names)
            use.argtypes, use.restype = [ctypes.c_int], None
            return _Threads(read, use)
    return None


@cache
def _controller(callers: tuple[str, ...]) -> Any:
    """Of all libraries that are loaded, which takes longer to find out than a small fit does.

    Args:
      callers: Those that are; with another one its library is loaded, too.
    """
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # not packaged everywhere; slower without
        return None
    return ThreadpoolController()
