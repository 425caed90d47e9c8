# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A residual function: simulates what it must, compares, and remembers its threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.sysid import mappings
from sysid_ros.sysid.candidate import SignalSettings
from sysid_ros.sysid.comparison_slope import ComparisonSlope, comparison_slope
from sysid_ros.sysid.declared_signals import signal_settings, with_declared_signals
from sysid_ros.sysid.discrepancy import SignalCorrection, compare
from sysid_ros.sysid.mappings import SignalError
from sysid_ros.sysid.model_modifier import apply_param_modifiers
from sysid_ros.sysid.modifiers import SignalModifier
from sysid_ros.sysid.parameter_dict import ParameterDict
from sysid_ros.sysid.residual_options import CustomRolloutFn, ResidualOptions
from sysid_ros.sysid.rollout_pool import RolloutPool
from sysid_ros.sysid.series_checks import check_same_signals, check_types
from sysid_ros.sysid.slim_model import SlimModel
from sysid_ros.sysid.start_parameters import moved_start
from sysid_ros.sysid.step_controls import (
    StepControls,
    averaged_controls,
    ordered_controls,
    sampled_controls,
)
from sysid_ros.sysid.sysid_rollout import Simulation, all_states, trajectories
from sysid_ros.sysid.timeseries import TimeSeries
from sysid_ros.sysid.trajectory import ModelSequences, SystemTrajectory

FloatArray = npt.NDArray[np.float64]
Residuals = tuple[list[FloatArray], list[list[TimeSeries]], list[list[TimeSeries]]]


@dataclass(frozen=True)
class Group:
    """Recordings of one model, and how to make the model."""

    build: Callable[[ParameterDict], Any]
    recordings: Sequence[SystemTrajectory]
    names: Sequence[str] = ()  # of the recordings, where they have any


@dataclass(frozen=True)
class _Candidate:
    """One set of parameter values.

    Attributes:
      params: The values.
      model_key: What the models depend on; equal keys share models.
      commands: Corrections of the commands by actuator.
    """

    params: ParameterDict
    model_key: bytes
    commands: Mapping[str, SignalSettings]

    @property
    def key(self) -> tuple[bytes, tuple[tuple[str, SignalSettings], ...]]:
        """What the simulations depend on."""
        return self.model_key, tuple(sorted(self.commands.items()))


_Simulated = dict[tuple[int, Any], "list[SystemTrajectory]"]


def exact_jacobian(
    function: ResidualFunction,
) -> Callable[[FloatArray, ParameterDict], FloatArray | None]:
    """The exact Jacobian of a residual function, or one that says it does not know."""
    options = function.options
    plain = (
        options.engine == "auto"
        and options.build_model is apply_param_modifiers
        and options.custom_rollout is None
        and options.modify_residual is None
        and options.resample_true
    )
    if plain:
        try:  # numba takes half a second to load, and does not run everywhere
            from sysid_ros.sysid.sensitivity.residual_jacobian import ResidualJacobian
        except ImportError:
            return lambda x, params: None
        return ResidualJacobian(function)
    return lambda x, params: None


