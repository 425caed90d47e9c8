# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A residual function: simulates what it must, compares, and remembers its threads."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import SlimModel
from sysid_ros.engine.parameters import ParameterDict, apply_param_modifiers
from sysid_ros.engine.problem.parameter_priors import ParameterPriors
from sysid_ros.engine.residuals import CustomRolloutFn, ResidualOptions
from sysid_ros.engine.signals import (
    ModelSequences,
    SystemTrajectory,
    TimeSeries,
    control_mapping,
    sensor_mapping,
)
from sysid_ros.engine.simulation import (
    BatchRollout,
    Candidate,
    CandidateBuilder,
    ModelGroup,
    RecordedRun,
    RolloutPool,
    SignalNames,
    all_states,
    compared_runs,
    recorded_runs,
    trajectories,
)
from sysid_ros.errors import SignalError

if TYPE_CHECKING:
    from sysid_ros.engine.problem.residual_jacobian import ResidualJacobian
    from sysid_ros.engine.problem.trial_runs import TrialRuns

Residuals = tuple[list[FloatArray], list[list[TimeSeries]], list[list[TimeSeries]]]
RecordingGroup = ModelGroup[RecordedRun]
# A candidate, and the simulations of a group's recordings with it.
Simulated = tuple[Candidate, list[SystemTrajectory]]

