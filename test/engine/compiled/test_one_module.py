# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Functions that are compiled as parts of others."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import OPTIONS_OF_WHOLES, compiled, compiled_apart
from sysid_ros.engine.regressor import filter_kernel, kernels


@compiled
def _scale(x: FloatArray, by: float) -> None:
    for i in range(x.size):
        x[i] *= by


@compiled_apart
def _twice(x: FloatArray) -> None:
    _scale(x, 2.0)


@compiled_apart
def _thrice(x: FloatArray) -> float:
    _scale(x, 3.0)
    return float(np.sqrt(x[0]))


def _six_times(x: FloatArray) -> float:
    _twice(x)
    return _thrice(x)


@pytest.mark.parametrize("options", [OPTIONS_OF_WHOLES, {}], ids=["whole", "numba's own"])
def test_what_calls_parts_has_them_in_its_own_module(options: dict[str, Any]) -> None:
    njit: Any = numba.njit
    function = njit(error_model="numpy", nogil=True, **options)(_six_times)
    x = np.array([1.5, 1.0])
    assert function(x) == 3.0
    assert x.tolist() == [9.0, 6.0]
    (signature,) = function.signatures
    defined = [
        line for line in function.inspect_llvm(signature).splitlines() if line.startswith("declare")
    ]
    assert not [line for line in defined if "test_one_module" in line]


@pytest.mark.skipif(not OPTIONS_OF_WHOLES, reason="this numba compiles in its own way")
def test_a_part_has_no_machine_code_of_its_own() -> None:
    njit: Any = numba.njit
    njit(**OPTIONS_OF_WHOLES)(_six_times)(np.ones(1))
    dispatcher: Any = _twice
    ((_, made),) = dispatcher.overloads.items()
    assert made.library.get_pointer_to_function(made.fndesc.llvm_func_name) == 0


@pytest.mark.parametrize("module", [kernels, filter_kernel])
def test_nothing_compiled_calls_what_is_kept_as_machine_code_alone(module: ModuleType) -> None:
    """It would be linked with bodies that do nothing, in a process that loads the other."""
    made = {name: each for name, each in vars(module).items() if hasattr(each, "py_func")}
    kept = {n for n, each in made.items() if type(each._cache).__name__ != "NullCache"}
    assert kept
    for name, each in made.items():
        assert not kept & {*each.py_func.__code__.co_names}, name
