# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where fields of mjModel and mjData stand in memory, from MuJoCo's own description of its types.

Native code is handed two addresses and nothing else. The offsets are computed as the platform's C
compiler lays structures out, and checked against arrays whose addresses Python knows.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import mujoco

from sysid_ros.errors import ModelError

_NUMBERS = {
    "int": ctypes.c_int,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "mjtNum": ctypes.c_double,
    "mjtByte": ctypes.c_ubyte,
    "mjtBool": ctypes.c_ubyte,
    "mjtSize": ctypes.c_int64,
    "char": ctypes.c_char,
    "unsigned char": ctypes.c_ubyte,
    "unsigned int": ctypes.c_uint,
    "size_t": ctypes.c_size_t,
    "uintptr_t": ctypes.c_size_t,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
}
# Known addresses that the layout must agree with.
_WITNESSES = {"mjModel": ("qpos0", "jnt_user", "dof_jntid"), "mjData": ("qpos", "userdata")}
_PROBE = """<mujoco><size nuser_jnt="1" nuserdata="1"/><worldbody><body><joint name="hinge"/>
<geom size="1"/></body></worldbody></mujoco>"""


@lru_cache(maxsize=1)
def layouts() -> dict[str, Any]:
    """The structures ``mjModel`` and ``mjData`` as ctypes types.

    Raises:
      ModelError: This MuJoCo's structures are not laid out as described.
    """
    types = {name: _structure(name) for name in _WITNESSES}
    model = mujoco.MjModel.from_xml_string(_PROBE)
    for name, instance in (("mjModel", model), ("mjData", mujoco.MjData(model))):
        seen = types[name].from_address(instance._address)
        for witness in _WITNESSES[name]:
            if getattr(seen, witness) != getattr(instance, witness).ctypes.data:
                raise ModelError(
                    f"the layout of {name} in MuJoCo {mujoco.__version__} is not known: "
                    f"{witness} is not where its description says"
                )
    return types


def offset(structure: str, field: str) -> int:
    """Bytes from the start of a structure to one of its fields.

    Raises:
      ModelError: This MuJoCo has no such field, or another layout than it says.
    """
    found = getattr(layouts()[structure], field, None)
    if found is None:
        raise ModelError(f"{structure} of MuJoCo {mujoco.__version__} has no field {field!r}")
    return int(found.offset)


def _structure(name: str) -> Any:
    from mujoco.introspect import structs

    described = structs.STRUCTS[name]
    return type(name, (ctypes.Structure,), {"_fields_": _fields(described.fields)})


def _fields(described: Any) -> list[tuple[str, Any]]:
    return [(field.name or f"_{i}", _type(field)) for i, field in enumerate(described)]


def _type(field: Any) -> Any:
    """The ctypes type of a described field, which may be a structure in place."""
    described = getattr(field, "type", field)
    kind = type(described).__name__
    if kind == "PointerType":
        return ctypes.c_void_p
    if kind == "ArrayType":
        inner = _type(described.inner_type)
        for extent in reversed(described.extents):
            inner = inner * extent
        return inner
    if kind == "ValueType":
        return _value(described.name)
    fields = _fields(described.fields)
    base = ctypes.Union if "Union" in kind else ctypes.Structure
    return type("_", (base,), {"_fields_": fields})


def _value(name: str) -> Any:
    from mujoco.introspect import enums, structs

    if name in _NUMBERS:
        return _NUMBERS[name]
    if name in enums.ENUMS:
        return ctypes.c_int
    if name in structs.STRUCTS:
        return _structure(name)
    raise ModelError(f"the C type {name!r} of MuJoCo {mujoco.__version__} is not known")
