# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The settings of a residual: everything but the parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import ParameterDict, apply_param_modifiers
from sysid_ros.engine.residuals.discrepancy import Comparison
from sysid_ros.engine.residuals.normalization import Normalization
from sysid_ros.engine.residuals.signal_transform import SignalTransform
from sysid_ros.engine.signals import (
    ModelSequences,
    SignalType,
    Stamping,
    SystemTrajectory,
    TimeSeries,
    check_stamping,
)
from sysid_ros.errors import SignalError

# (parameters, spec) -> MjModel. The spec is a copy that may be changed.
BuildModelFn = Callable[[ParameterDict, Any], Any]

# Called with the keyword arguments models, datas, control_signal, initial_states, param_dicts,
# rollout_signal_mapping, rollout_state_mapping, ctrl_mapping.
CustomRolloutFn = Callable[..., Sequence[SystemTrajectory]]

# (params, sensordata_predicted, sensordata_measured, model, return_pred_all, state=...)
# -> (residual, predicted, measured)
ModifyResidualFn = Callable[..., "tuple[FloatArray, TimeSeries, TimeSeries]"]


@dataclass(frozen=True)
class ResidualOptions:
    """Settings of :func:`sysid_ros.engine.problem.residual.residual`, which describes them."""

    models_sequences: Sequence[ModelSequences] = ()
    build_model: BuildModelFn = apply_param_modifiers
    modify_residual: ModifyResidualFn | None = None
    custom_rollout: CustomRolloutFn | None = None
    n_threads: int | None = None
    return_pred_all: bool = False
    resample_true: bool = True
    sensor_weights: Mapping[str, float] | FloatArray | None = None
    enabled_observations: Sequence[tuple[str, SignalType]] = ()
    signal_transform: SignalTransform | None = None
    stamping: Stamping = "notebook"
    normalization: Normalization = "reference"
    noise: Mapping[str, float] | None = None
    wrapped_signals: Collection[str] = ()
    engine: str = "auto"

    def __post_init__(self) -> None:
        """Check what can be checked without data.

        Raises:
          SignalError: The stamping is unknown, or a callback and a transform are both given.
        """
        check_stamping(self.stamping)
        if not self.resample_true and self.stamping == "true":
            raise SignalError('resample_true=False needs stamping="notebook"')
        if self.signal_transform is not None and self.modify_residual is not None:
            raise SignalError("give either signal_transform or modify_residual, not both")

    def comparison(self, transform: SignalTransform | None) -> Comparison:
        """Return the comparison to make; a transform's own choices come first."""
        enabled = [name for name, _ in self.enabled_observations] or None
        weights, normalization = self.sensor_weights, self.normalization
        if transform is not None:
            if transform.enabled_sensors is not None and not self.return_pred_all:
                enabled = list(transform.enabled_sensors)
            if weights is None:
                weights = transform.sensor_weights
            if not transform.normalize:
                normalization = "none"
        return Comparison(
            normalization, self.noise, weights, enabled, self.wrapped_signals, self.stamping
        )
