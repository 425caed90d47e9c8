# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""All that a fit to measured torque works on: model, recordings, parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import compiled
from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.inverse_dynamics import (
    Recording,
    Regressor,
    Settings,
    absent_columns,
    columns_of,
    condition_of,
)
from sysid_ros.engine.measured_torque.rows.contacts import without_contacts
from sysid_ros.engine.measured_torque.rows.declared_columns import Declared
from sysid_ros.engine.measured_torque.rows.sequence_recordings import (
    TorqueSources,
    sequence_recording,
    torque_sources,
)
from sysid_ros.engine.measured_torque.rows.torque_signals import bear_weight, torque_signals
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.regressor import SHARP
from sysid_ros.engine.residuals import SignalSettings, signal_settings
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.errors import ModelError

_GAIN_SPREAD = 0.5  # of a torque's factor without a prior
_MANY = 12  # bodies of which nothing is estimated, from which on they have no columns


@dataclass(frozen=True)
class TorqueProblem:
    """Recordings of one kind of robot, and the parameters to fit to them."""

    declared: Declared  # the parameters
    regressor: Regressor  # of the model at their initial values
    recordings: tuple[Recording, ...]  # motion and torque
    sources: TorqueSources  # the measurements that they come from
    masked: float  # s that contact left out
    notes: tuple[str, ...]  # sentences about the measurements
    # the model whose own law of dry friction counts; the sharp one where left out
    friction_of: mujoco.MjModel | None = None
    # by joint, rad/s or m/s from which on its friction is whole by the sharp law
    creep: Mapping[str, float] = field(default_factory=dict)

    def without(self, joints: Collection[int]) -> TorqueProblem:
        """The same as if the torque of some joints had not been measured."""
        left_out = np.isin(self.declared.model.dof_jntid, [*joints])
        known = {dof: one for dof, one in self.sources.known.items() if not left_out[dof]}
        recordings = tuple(
            replace(one, torque=np.where(left_out, np.nan, one.torque)) for one in self.recordings
        )
        return replace(self, recordings=recordings, sources=replace(self.sources, known=known))


def torque_problem(
    models_sequences: Sequence[ModelSequences], params: ParameterDict
) -> TorqueProblem:
    """Read sequences for inverse dynamics; dry friction follows velocity as closely as it can.

    Args:
      models_sequences: Sequences of one model, in a group for each of several robots.
      params: The parameters at their start.

    Raises:
      SysidError: The models differ, positions or torque are missing, or a parameter cannot be
        fitted in this way.
    """
    groups = sorted(models_sequences, key=_holds_nothing)
    specs = [_as_measured(_unfused(group.spec), groups[0]) for group in groups]
    plain = compiled(specs[0])
    _check_alike(plain, groups, specs)
    robots = tuple(dict.fromkeys(condition_of(group.spec, group.robot) for group in groups))
    sources = torque_sources(plain, groups[0])
    declared = _with_known_bodies(Declared(params, specs[0], sources.signals, robots))
    regressor = _regressor(declared)
    recordings = []
    for group in groups:
        settings = _known_settings(params, group)
        own = torque_sources(plain, group)
        recordings += [
            sequence_recording(plain, group, i, own, settings) for i in range(len(group))
        ]
    kept, masked, notes = without_contacts(
        declared.model, recordings, base_is_known=sources.base_is_known
    )
    notes = (*_notes(sources), *notes)
    return TorqueProblem(declared, regressor, tuple(kept), sources, masked, notes)


def with_own_law(problem: TorqueProblem, friction_of: mujoco.MjModel) -> TorqueProblem:
    """The problem with the model's own law of dry friction, as soft as another model has it."""
    regressor = _regressor(problem.declared, friction_of)
    return replace(problem, regressor=regressor, friction_of=friction_of)


def with_creep(problem: TorqueProblem, creep: Mapping[str, float]) -> TorqueProblem:
    """The problem with the sharp law, of which some joints' friction is whole later on."""
    return replace(problem, regressor=_regressor(problem.declared, None, creep), creep=creep)


def about(problem: TorqueProblem, values: FloatArray) -> TorqueProblem:
    """The problem with friction laws linearised about values of the free parameters, (n,)."""
    if not problem.declared.has_laws:
        return problem
    declared = problem.declared.about(values)
    regressor = _regressor(declared, problem.friction_of, problem.creep)
    return replace(problem, declared=declared, regressor=regressor)


def _regressor(
    declared: Declared,
    friction_of: mujoco.MjModel | None = None,
    creep: Mapping[str, float] = SHARP,
) -> Regressor:
    return Regressor(
        declared.model,
        kinds=declared.kinds,
        sharp_friction=friction_of is None,
        creep=creep,
        delays={name: dofs for name, dofs, _ in declared.delays.values()},
        friction_of=friction_of,
        laws=declared.laws,
        known=declared.known_bodies,
    )