# Of a model's steps; MuJoCo's own take less than reading the tables that others need.
FEWEST_STEPS = 2500
PART = 8  # one of so many recordings is enough for the first steps of a search
_SOME = slice(PART // 2, None, PART)


class ResidualFunction:
    """A residual with its settings; keeps threads and the latest simulations between calls.

    The models' specs must not be changed between calls.
    """

    def __init__(self, options: ResidualOptions) -> None:
        self.options = options
        self._pool: RolloutPool | None = None
        self._names = SignalNames()
        self._latest: list[Simulated] = []  # one per group
        self._runs = [
            recorded_runs(sequences.measured_rollout, options, sequences.sequence_name)
            for sequences in options.models_sequences
        ]
        self._slim: dict[int, SlimModel] = {}
        self._exact: ResidualJacobian | None = None
        self._part: ResidualFunction | None = None
        self._trials: list[TrialRuns] = []  # of a part, too: one at most

    def __call__(self, x: FloatArray, params: ParameterDict, **overrides: Any) -> Residuals:
        """See :func:`residual`; keyword arguments override the settings for this call."""
        if overrides:
            return ResidualFunction(replace(self.options, **overrides))(x, params)
        if not self.options.models_sequences:
            raise SignalError("no recordings: models_sequences is empty")
        return self.evaluate(x, params, self._groups)

    def trial(self, x: FloatArray, params: ParameterDict) -> Residuals | None:
        """The residuals at a point that a search tries, (p,), simulated as exact derivatives do.

        Returns:
          ``None`` where that was not seen to be what MuJoCo simulates, or is no faster.
        """
        steps = sum(len(run) for _, runs in self._latest for run in runs)
        if steps < FEWEST_STEPS * len(self._latest) or not (self._is_plain and self._latest):
            return None
        try:  # numba takes half a second to load, and does not run everywhere
            from sysid_ros.engine.problem.trial_runs import TrialRuns
        except ImportError:
            return None
        if not self._trials:
            self._trials.append(TrialRuns(self._runs, self._latest, self._threads()))
        (trials,) = self._trials
        return self.evaluate(x, params, self._groups, trials) if trials.trusted else None

    def jacobian(self, x: FloatArray, params: ParameterDict) -> FloatArray | None:
        """Derivative of the concatenated residuals at a point, (p,), exact where that is known.

        Returns:
          Shape (m, p), or ``None`` where only finite differences of residuals can tell: with a
          callback, ``engine="reference"``, or a model that the exact pass does not follow.
        """
        if not self._is_plain:
            return None
        try:  # numba takes half a second to load, and does not run everywhere
            from sysid_ros.engine.problem.residual_jacobian import ResidualJacobian
        except ImportError:
            return None
        of_part = None if self._part is None else self._part._exact
        self._exact = self._exact or ResidualJacobian(self._threads(), of_part)
        x = np.asarray(x, dtype=np.float64)
        groups, simulated = self._at(x, params)
        known = [(own, [_rollout(run) for run in runs]) for own, runs in simulated]
        return self._exact(x, params, groups, known)

    def part(self) -> ResidualFunction | None:
        """The same of some of the recordings, for the first steps of a search.

        What is found out about a model there need not be found out again for all recordings.

        Returns:
          ``None`` where there are few recordings of any model, or where callbacks simulate or
          compare.
        """
        if not self._is_plain or min(map(len, self._runs), default=0) < PART:
            return None
        part = copy(self)
        part._runs = [runs[_SOME] for runs in self._runs]
        part._latest = [(candidate, runs[_SOME]) for candidate, runs in self._latest]
        part._exact, self._part = None, part
        return part

    def evaluate(
        self,
        x: FloatArray,
        params: ParameterDict,
        groups: Callable[[ParameterDict], list[RecordingGroup]],
        trials: TrialRuns | None = None,
    ) -> Residuals:
        """Residuals of all groups' recordings for every column of ``x``, by default of MuJoCo."""
        x = np.asarray(x, dtype=np.float64)
        columns = list(x.reshape(len(x), -1).T) if x.ndim > 1 else [x]
        custom = self.options.custom_rollout
        if custom is None:
            own, simulated = self._checked(columns, params, groups, trials)
        else:
            own = groups(params)
            simulated = [self._custom(custom, columns, group) for group in own]
        residuals: list[FloatArray] = []
        predictions: list[list[TimeSeries]] = []
        records: list[list[TimeSeries]] = []
        for group, found in zip(own, simulated, strict=True):
            compared = [compared_runs(group.batches, *each) for each in found]
            for parts in zip(*compared, strict=True):
                residuals.append(_columns([np.ravel(part[0]) for part in parts], x))
                predictions.append([part[1] for part in parts])
                records.append([part[2] for part in parts])
        made = [candidate.params for candidate, _ in simulated[0]]
        pulls = [ParameterPriors(p, hold=False).given_rows(p.as_vector())[:, -1] for p in made]
        if pulls[0].size:
            residuals.append(_columns(pulls, x))
        return residuals, predictions, records

    @property
    def _is_plain(self) -> bool:
        """True if nothing but the parameters' modifiers stands between them and the residual."""
        options = self.options
        return (
            options.engine == "auto"
            and self._is_declared
            and options.custom_rollout is None
            and options.modify_residual is None
            and options.resample_true
        )

    @property
    def _is_declared(self) -> bool:
        """True if modifiers, rather than a callback, make the models."""
        return self.options.build_model is apply_param_modifiers

    def _groups(self, params: ParameterDict) -> list[RecordingGroup]:
        return [
            ModelGroup(self._builder(sequences, params), runs)
            for sequences, runs in zip(self.options.models_sequences, self._runs, strict=True)
        ]

    def _builder(self, sequences: ModelSequences, params: ParameterDict) -> CandidateBuilder:
        if self._is_declared:
            return CandidateBuilder(self._slim_model(sequences).spec, params)
        build, spec = self.options.build_model, sequences.spec
        return CandidateBuilder(spec, params, lambda own: build(own, spec.copy()))

    def _slim_model(self, sequences: ModelSequences) -> SlimModel:
        if id(sequences) not in self._slim:
            self._slim[id(sequences)] = SlimModel(sequences.spec, sequences.gt_model)
        return self._slim[id(sequences)]

    def _at(
        self, x: FloatArray, params: ParameterDict
    ) -> tuple[list[RecordingGroup], list[Simulated]]:
        """All groups with their simulations at one point, the latest ones where they fit."""
        groups = self._groups(params)
        if len(self._latest) == len(groups):
            known = [candidate for candidate, _ in self._latest]
            made = [group.builder.build(x, [own]) for group, own in zip(groups, known, strict=True)]
            if all(a.rollout_key() == b.rollout_key() for a, b in zip(made, known, strict=True)):
                # The latest candidate may read its sensors otherwise.
                latest = zip(made, self._latest, strict=True)
                return groups, [(each, runs) for each, (_, runs) in latest]
        groups, simulated = self._checked([x], params, self._groups)
        return groups, [found[0] for found in simulated]

    def _checked(
        self,
        columns: list[FloatArray],
        params: ParameterDict,
        groups: Callable[[ParameterDict], list[RecordingGroup]],
        trials: TrialRuns | None = None,
    ) -> tuple[list[RecordingGroup], list[list[Simulated]]]:
        """Simulations; of a single candidate again where the slim model was too slim for it."""
        own = groups(params)
        simulated = self._simulated(columns, own, trials)
        if len(columns) == 1 and self._touching([found[0] for found in simulated]):
            own = groups(params)
            simulated = self._simulated(columns, own)
        return own, simulated

    def _touching(self, simulated: list[Simulated]) -> bool:
        """Return whether geoms that were left out would have touched in the simulations."""
        if not self._is_declared:
            return False
        touched = False
        for sequences, (candidate, runs) in zip(
            self.options.models_sequences, simulated, strict=False
        ):
            states = [run.state.data for run in runs if run.state is not None]
            touched |= bool(states) and self._slim_model(sequences).touches(
                candidate.model,
                states,
                partial(apply_param_modifiers, candidate.params, sequences.spec),
            )
        return touched

    def _simulated(
        self,
        columns: list[FloatArray],
        groups: list[RecordingGroup],
        trials: TrialRuns | None = None,
    ) -> list[list[Simulated]]:
        """Per group the simulations of every column, in as few native calls as possible."""
        candidates: list[list[Simulated]] = []
        known: list[dict[Any, list[SystemTrajectory]]] = []
        pending: list[tuple[int, Candidate]] = []
        for g, group in enumerate(groups):
            # A parameter of a signal leaves the latest simulation as it is.
            latest = self._latest[g : g + 1] if len(columns) > 1 else []
            known.append({candidate.rollout_key(): runs for candidate, runs in latest})
            made = [candidate for candidate, _ in latest]
            candidates.append([])
            for column in columns:
                made.append(group.builder.build(column, made))
                key = made[-1].rollout_key()
                if key not in known[g]:
                    known[g][key] = []
                    pending.append((g, made[-1]))
                candidates[g].append((made[-1], known[g][key]))
        jobs = [run.job(candidate) for g, candidate in pending for run in groups[g].batches]
        of_model = [g for g, _ in pending for _ in groups[g].batches]
        run = self._threads().run if trials is None else partial(trials.run, of_model=of_model)
        done = iter(trajectories(run, jobs, self._names))
        for g, candidate in pending:
            known[g][candidate.rollout_key()] += [next(done) for _ in groups[g].batches]
        if len(columns) == 1:
            self._latest = [found[0] for found in candidates]
        return candidates

    def _custom(
        self, custom: CustomRolloutFn, columns: list[FloatArray], group: RecordingGroup
    ) -> list[Simulated]:
        """The user's own rollout, called once per recording with all candidates."""
        made: list[Candidate] = []
        for column in columns:
            made.append(group.builder.build(column, made))
        distinct = list({candidate.rollout_key(): candidate for candidate in made}.values())
        models = [candidate.model for candidate in distinct]
        datas = [mujoco.MjData(models[0]) for _ in range(self._threads().n_threads)]
        found: dict[Any, list[SystemTrajectory]] = {each.rollout_key(): [] for each in distinct}
        for run in group.batches:
            control = run.recording.control
            if self.options.resample_true:
                control = control.resample(target_dt=float(models[0].opt.timestep))
            runs = custom(
                models=models,
                datas=datas,
                control_signal=[control] * len(models),
                initial_states=[run.recording.initial_state] * len(models),
                param_dicts=[candidate.params for candidate in distinct],
                rollout_signal_mapping=sensor_mapping(models[0]),
                rollout_state_mapping=all_states(models[0]),
                ctrl_mapping=control_mapping(models[0]),
            )
            for candidate, trajectory in zip(distinct, runs, strict=True):
                found[candidate.rollout_key()].append(trajectory)
        return [(candidate, found[candidate.rollout_key()]) for candidate in made]

    def _threads(self) -> RolloutPool:
        if self._pool is None:
            self._pool = RolloutPool(self.options.n_threads)
        return self._pool


def _rollout(run: SystemTrajectory) -> BatchRollout:
    """Return the result of the native call; incomplete where there are no states."""
    states = np.full((len(run), 1), np.nan) if run.state is None else run.state.data
    diverged = np.array([not np.isfinite(states).all()])
    return BatchRollout(states, run.sensordata.data, diverged)


def _columns(residuals: list[FloatArray], x: FloatArray) -> FloatArray:
    """Residuals at the columns of ``x``, (m, k), or (m,) where it is a vector."""
    return residuals[0] if x.ndim == 1 else np.stack(residuals, axis=-1)
