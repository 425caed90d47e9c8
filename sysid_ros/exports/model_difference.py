# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Comparison of two compiled models: are they the same robot?"""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import rotation_matrix

_SIZES = (
    "nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "nsite", "nmesh", "nhfield", "ntex", "nmat",
    "npair", "nexclude", "neq", "ntendon", "nsensor", "nkey", "nflex", "nskin", "nplugin",
    "nmocap", "nnumeric", "ntext", "ntuple", "nuserdata",
)  # fmt: skip
# The same inertia may have its axes in another order, from which these follow; it is compared as a
# whole instead.
_AXES = ("body_inertia", "body_iquat", "body_sameframe", "geom_sameframe", "site_sameframe",
         "body_simple", "dof_simplenum")  # fmt: skip
_SKIPPED = ("_", "name", "path", "text", "bvh", "oct")
_OPTIONS = (
    "timestep", "gravity", "wind", "magnetic", "density", "viscosity", "integrator", "cone",
    "solver", "iterations", "tolerance", "disableflags", "enableflags", "impratio",
)  # fmt: skip
# Differences from rounding, of a number and of the largest of its array. The eigenvectors of an
# inertia written as a full matrix cost some digits, before MuJoCo 3.14 half of them.
_ROUNDING = (1e-9, 1e-12) if mujoco.mj_version() >= 3_014_000 else (1e-6, 1e-6)
_SINGLE = (1e-5, 1e-8)  # of numbers in single precision


def model_difference(model: mujoco.MjModel, expected: mujoco.MjModel) -> str | None:
    """The first array in which two models differ by more than rounding.

    Returns:
      The array's name and the largest difference; ``None`` where they are the same. Names and
      paths of files are not compared.
    """
    for size in _SIZES:
        if getattr(model, size, 0) != getattr(expected, size, 0):
            return f"{size} is {getattr(model, size)} instead of {getattr(expected, size)}"
    for name in dir(expected):
        if name.startswith(_SKIPPED) or name in _AXES:
            continue
        array = getattr(expected, name)
        if isinstance(array, np.ndarray) and not name.endswith("pathadr"):
            own = getattr(model, name)
            if name.endswith("_quat") and own.shape == array.shape:
                own = _same_sign(own, array)
            difference = _difference(own, array)
            if difference is not None:
                return f"{name} differs {difference}"
    for name in _OPTIONS:
        difference = _difference(getattr(model.opt, name), getattr(expected.opt, name))
        if difference is not None:
            return f"option {name} differs {difference}"
    difference = _difference(_inertias(model), _inertias(expected))
    return None if difference is None else f"a body's inertia differs {difference}"


def _difference(left: npt.ArrayLike, right: npt.ArrayLike) -> str | None:
    a, b = np.asarray(left), np.asarray(right)
    if a.shape != b.shape:
        return f"in shape: {a.shape} instead of {b.shape}"
    if a.dtype.kind != "f":
        return None if np.array_equal(a, b) else "in value"
    if a.size == 0:
        return None
    relative, of_largest = _SINGLE if a.dtype == np.float32 else _ROUNDING
    scale = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    close = np.isclose(a, b, rtol=relative, atol=of_largest * scale, equal_nan=True)
    if np.all(close):
        return None
    return f"by {float(np.nanmax(np.abs(np.where(close, 0.0, a - b)))):.3g}"


def _same_sign(quaternions: FloatArray, others: FloatArray) -> FloatArray:
    """Quaternions (n, 4) with the signs of others: q and -q are the same orientation."""
    opposite = np.sum(quaternions * others, axis=-1, keepdims=True) < 0.0
    return np.where(opposite, -quaternions, quaternions)


def _inertias(model: mujoco.MjModel) -> FloatArray:
    """The inertia of every body about its centre of mass in body axes, (nbody, 3, 3)."""
    axes = rotation_matrix(model.body_iquat)
    return np.asarray((axes * model.body_inertia[:, None, :]) @ axes.transpose(0, 2, 1))
