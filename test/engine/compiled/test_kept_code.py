# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Functions whose machine code is kept have callers in Python alone."""

from __future__ import annotations

from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from sysid_ros.engine.regressor import kernels, regressor_kernel


def is_kept(value: object) -> bool:
    return isinstance(value, Dispatcher) and not isinstance(value._cache, NullCache)


def test_no_kept_function_calls_another() -> None:
    """A caller compiled in a later process links in what is kept: an empty function; it crashed."""
    named = vars(kernels) | vars(regressor_kernel)
    kept = {name: value for name, value in named.items() if is_kept(value)}
    assert {"fill", "torques"} <= {*kept}
    for value in kept.values():
        assert not {*value.py_func.__code__.co_names} & {*kept}
