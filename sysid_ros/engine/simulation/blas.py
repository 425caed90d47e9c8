# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Linear algebra on one thread."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any


def single_blas_thread() -> AbstractContextManager[object]:
    """Keep products on the caller's thread, where threadpoolctl is installed.

    That holds for NumPy's and, if it is loaded already, for ``scipy.linalg``, which has a BLAS of
    its own.

    The matrices of a fit are tall and narrow: shared among threads, ``J^T J`` takes ten times as
    long as on one, and takes the cores from the simulations.
    """
    controller = _controller("scipy.linalg" in sys.modules)
    if controller is None:
        return nullcontext()
    limits: AbstractContextManager[object] = controller.limit(limits=1, user_api="blas")
    return limits


@cache
def _controller(with_scipy: bool) -> Any:
    """Of the libraries that are loaded, which takes longer to find out than a small fit does."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # not packaged everywhere; slower without
        return None
    return ThreadpoolController()
