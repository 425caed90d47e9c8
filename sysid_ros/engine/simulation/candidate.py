# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From parameter values to what a simulation needs: a compiled model and the signals' settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import (
    Parameter,
    ParameterDict,
    SignalModifier,
    StartModifier,
    apply_param_modifiers_spec,
)
from sysid_ros.engine.residuals import UNCHANGED, SignalSettings, signal_settings
from sysid_ros.engine.signals import control_names
from sysid_ros.errors import ModelError, SysidError

Batch = TypeVar("Batch")

ROUNDING = 1e-13  # of the largest number of an array
_OF_NAMES = ("_", "name", "nname", "nbuffer")  # beginnings of attributes that hang on names

# (parameters) -> MjModel
BuildFn = Callable[[ParameterDict], Any]


@dataclass(frozen=True)
class Candidate:
    """A model and signal settings to simulate with."""

    params: ParameterDict  # the values of all parameters
    model: mujoco.MjModel  # the compiled model
    model_key: bytes  # what the model depends on; equal keys share a model
    # settings by sensor or actuator name; absent means unchanged
    signals: Mapping[str, SignalSettings]

    def settings(self, name: str) -> SignalSettings:
        """Settings of the signal called ``name``."""
        return self.signals.get(name, UNCHANGED)

    def rollout_key(self, start_sensors: Collection[str] = ()) -> tuple[Any, ...]:
        """The key of simulations; candidates with equal keys share them."""
        names = [*self.control_names, *start_sensors]
        return self.model_key, self.starts, *(self.settings(name) for name in names)

    def same_inputs(self, other: Candidate) -> bool:
        """Return whether both give a simulation the same start and controls."""
        same_filters = np.array_equal(self.model.actuator_dynprm, other.model.actuator_dynprm)
        return self.signals == other.signals and self.starts == other.starts and same_filters

    def same_controls(self, other: Candidate) -> bool:
        """Return whether both give a simulation the same controls."""
        return all(self.settings(name) == other.settings(name) for name in self.control_names)

    @cached_property
    def control_names(self) -> tuple[str, ...]:
        """The names of the model's controls."""
        return control_names(self.model)

    @cached_property
    def starts(self) -> bytes:
        """The values of all parameters that move the start of a recording."""
        return _values(p for p in self.params.values() if isinstance(p.modifier, StartModifier))


@dataclass(frozen=True)
class MovedTogether:
    """A model in which several free scalars moved, each by another share of its way."""

    model: mujoco.MjModel  # the compiled model
    shares: Mapping[int, float]  # by component