def _with_known_bodies(declared: Declared) -> Declared:
    """The same without columns of bodies of which nothing is estimated, where they are many.

    The sums grow with the square of the columns: of an arm with a hand most are the fingers'.
    """
    if declared.gains or declared.has_laws:
        return declared  # known torque has no gain, and is no load that friction depends on
    free = declared.free(declared.params.as_vector())
    fixed = list(free.fixed.values())
    open_ = np.any([np.any(one != 0.0, axis=1) for one in free.matrix.values()], axis=0)
    open_ |= np.any([one != fixed[0] for one in fixed], axis=0)  # robots may differ
    bodies = free.columns.bodies
    known = {body for body in bodies if not np.any(open_[free.columns.of_body(body)])}
    if len(known) < _MANY:
        return declared
    return replace(declared, known_bodies=frozenset(known), _known={})


def later_recording(problem: TorqueProblem, group: ModelSequences) -> Recording:
    """Read what a recording has become, as motion and torque of the same problem.

    Args:
      problem: Of an earlier part of it.
      group: The recording, as the only sequence of its model.

    Raises:
      DataError: No instant has all positions.
    """
    model, settings = problem.declared.model, _known_settings(problem.declared.params, group)
    recording = sequence_recording(model, group, 0, problem.sources, settings)
    known = problem.sources.base_is_known
    (kept,), _, _ = without_contacts(model, [recording], base_is_known=known)
    return kept


def _known_settings(params: ParameterDict, group: ModelSequences) -> dict[str, SignalSettings]:
    """The delays, gains and biases of a model's signals that are not estimated."""
    frozen = ParameterDict({n: p for n, p in params.items() if p.frozen})
    return signal_settings(frozen.for_robot(group.robot))


def regression_settings(declared: Declared, settings: TorqueSettings) -> Settings:
    """The settings in the words of the regression."""
    gains = {}
    for gain in declared.gains.values():
        joint = declared.model.joint(int(declared.model.dof_jntid[gain.dof])).name
        prior = gain.parameter.prior
        gains[joint] = _GAIN_SPREAD if prior is None else float(np.ravel(prior[1])[0])
    own = dict(vars(settings))
    if settings.total_mass is not None:
        own["total_mass"] -= float(declared.model.body_mass[list(declared.known_bodies)].sum())
    return Settings(**own, kinds=declared.kinds, gains=gains)


def gains_at(declared: Declared, values: FloatArray) -> FloatArray:
    """Factors of measured torque, (nv,), at values of the parameters."""
    at = declared.params.at(values)
    found: FloatArray = np.ones(declared.model.nv)
    for name, gain in declared.gains.items():
        value = float(at[name].value.item())
        found[gain.dof] = 1.0 / value if gain.of_input else value
    return found


def _unfused(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    copy = spec.copy()
    copy.compiler.fusestatic = False
    return copy


def _as_measured(spec: mujoco.MjSpec, group: ModelSequences) -> mujoco.MjSpec:
    """The model whose actuators bear weight only at joints whose torque shows it."""
    if not any(joint.actgravcomp for joint in spec.joints):
        return spec
    model = compiled(spec)
    shown = bear_weight(model, torque_signals(model, group))
    names = {str(model.joint(joint).name) for joint in np.flatnonzero(shown)}
    for joint in spec.joints:
        joint.actgravcomp = joint.name in names
    return spec


def _holds_nothing(group: ModelSequences) -> bool:
    return condition_of(group.spec, group.robot) != (group.robot or "")


def _check_alike(
    model: mujoco.MjModel, groups: Sequence[ModelSequences], specs: Sequence[mujoco.MjSpec]
) -> None:
    """Parameters are of one model; a payload is the one thing that recordings may differ in."""
    own = columns_of(model)
    for group, spec in zip(groups[1:], specs[1:], strict=True):
        other = columns_of(compiled(spec))
        same = own.names == other.names
        if same:
            absent = absent_columns(own, condition_of(spec, None))
            same = np.allclose(np.delete(own.nominal - other.nominal, absent), 0.0)
        if not same:
            raise ModelError(
                f"inverse dynamics fits one model; {group.name!r} is another than "
                f"{groups[0].name!r}. For a payload use the key 'payload'"
            )


def _notes(sources: TorqueSources) -> tuple[str, ...]:
    if not sources.unmeasured:
        return ()
    names = ", ".join(sources.unmeasured)
    return (f"Not measured, so taken to rest at the model's reference: {names}.",)
