# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The inputs of a fit, read from an experiment; and the fit itself."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset.loading import load_dataset
from sysid_ros.dataset.sequences import Dataset
from sysid_ros.engine.estimation import (
    FitResult,
    FitSettings,
    FitState,
    SignalNoise,
    TorqueSettings,
)
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.engine.measured_torque import fit_by_method
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.experiment import Experiment
from sysid_ros.robots import build_parameters

Checked = TypeVar("Checked")  # what a check finds


@dataclass(frozen=True)
class FitSource:
    """Inputs of a fit to be read by any process, which knows a source that it has read before."""

    experiment: Experiment = field(compare=False)  # its path is absolute
    # where bags are found first, absolute; ``None`` for nowhere
    data_dir: Path | None = field(compare=False)
    token: str = field(default_factory=lambda: secrets.token_hex(8))  # by which sources are equal

    @classmethod
    def of(cls, experiment: Experiment, data_dir: Path | None) -> FitSource:
        """The source of an experiment's inputs."""
        return cls(experiment.anywhere(), data_dir.absolute() if data_dir else None)

    def read(self) -> FitInputs:
        """As of :meth:`FitInputs.read`."""
        return FitInputs.read(self.experiment, self.data_dir)


@dataclass(frozen=True)
class FitInputs:
    """An experiment with its recordings and its parameters."""

    experiment: Experiment  # what is asked for
    dataset: Dataset  # its recordings as sequences of its models
    params: ParameterDict  # its parameters at their start

    @classmethod
    def read(
        cls,
        experiment: Experiment,
        data_dir: Path | None,
        on_reading: Callable[[float], None] | None = None,
        *,
        reading: str = "",
    ) -> FitInputs:
        """Read an experiment's recordings and build its parameters.

        Args:
          experiment: The validated experiment.
          data_dir: Where bags are found first.
          on_reading: Told how much of the recordings has been read, 0 to 1.
          reading: As of :func:`~sysid_ros.dataset.loading.load_dataset`.

        Raises:
          SysidError: A bag or model is missing, damaged, or does not fit the experiment.
        """
        dataset = load_dataset(experiment, data_dir, on_reading, reading=reading)
        params = build_parameters(experiment, dataset.training[0].spec)
        return cls(experiment, dataset, params)

    @property
    def settings(self) -> FitSettings:
        """The experiment's settings in the library's words."""
        return fit_settings(self.experiment)

    @property
    def known(self) -> SignalNoise:
        """Return the experiment's knowledge about its measurements."""
        return SignalNoise(self.dataset.noise)

    def fitted(
        self,
        *,
        start: FloatArray | None = None,
        resume: FitState | None = None,
        landscapes: bool = True,
        time_limit: float | None = None,
        on_iteration: Callable[[Iteration], None] | None = None,
        on_state: Callable[[FitState], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> FitResult:
        """Fit the training sequences.

        Args:
          start: Where to start, (p,); by default as the experiment says.
          resume: Where an earlier fit of the same inputs stood.
          landscapes: Whether to compute those that the experiment asks for, and model errors.
          time_limit: s for the fit alone; by default the experiment's.
          on_iteration: Told every step of the optimizer.
          on_state: Given the state after every accepted step.
          should_stop: Asked while simulating; true ends the fit with its best parameters.

        Raises:
          SysidError: As of the experiment's method.
        """
        settings = self.settings
        if not landscapes:
            settings = replace(settings, landscapes=0, model_error=False)
        if time_limit is not None:
            settings = replace(settings, time_limit=time_limit)
        return fit_by_method(
            self.dataset.training,
            self.params,
            settings,
            known=self.known,
            start=start,
            resume=resume,
            on_iteration=on_iteration,
            on_state=on_state,
            should_stop=should_stop,
        )

    def checked(self, check: Callable[..., Checked], result: FitResult, **options: Any) -> Checked:
        """Have a fit checked on what it was fitted to.

        Args:
          check: Takes sequences, parameters, result and settings, and what is ``known`` of noise.
          result: The fit.
          **options: What else the check takes.

        Raises:
          SysidError: As of the check.
        """
        given = self.dataset.training, self.params, result, self.settings
        return check(*given, known=self.known, **options)


def fit_settings(experiment: Experiment) -> FitSettings:
    """The settings of an experiment in the library's words."""
    return FitSettings(
        window_length=experiment.windows.length,
        estimate_starts=experiment.initial_state.estimate,
        velocity_filter=experiment.initial_state.velocity_filter,
        torque=torque_settings(experiment),
        **_shared(FitSettings, experiment.fit),
    )


def torque_settings(experiment: Experiment) -> TorqueSettings:
    """The settings of a fit by inverse dynamics in the library's words."""
    return TorqueSettings(**_shared(TorqueSettings, experiment.fit.inverse_dynamics))


def _shared(kind: type, given: object) -> dict[str, Any]:
    """The fields of a dataclass that ``given`` has under the same names."""
    names = [field.name for field in fields(kind)]
    return {name: getattr(given, name) for name in names if hasattr(given, name)}