class ResidualFunction:
    """A residual with its settings; keeps threads and the latest simulations between calls.

    The models' specs must not be changed between calls.
    """

    def __init__(self, options: ResidualOptions) -> None:
        """Keep the settings."""
        self.options = options
        self._pool: RolloutPool | None = None
        self._latest: _Simulated = {}
        self._slim: dict[int, SlimModel] = {}
        self._exact: Callable[[FloatArray, ParameterDict], FloatArray | None] | None = None

    def __call__(self, x: FloatArray, params: ParameterDict, **overrides: Any) -> Residuals:
        """See :func:`residual`; keyword arguments override the settings for this call."""
        if overrides:
            return ResidualFunction(replace(self.options, **overrides))(x, params)
        if not self.options.models_sequences:
            raise SignalError("no recordings: models_sequences is empty")
        return self.evaluate(x, params, self._groups())

    def jacobian(self, x: FloatArray, params: ParameterDict) -> FloatArray | None:
        """Derivative of the concatenated residuals, exact where that is known.

        Args:
          x: Values of the free parameters, (p,).
          params: The parameters.

        Returns:
          Shape (m, p), or ``None`` where only finite differences of residuals can tell: with a
          callback, ``engine="reference"``, or a model that the exact pass does not follow.
        """
        if self._exact is None:
            self._exact = exact_jacobian(self)
        return self._exact(x, params)

    def base_simulations(
        self, x: FloatArray, params: ParameterDict
    ) -> list[tuple[Group, list[SystemTrajectory]]]:
        """The groups and the simulations of their recordings, the latest ones where they fit."""
        groups = self._groups()
        candidate = self._candidate(np.asarray(x), params, _actuators(groups))
        keys = [(g, candidate.key) for g in range(len(groups))]
        if not all(key in self._latest for key in keys):
            self._checked([candidate], groups)
        return [(group, self._latest[key]) for group, key in zip(groups, keys, strict=True)]

    def slope(
        self, params: ParameterDict, recording: SystemTrajectory, simulation: SystemTrajectory
    ) -> ComparisonSlope | None:
        """How one recording's residual depends on its simulation's sensor data."""
        options, model = self.options, simulation.model
        shift = float(recording.control.times[0] - recording.initial_state[0])
        measured = _shifted(recording.sensordata, -shift)
        return comparison_slope(
            simulation.sensordata,
            measured,
            model,
            options.comparison(options.signal_transform),
            self.corrections(params, measured, model),
        )

    def _groups(self) -> list[Group]:
        return [self._group(sequences) for sequences in self.options.models_sequences]

    def evaluate(self, x: FloatArray, params: ParameterDict, groups: list[Group]) -> Residuals:
        """Residuals of all groups' recordings for every column of ``x``."""
        x = np.asarray(x, dtype=np.float64)
        columns = x.reshape(len(x), -1).T if x.ndim > 1 else [x]
        candidates = [self._candidate(column, params, _actuators(groups)) for column in columns]
        custom = self.options.custom_rollout
        if custom is None:
            simulated = self._checked(candidates, groups)
        else:
            simulated = self._custom(custom, candidates, groups)
        residuals: list[FloatArray] = []
        predictions: list[list[TimeSeries]] = []
        records: list[list[TimeSeries]] = []
        for g, group in enumerate(groups):
            for r, recording in enumerate(group.recordings):
                parts = [
                    self._compared(candidate, recording, simulated[g, candidate.key][r])
                    for candidate in candidates
                ]
                stacked = np.stack([np.ravel(part[0]) for part in parts], axis=-1)
                residuals.append(stacked if x.ndim > 1 else stacked[:, 0])
                predictions.append([part[1] for part in parts])
                records.append([part[2] for part in parts])
        pulls = [_prior_residual(candidate.params) for candidate in candidates]
        if pulls[0].size:
            pulled = np.stack(pulls, axis=-1)
            residuals.append(pulled if x.ndim > 1 else pulled[:, 0])
        return residuals, predictions, records

    def _group(self, sequences: ModelSequences) -> Group:
        build, spec = self.options.build_model, sequences.spec
        if build is apply_param_modifiers:  # works on a copy by itself
            slim = self._slim_model(sequences)
            return Group(
                lambda params: build(params, slim.spec),
                sequences.measured_rollout,
                sequences.sequence_name,
            )
        return Group(
            lambda params: build(params, spec.copy()),
            sequences.measured_rollout,
            sequences.sequence_name,
        )

    def _slim_model(self, sequences: ModelSequences) -> SlimModel:
        if id(sequences) not in self._slim:
            self._slim[id(sequences)] = SlimModel(sequences.spec)
        return self._slim[id(sequences)]

    def _checked(self, candidates: list[_Candidate], groups: list[Group]) -> _Simulated:
        """Simulations; of a single candidate again where the slim model was too slim for it."""
        simulated = self._simulated(candidates, groups)
        if len(candidates) == 1 and self._touching(candidates[0], groups, simulated):
            simulated = self._simulated(candidates, groups)
        return simulated

    def _touching(self, candidate: _Candidate, groups: list[Group], simulated: _Simulated) -> bool:
        """Whether geoms that were left out would have touched in the simulations."""
        if self.options.build_model is not apply_param_modifiers:
            return False
        touched = False
        for g, sequences in enumerate(self.options.models_sequences[: len(groups)]):
            runs = [run for run in simulated[g, candidate.key] if run.state is not None]
            touched |= bool(runs) and self._slim_model(sequences).touches(
                runs[0].model,
                [run.state.data for run in runs if run.state is not None],
                partial(apply_param_modifiers, candidate.params, sequences.spec),
            )
        return touched

    def _candidate(self, x: FloatArray, params: ParameterDict, actuators: set[str]) -> _Candidate:
        own = params.copy()
        own.update_from_vector(x)
        key = x.tobytes()
        if self.options.build_model is apply_param_modifiers:
            shaping = [p for p in own.values() if not isinstance(p.modifier, SignalModifier)]
            shaping = [p for p in shaping if p.modifier is not None]
            key = b"".join(p.as_vector().tobytes() + str(id(p.modifier)).encode() for p in shaping)
        commands = {n: each for n, each in signal_settings(own).items() if n in actuators}
        return _Candidate(own, key, commands)

    def _simulated(self, candidates: list[_Candidate], groups: list[Group]) -> _Simulated:
        """All simulations that are not known yet, in as few native calls as possible."""
        wanted = {
            (g, candidate.key): candidate for g in range(len(groups)) for candidate in candidates
        }
        known: _Simulated = {}
        if len(candidates) > 1:  # a parameter of a signal leaves the latest simulation as it is
            known = {key: self._latest[key] for key in wanted if key in self._latest}
        jobs: list[Simulation] = []
        prepared: dict[tuple[Any, ...], Any] = {}
        pending = [(key, candidate) for key, candidate in wanted.items() if key not in known]
        for (g, _), candidate in pending:
            jobs += self._jobs(groups[g], g, candidate, prepared)
        done = iter(trajectories(self._threads(), jobs))
        fresh = {key: [next(done) for _ in groups[key[0]].recordings] for key, _ in pending}
        result = {**known, **fresh}
        if len(candidates) == 1:
            self._latest = result
        return result

    def _jobs(
        self, group: Group, index: int, candidate: _Candidate, prepared: dict[tuple[Any, ...], Any]
    ) -> list[Simulation]:
        """Simulations of one group; equal candidates share what is ``prepared``."""
        model_key = (index, candidate.model_key)
        if model_key not in prepared:
            prepared[model_key] = group.build(candidate.params)
        model = prepared[model_key]
        jobs = []
        for r, recording in enumerate(group.recordings):
            key = (index, r, candidate.key[1], float(model.opt.timestep))
            if key not in prepared:
                prepared[key] = self._controls(model, recording.control, candidate.commands)
            start = recording.initial_state
            if group.names:
                start = moved_start(model, start, candidate.params, group.names[r])
            jobs.append(Simulation(model, start, prepared[key]))
        return jobs

    def _custom(
        self, custom: CustomRolloutFn, candidates: list[_Candidate], groups: list[Group]
    ) -> _Simulated:
        """The user's own rollout, called once per recording with all candidates."""
        candidates = list({candidate.key: candidate for candidate in candidates}.values())
        result: _Simulated = {(g, c.key): [] for g in range(len(groups)) for c in candidates}
        for g, group in enumerate(groups):
            models = [group.build(candidate.params) for candidate in candidates]
            datas = [mujoco.MjData(models[0]) for _ in range(self._threads().n_threads)]
            for recording in group.recordings:
                control = recording.control
                if self.options.resample_true:
                    control = control.resample(target_dt=float(models[0].opt.timestep))
                runs = custom(
                    models=models,
                    datas=datas,
                    control_signal=[control] * len(models),
                    initial_states=[recording.initial_state] * len(models),
                    param_dicts=[candidate.params for candidate in candidates],
                    rollout_signal_mapping=mappings.sensor_mapping(models[0]),
                    rollout_state_mapping=all_states(models[0]),
                    ctrl_mapping=mappings.control_mapping(models[0]),
                )
                for candidate, trajectory in zip(candidates, runs, strict=True):
                    result[g, candidate.key].append(trajectory)
        return result

    def _controls(
        self, model: Any, control: TimeSeries, commands: Mapping[str, SignalSettings]
    ) -> StepControls:
        if not self.options.resample_true:
            return StepControls(control.times[:-1], ordered_controls(model, control)[:-1])
        if commands or self.options.stamping == "true":
            return averaged_controls(model, control, commands, stamping=self.options.stamping)
        return sampled_controls(model, control)

    def _compared(
        self, candidate: _Candidate, recording: SystemTrajectory, simulated: SystemTrajectory
    ) -> tuple[FloatArray, TimeSeries, TimeSeries]:
        options, model = self.options, simulated.model
        state = None if simulated.state is None else simulated.state.data
        # A simulation starts at its state's time with the recording's first command.
        shift = float(recording.control.times[0] - recording.initial_state[0])
        predicted, measured = simulated.sensordata, recording.sensordata
        if options.modify_residual is not None:
            result = options.modify_residual(
                candidate.params,
                _shifted(predicted, shift),
                measured,
                model,
                options.return_pred_all,
                state=state,
            )
            check_same_signals(result[1], result[2])
            return result
        check_types(measured, options.enabled_observations)
        if options.resample_true:
            # Subtracting is exact where adding an epoch would round.
            measured = _shifted(measured, -shift)
        else:
            # The simulation's first sample is one step after the recording's.
            measured = TimeSeries(predicted.times, measured.data[1:], measured.signal_mapping)
        residual, predicted, measured = compare(
            predicted,
            measured,
            model,
            options.comparison(options.signal_transform),
            corrections=self.corrections(candidate.params, measured, model),
            state=state,
        )
        return residual, _shifted(predicted, shift), _shifted(measured, shift)

    def corrections(
        self, params: ParameterDict, measured: TimeSeries, model: Any
    ) -> dict[str, SignalCorrection]:
        """Delay, gain and bias of every measured signal at these parameters."""
        transform = with_declared_signals(self.options.signal_transform, params, measured, model)
        names = (measured.signal_mapping or mappings.sensor_mapping(model)).keys()
        return transform.corrections(names, params)

    def _threads(self) -> RolloutPool:
        if self._pool is None:
            self._pool = RolloutPool(self.options.n_threads)
        return self._pool


def _actuators(groups: list[Group]) -> set[str]:
    return {
        name
        for group in groups
        for recording in group.recordings[:1]
        for name in mappings.actuator_names(recording.model)
    }


def _shifted(series: TimeSeries, seconds: float) -> TimeSeries:
    """The series with its times later by ``seconds``."""
    if seconds == 0.0:
        return series
    return TimeSeries(
        series.times + seconds, series.data, series.signal_mapping, series.interpolation
    )


def _prior_residual(params: ParameterDict) -> FloatArray:
    """How far each free parameter is from its prior, in standard deviations."""
    pulls = [
        ((parameter.value - parameter.prior[0]) / parameter.prior[1]).ravel()
        for parameter in params.free()
        if parameter.prior is not None
    ]
    return np.concatenate(pulls) if pulls else np.empty(0)
