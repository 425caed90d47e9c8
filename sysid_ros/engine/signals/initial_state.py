# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The state vector a simulation starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.signals.mappings import SignalMapping, SignalType, state_mappings
from sysid_ros.errors import SignalError, unknown_name

FULL_PHYSICS = int(mujoco.mjtState.mjSTATE_FULLPHYSICS.value)


def create_initial_state(
    model: Any,
    qpos: npt.ArrayLike,
    qvel: npt.ArrayLike | None = None,
    act: npt.ArrayLike | None = None,
    qpos_names: Sequence[str] | None = None,
    qvel_names: Sequence[str] | None = None,
    act_names: Sequence[str] | None = None,
) -> FloatArray:
    """A full-physics state vector at time zero.

    Args:
      model: The MjModel.
      qpos: Positions, (nq,); with names only those of the named joints.
      qvel: Velocities, (nv,); with names only those named. ``None``: zero.
      act: Activations, (na,); with names only those named. ``None``: zero.
      qpos_names: Joints (a free joint by its body) that ``qpos`` holds, in its order, with or
        without the suffix ``_qpos``; a ball joint takes four elements, a free one seven. The
        others start at the model's reference configuration.
      qvel_names: Likewise for ``qvel`` (suffix ``_qvel``; three and six elements).
      act_names: Actuators that ``act`` holds (suffix ``_act``).

    Returns:
      State for ``mujoco.rollout``, (mj_stateSize(model, mjSTATE_FULLPHYSICS),).

    Raises:
      SignalError: A name is unknown, or a vector has another number of elements.
    """
    data = mujoco.MjData(model)
    positions, velocities, activations = state_mappings(model)
    data.qpos[:] = _filled("qpos", qpos, data.qpos, qpos_names, positions, 0)
    for what, given, names, mapping, offset in (
        ("qvel", qvel, qvel_names, velocities, model.nq),
        ("act", act, act_names, activations, model.nq + model.nv),
    ):
        field = getattr(data, what)
        if given is not None:
            field[:] = _filled(what, given, field, names, mapping, offset)
        elif names is not None:
            raise SignalError(f"Expected {what} to not be None when {what}_names is not None")
    state: FloatArray = np.empty(mujoco.mj_stateSize(model, FULL_PHYSICS))
    mujoco.mj_getState(model, data, state, FULL_PHYSICS)
    return state


def _filled(
    what: str,
    given: npt.ArrayLike,
    default: FloatArray,
    names: Sequence[str] | None,
    mapping: SignalMapping,
    offset: int,
) -> FloatArray:
    """``default`` with the given elements in their places."""
    values = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if names is None:
        if values.shape != default.shape:
            raise SignalError(
                f"Expected {what} to have shape {default.shape[0]}, got {values.shape[0]}."
            )
        return values
    columns = _named_columns(what, names, mapping) - offset
    if values.shape != columns.shape:
        raise SignalError(
            f"Expected {what} to have shape {columns.size} for {', '.join(names)}, "
            f"got {values.size}"
        )
    filled: FloatArray = default.copy()
    filled[columns] = values
    return filled


def _named_columns(
    what: str, names: Sequence[str], mapping: Mapping[str, tuple[SignalType, IndexArray]]
) -> IndexArray:
    columns: list[IndexArray] = []
    for name in names:
        key = name if name in mapping else f"{name}_{what}"
        if key not in mapping:
            raise SignalError(unknown_name(f"{what} name", name, mapping))
        columns.append(mapping[key][1])
    return np.concatenate(columns) if columns else np.empty(0, dtype=np.intp)
