# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reading and writing MuJoCo's structures in compiled code, given their addresses."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from sysid_ros.sysid.sensitivity.spatial import compiled

_pointer: Any = types.CPointer


def _field_as(result: Any) -> Any:
    """An intrinsic ``(structure, bytes)`` that takes a field of a structure as ``result``."""

    @intrinsic
    def at(_context: Any, _structure: Any, _bytes: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            field = builder.gep(arguments[0], [arguments[1]])
            return builder.bitcast(field, context.get_value_type(signature.return_type))

        return result(types.voidptr, types.int64), generate

    return at


def _address_as(result: Any) -> Any:
    """An intrinsic that takes an address as ``result``."""

    @intrinsic
    def follow(_context: Any, _address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

        return result(types.voidptr), generate

    return follow


_integer_field = _field_as(_pointer(types.int32))
_pointer_field = _field_as(_pointer(types.voidptr))
_numbers = _address_as(_pointer(types.float64))
_integers = _address_as(_pointer(types.int32))


@compiled
def integer(structure: Any, distance: int) -> Any:
    """The integer at ``distance`` bytes in a structure; of one with 8 bytes the lower 4."""
    return _integer_field(structure, distance)[0]


@compiled
def array(structure: Any, distance: int) -> Any:
    """The numbers that the field at ``distance`` bytes points to."""
    return _numbers(_pointer_field(structure, distance)[0])


@compiled
def integer_array(structure: Any, distance: int) -> Any:
    """The integers that the field at ``distance`` bytes points to."""
    return _integers(_pointer_field(structure, distance)[0])
