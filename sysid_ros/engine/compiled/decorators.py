# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Decorators of functions that numba compiles into their callers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import types

from sysid_ros.engine.compiled.one_module import OPTIONS_OF_PARTS

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function that allocates nothing into its callers.

    Without the interpreter's lock, dividing as NumPy does, with products and sums in one rounding
    where the processor can, as C compilers do, and without counting references to arrays, which
    would take longer than the arithmetic. Handing over a model's tables, several
    kilobytes for each call, would take nearly as long as it.
    """
    return _compile(function, forceinline=True)


def compiled_apart(function: Function) -> Function:
    """The same for large functions with several callers: one copy, which compiles sooner."""
    return _compile(function, forceinline=False)


def _compile(function: Function, forceinline: bool) -> Function:
    njit: Any = numba.njit
    options: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    options |= {"error_model": "numpy", "fastmath": {"contract"}, "forceinline": forceinline}
    part = njit(**options, **OPTIONS_OF_PARTS)(function)
    if hasattr(part, "get_call_template"):
        _take_numbers_as_they_come(part)
    return cast(Function, part)


def _take_numbers_as_they_come(part: Any) -> None:
    """Let numba compile a function once for all constants that callers hand over.

    By itself it does so for each, True and False among them, with all that the function calls. The
    optimizer, which sees caller and callee together, needs none of that.
    """
    found = part.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return found(tuple(map(types.unliteral, args)), kws)

    part.get_call_template = get_call_template
