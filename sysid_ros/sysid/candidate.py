# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From parameter values to what a simulation needs: a compiled model and the signals' settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.errors import ModelError
from sysid_ros.sysid.control import control_names
from sysid_ros.sysid.model_modifier import apply_param_modifiers_spec
from sysid_ros.sysid.modifiers import SignalModifier
from sysid_ros.sysid.parameter_dict import ParameterDict

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SignalSettings:
    """How a measured or commanded signal differs from the model's.

    A sensor shows ``gain * y(t - delay) + bias`` of the model's value y; an actuator is driven by
    ``gain * u(t - delay) + bias`` of the recorded command u.
    """

    delay: float = 0.0  # s
    gain: float = 1.0
    bias: float = 0.0  # in the signal's unit


UNCHANGED = SignalSettings()


@dataclass(frozen=True)
class Candidate:
    """A model and signal settings to simulate with.

    Attributes:
      model: The compiled model.
      signals: Settings by sensor or actuator name; absent means unchanged.
    """

    model: mujoco.MjModel
    signals: Mapping[str, SignalSettings] = field(default_factory=dict)

    def settings(self, name: str) -> SignalSettings:
        """Settings of the signal called ``name``."""
        return self.signals.get(name, UNCHANGED)

    def same_rollout(self, other: Candidate, start_sensors: Collection[str]) -> bool:
        """Whether both simulate alike and differ at most in how sensors are read.

        Args:
          other: Another candidate.
          start_sensors: Sensors that starts are read from.
        """
        if self.model is not other.model:
            return False
        names = [*control_names(self.model), *start_sensors]
        return all(self.settings(name) == other.settings(name) for name in names)


class CandidateBuilder:
    """Makes candidates from values of the free parameters.

    Neither the spec nor the parameters given are changed.

    Args:
      spec: The model to modify.
      params: The parameters; frozen ones are applied at their value.
    """

    def __init__(self, spec: mujoco.MjSpec, params: ParameterDict) -> None:
        self._spec = spec
        self._params = params.copy()
        self._signal_only = np.concatenate(
            [np.zeros(0, dtype=bool)]
            + [
                np.full(p.size, isinstance(p.modifier, SignalModifier))
                for p in params.values()
                if not p.frozen
            ]
        )

    def build(self, theta: FloatArray) -> Candidate:
        """Apply all parameters and compile.

        Args:
          theta: Values of the free scalars, shape (p,).

        Raises:
          ModelError: The model does not compile with these values.
        """
        self._params.update_from_vector(theta)
        return Candidate(self._compile(), self._signal_settings())

    def perturbed(self, theta: FloatArray, component: int, base: Candidate) -> Candidate:
        """Like :meth:`build`, reusing the model of ``base`` where ``component`` leaves it alone."""
        if not self._signal_only[component]:
            return self.build(theta)
        self._params.update_from_vector(theta)
        return replace(base, signals=self._signal_settings())

    def spec(self, theta: FloatArray) -> mujoco.MjSpec:
        """A copy of the model's spec with all parameters applied."""
        self._params.update_from_vector(theta)
        return self._modified_spec()

    def _modified_spec(self) -> mujoco.MjSpec:
        spec: mujoco.MjSpec = apply_param_modifiers_spec(self._params, self._spec)
        return spec

    def _compile(self) -> mujoco.MjModel:
        spec = self._modified_spec()
        # A diverging rollout must stay visible instead of silently starting over.
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        try:
            return spec.compile()
        except ValueError as error:
            values = ", ".join(f"{p.name}={p.as_vector()}" for p in self._params.values())
            raise ModelError(f"the model does not compile with {values}: {error}") from error

    def _signal_settings(self) -> dict[str, SignalSettings]:
        settings: dict[str, SignalSettings] = {}
        for parameter in self._params.values():
            modifier = parameter.modifier
            if isinstance(modifier, SignalModifier):
                value = float(parameter.as_vector()[0])
                for name in modifier.names:
                    current = settings.get(name, UNCHANGED)
                    settings[name] = replace(current, **{modifier.attribute: value})
        return settings