class CandidateBuilder:
    """Makes candidates from values of the free parameters.

    Neither the spec nor the parameters given are changed.

    Args:
      spec: The model to modify.
      params: The parameters; frozen ones are applied at their value.
      build: Makes models instead of the spec.
    """

    def __init__(
        self, spec: mujoco.MjSpec, params: ParameterDict, build: BuildFn | None = None
    ) -> None:
        self._spec = spec
        self._params = params.copy()
        self._build = build
        self._owners = [(p.name, index) for p in self._params.free() for index in range(p.size)]
        self._independent: dict[int, bool] = {}
        self._latest: tuple[bytes, mujoco.MjSpec] | None = None

    @property
    def size(self) -> int:
        """The number of free scalars."""
        return self._params.size

    @property
    def frozen(self) -> bytes:
        """The values of all parameters that are not free."""
        return _values(p for p in self._params.values() if p.frozen)

    def build(self, theta: FloatArray, known: Iterable[Candidate] = ()) -> Candidate:
        """Apply all parameters and compile.

        Args:
          theta: Values of the free scalars, shape (p,).
          known: Candidates whose model is taken where it is the same.

        Raises:
          ModelError: The model does not compile with these values.
        """
        params = self._at(theta)
        key = self._model_key(params)
        shared = next((each.model for each in known if each.model_key == key), None)
        model = shared or (self._build or self._compile)(params)
        return Candidate(params, model, key, signal_settings(params))

    def neighbour(self, base: Candidate, component: int, value: float) -> Candidate:
        """A candidate of this builder with one free scalar changed.

        Most modifiers write one attribute that no other touches. What they change is then all that
        is done anew, once a full build has shown that this is the same.

        Raises:
          ModelError: The model does not compile with it.
        """
        own = self._parameter(base, component, value)
        params = ParameterDict(dict(base.params.parameters))  # the others are shared, and only read
        params.parameters[self._owners[component][0]] = own
        if not shapes_model(own):
            is_signal = isinstance(own.modifier, SignalModifier)
            signals = signal_settings(params) if is_signal else base.signals
            return Candidate(params, base.model, base.model_key, signals)
        known = self._independent.get(component)
        # Twice, until that is known: what scales or adds to a value shows, even from one or zero.
        changes = [own] if known else [own, own]
        model = None if known is False else self._with_changed(base, changes)
        if known is None:
            whole = (self._build or self._compile)(params)
            same = model is not None and _alike(model, whole)
            self._independent[component], model = same, whole
        model = model or (self._build or self._compile)(params)
        return Candidate(params, model, base.model_key + own.as_vector().tobytes(), base.signals)

    def try_together(self, base: Candidate, values: Mapping[int, float]) -> MovedTogether | None:
        """Find out whether each of several free scalars alone can be written anew.

        Written twice in the reverse order behind all others they make the same model as in their
        own place, if none reads or overwrites what another or itself wrote. Where two models
        differ, :meth:`neighbour` tells which scalars do, by a full build each.

        Returns:
          The model in which all that was not known moved; ``None`` where they cannot, or are few.
        """
        params = ParameterDict(dict(base.params.parameters))  # the others are shared, and only read
        unknown = [j for j in values if j not in self._independent and self._shapes(base, j)]
        if len(unknown) < 2 or self._build is not None:
            return None
        shares = dict(zip(unknown, _shares(len(unknown)), strict=True))
        for component, share in shares.items():
            name, index = self._owners[component]
            vector = params[name].as_vector()
            vector[index] += share * (values[component] - vector[index])
            params.parameters[name] = params[name].moved_to(vector)
        moved = [own for name, own in params.items() if own is not base.params[name]]
        if len(moved) < 2:
            return None
        with suppress(ModelError):
            twice = [*moved[::-1], *moved[::-1]]
            model, whole = self._with_changed(base, twice), self._compile(params)
            if model is not None and _alike(model, whole):
                self._independent.update(dict.fromkeys(unknown, True))
                return MovedTogether(whole, shares)
        return None

    def _shapes(self, base: Candidate, component: int) -> bool:
        """Return whether a free scalar changes the model."""
        return shapes_model(base.params[self._owners[component][0]])

    def is_scalar(self, component: int) -> bool:
        """Return whether a free scalar is a parameter of its own, rather than a component."""
        return self._params[self._owners[component][0]].size == 1

    def independent(self, component: int) -> bool:
        """Return whether a neighbour showed that a free scalar alone can be written anew."""
        return self._independent.get(component, False)

    def together(self, base: Candidate, values: Mapping[int, float]) -> mujoco.MjModel | None:
        """The model of a candidate of this builder with several free scalars changed.

        They are given by component, each :meth:`independent` and of another parameter.

        Returns:
          ``None`` where they make none.
        """
        moved = [self._parameter(base, component, value) for component, value in values.items()]
        return self._with_changed(base, moved)

    def _parameter(self, base: Candidate, component: int, value: float) -> Parameter:
        """A copy of the parameter that a free scalar belongs to, with this one changed."""
        name, index = self._owners[component]
        vector = base.params[name].as_vector()
        vector[index] = value
        return base.params[name].moved_to(vector)

    def trust(self, other: CandidateBuilder) -> None:
        """Take over what another builder of the same parameters found out about them."""
        self._independent = other._independent

    def _with_changed(self, base: Candidate, moved: Sequence[Parameter]) -> mujoco.MjModel | None:
        """The model with some parameters written once more; ``None`` where that makes none."""
        if self._build is not None:
            return None
        if self._latest is None or self._latest[0] != base.model_key:
            self._latest = (base.model_key, self._applied(base.params))
        spec = self._latest[1].copy()
        try:
            for own in moved:
                if own.modifier is not None:
                    own.modifier(spec, own)
            return spec.compile()
        except (SysidError, ValueError):
            return None  # a full build says why

    def spec(self, theta: FloatArray) -> mujoco.MjSpec:
        """A copy of the model's spec with all parameters applied."""
        spec: mujoco.MjSpec = apply_param_modifiers_spec(self._at(theta), self._spec)
        return spec

    def _at(self, theta: FloatArray) -> ParameterDict:
        return self._params.moved_to(theta)

    def _model_key(self, params: ParameterDict) -> bytes:
        shaping = [p for p in params.values() if self._build is not None or shapes_model(p)]
        return _values(shaping)

    def _compile(self, params: ParameterDict) -> mujoco.MjModel:
        try:
            return self._applied(params).compile()
        except ValueError as error:
            values = ", ".join(f"{p.name}={p.as_vector()}" for p in params.values())
            raise ModelError(f"the model does not compile with {values}: {error}") from error

    def _applied(self, params: ParameterDict) -> mujoco.MjSpec:
        spec: mujoco.MjSpec = apply_param_modifiers_spec(params, self._spec)
        # A diverging rollout must stay visible instead of silently starting over.
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        no_contacts = int(spec.option.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        if no_contacts or not spec.geoms:
            # Finding what forces connect takes a tenth of a step, and without contacts the few rows
            # of joints and tendons are solved sooner than they are sorted.
            spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
        return spec


@dataclass(frozen=True)
class ModelGroup(Generic[Batch]):
    """All that is simulated with one model: batches of windows, or whole recordings."""

    builder: CandidateBuilder
    batches: tuple[Batch, ...]


def shapes_model(parameter: Parameter) -> bool:
    """Return whether a parameter changes the model, rather than a signal or a start."""
    modifier = parameter.modifier
    return modifier is not None and not isinstance(modifier, (SignalModifier, StartModifier))


def _shares(count: int) -> list[float]:
    """Numbers from a half to one, none the mean of others: changes by them do not cancel out."""
    places = np.arange(count) + 0.5 * np.random.default_rng(0).random(count)
    shares: list[float] = (0.5 + 0.5 * places / count).tolist()
    return shares


def _alike(model: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Return whether two models are the same but for rounding.

    A value that is written twice may be rounded twice: an inertia is scaled to its mass.
    """
    if model_content(model) == model_content(other):
        return True
    numbers = zip(model_numbers(model), model_numbers(other), strict=True)
    return model.names == other.names and all(_close(*each) for each in numbers)


def _close(own: Any, others: Any) -> bool:
    """Return whether numbers are the same but for rounding, in which all of an array share."""
    if np.shape(own) != np.shape(others):
        return False
    if np.array_equal(own, others, equal_nan=True):
        return True
    size = float(np.max(np.abs(others), initial=0.0, where=np.isfinite(others)))
    return np.allclose(own, others, rtol=0.0, atol=ROUNDING * size, equal_nan=True)


def model_content(model: mujoco.MjModel) -> bytes:
    """All of a compiled model, as MuJoCo saves it."""
    buffer = np.zeros(mujoco.mj_sizeModel(model), dtype=np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def model_numbers(model: mujoco.MjModel) -> Iterator[Any]:
    """All numbers of a compiled model, in a fixed order, but those that hang on names."""
    for part in (model, model.opt, model.stat):
        for name in dir(part):
            value = None if name.startswith(_OF_NAMES) else getattr(part, name)
            if isinstance(value, (int, float, np.ndarray)):
                yield value


def _values(params: Iterable[Parameter]) -> bytes:
    """The values of parameters, with what they are applied by."""
    return b"".join(p.as_vector().tobytes() + str(id(p.modifier)).encode() for p in params)
