# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Objects that something keeps alive: the memory of a process says nothing about tens of bytes."""

from __future__ import annotations

import gc
import types

import numpy as np

_SHARED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)


def kept_objects(root: object) -> tuple[int, int]:
    """The number of objects that ``root`` keeps alive, and the bytes of the arrays among them."""
    seen, waiting, size = {id(root)}, [root], 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, np.ndarray) and one.base is None:
            size += one.nbytes
        for other in gc.get_referents(one):
            if id(other) not in seen and not isinstance(other, _SHARED):
                seen.add(id(other))
                waiting.append(other)
    return len(seen), size
