# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Initial states of whole recordings as nuisance parameters of a library fit.

A recording's initial state is read off noisy sensors. Estimated along with the model, its error no
longer pulls the model's parameters. For recordings that are cut into windows the windowed fit does
the same by itself, for every window.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters.modifiers import StartModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.signals import ModelSequences

REACH = 10.0  # bounds, in standard deviations of the prior


def start_params(
    models_sequences: Sequence[ModelSequences],
    *,
    position: float = 0.1,
    velocity: float = 1.0,
    activation: float = 1.0,
    prior: bool = True,
) -> list[Parameter]:
    """One parameter per recording: how its start deviates from the initial state given.

    Example::

        for parameter in start_params([recording], position=0.01):
            params.add(parameter)

    Args:
      models_sequences: The models with their recordings, whose names must differ.
      position: Standard deviation of the given positions, rad or m.
      velocity: Of the given velocities, rad/s or m/s.
      activation: Of the given activations.
      prior: Whether the standard deviations pull; otherwise they only set the bounds. Priors
        belong to residuals in units of their noise, ``normalization="noise"``.

    Returns:
      Vectors of zeros called ``<sequence>_start``, (2 nv + na,).
    """
    parameters = []
    for sequences in models_sequences:
        model = sequences.gt_model
        spread = np.concatenate(
            [
                np.full(model.nv, position),
                np.full(model.nv, velocity),
                np.full(model.na, activation),
            ]
        )
        parameters += [
            Parameter(
                f"{name}_start",
                np.zeros(spread.size),
                -REACH * spread,
                REACH * spread,
                modifier=StartModifier(name),
                prior=(np.zeros(spread.size), spread) if prior else None,
            )
            for name in sequences.sequence_name
        ]
    return parameters


def moved_start(
    model: mujoco.MjModel, state: FloatArray, params: ParameterDict, sequence: str
) -> FloatArray:
    """A recording's full-physics start, (nstate,), with the deviations that the parameters declare.

    Returns:
      The same array where no parameter is about this start.
    """
    for parameter in params.values():
        modifier = parameter.modifier
        if isinstance(modifier, StartModifier) and modifier.sequence == sequence:
            state = deviated(model, state, parameter.as_vector())
    return state


def deviated(model: mujoco.MjModel, state: FloatArray, deviation: FloatArray) -> FloatArray:
    """A full-physics state, (nstate,), moved in (qpos, qvel, act), (2 nv + na,)."""
    moved: FloatArray = state.copy()
    qpos = moved[1 : 1 + model.nq].copy()
    mujoco.mj_integratePos(model, qpos, deviation[: model.nv], 1.0)
    moved[1 : 1 + model.nq] = qpos
    moved[1 + model.nq : 1 + model.nq + model.nv + model.na] += deviation[model.nv :]
    return moved


def all_deviated(model: mujoco.MjModel, states: FloatArray, deviations: FloatArray) -> FloatArray:
    """Full-physics states, (w, nstate), each moved by (2 nv + na) as in :func:`deviated`."""
    if model.nq != model.nv:  # positions that are not a vector space
        pairs = zip(states, deviations, strict=True)
        return np.stack([deviated(model, state, deviation) for state, deviation in pairs])
    moved: FloatArray = states.copy()
    moved[:, 1 : 1 + deviations.shape[1]] += deviations
    return moved
