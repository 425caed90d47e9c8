# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured torque in a fit by simulation: rows of inverse dynamics beside those of motion.

A servo follows its reference, whatever it has to move: its motion hardly tells masses, and its
torque does. Compared with the torque that the *measured* motion takes, it does so whatever the
simulated servo makes of it; and no sensor counts twice, since these rows take the place of those
that compare it with the simulated servo's torque.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.attributes import INERTIAS
from sysid_ros.engine.estimation import FitSettings, SignalNoise, TorqueSettings
from sysid_ros.engine.inverse_dynamics import Recording
from sysid_ros.engine.measured_torque.fit_torque import fit_torque
from sysid_ros.engine.measured_torque.rows import (
    TorqueData,
    TorqueProblem,
    TorqueRows,
    is_place,
    key_of,
    speaks_of_torque,
    torque_problem,
    with_own_law,
    without_ripple,
)
from sysid_ros.engine.parameters import ParameterDict, written_by
from sysid_ros.engine.regressor import all_stretches, choose_filters, smooth
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries
from sysid_ros.errors import SysidError

_FORCES = {int(mujoco.mjtSensor.mjSENS_JOINTACTFRC), int(mujoco.mjtSensor.mjSENS_ACTUATORFRC)}
_OPEN_CHAIN = {int(mujoco.mjtEq.mjEQ_JOINT)}


def torque_beside_simulation(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: FitSettings,
    known: SignalNoise,
) -> TorqueRows | None:
    """Rows of inverse dynamics, with the start that they propose.

    Returns:
      ``None`` where no sensor shows the torque of a joint, where not all joints' positions are
      measured, and for what only a simulation knows: closed chains, friction laws, unknown delays
      and gains of torque, unknown corrections of positions.
    """
    sensors = _torque_sensors(models_sequences)
    own = _own_parameters(params, sensors)
    if not sensors or not own.free():
        return None
    try:
        problem = torque_problem(models_sequences, own)
        sensed = [one for one in problem.sources.signals if not one.control]
        kinds = {one.dof: one.name for one in sensed if one.dof is not None}
        if not kinds or not _is_known(problem, models_sequences, params):
            return None
        found = fit_torque(models_sequences, own, settings, known=known)
    except SysidError:
        return None
    declared = problem.declared
    model = declared.compiled(found.values, declared.robots[0])
    if found.torque is not None and not found.torque.sharp_friction:
        problem = with_own_law(problem, model)
    names = params.scalar_names()
    places = np.array([names.index(name) for name in own.scalar_names()], dtype=np.intp)
    proposal = params.as_vector()
    proposal[places] = found.values
    even = without_ripple(model, problem.recordings, models_sequences, params)
    noise = {dof: found.noise.get(name, np.inf) for dof, name in kinds.items()}
    data = _data(problem, settings.torque, kinds, noise, even, (places, len(proposal), proposal))
    return TorqueRows(data, ())


def without_torque(group: ModelSequences, sensors: Collection[str]) -> ModelSequences:
    """The same recordings without some sensors."""
    kept = [
        TimeSeries.slice_by_name(one, [n for n in one.signal_mapping or {} if n not in sensors])
        for one in group.sensordata
    ]
    return group.replaced(sensordata=kept)


def _torque_sensors(groups: Sequence[ModelSequences]) -> set[str]:
    """Names of the recorded sensors of a joint's or an actuator's force."""
    return {
        name
        for group in groups
        for one in group.sensordata
        for name, (kind, _) in (one.signal_mapping or {}).items()
        if kind is SignalType.MjSensor and int(group.gt_model.sensor(name).type[0]) in _FORCES
    }


def _own_parameters(params: ParameterDict, sensors: Collection[str]) -> ParameterDict:
    """A copy in which only what torque can depend on is free, inertias without any bounds."""
    own = params.copy()
    for p in own.values():
        target = written_by(p)
        if target.element == "signal":
            p.frozen |= target.attribute != "bias" or not set(target.names) & set(sensors)
        elif target.kind in ("attribute", ""):
            p.frozen |= not speaks_of_torque(p)
        if key_of(p) in [("body", name) for name in INERTIAS]:
            p.min_value = np.full_like(p.nominal, -np.inf)
            p.max_value = np.full_like(p.nominal, np.inf)
            p.prior = None
    return own


def _is_known(
    problem: TorqueProblem, groups: Sequence[ModelSequences], params: ParameterDict
) -> bool:
    """Return whether motion, torque and lengths are known as they are, and nothing else acts."""
    torque = {one.name for one in problem.sources.signals}
    unsure = any(
        name in problem.sources.positions or (name in torque and target.attribute != "bias")
        for p in params.free()
        if (target := written_by(p)).element == "signal"
        for name in target.names
    )
    names = [name for group in groups for name in group.sequence_name]
    model = problem.declared.model
    closed = any(int(kind) not in _OPEN_CHAIN for kind in model.eq_type)
    return not (
        unsure
        or closed
        or any(is_place(p) and key_of(p)[0] != "site" for p in params.free())
        or problem.sources.unmeasured
        or problem.declared.has_laws
        or len(set(names)) < len(names)
    )


def _data(
    problem: TorqueProblem,
    settings: TorqueSettings,
    kinds: Mapping[int, str],
    noise: Mapping[int, float],
    even: Sequence[Sequence[Recording]],
    unknowns: tuple[IndexArray, int, FloatArray],
) -> TorqueData:
    """Rows of torque without the sawtooth of held references, without its jumps, as measured."""
    model = problem.declared.model
    cut = all_stretches(model, problem.recordings)
    others = [all_stretches(model, other) for other in even]
    filters = choose_filters(model, cut, settings.motion_cutoff, settings.row_cutoff)
    found = []
    for parts in zip(*others, cut, strict=True):
        rows = [one for part in parts if (one := smooth(model, part, filters)) is not None]
        if len(rows) == len(parts):
            every = np.concatenate([one.shifted for one in rows], axis=2)
            found.append(replace(rows[-1], shifted=every))
    return TorqueData(problem, filters, tuple(found), kinds, noise, *unknowns)
