# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An ordered set of parameters, seen by optimizers as one vector."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import InertiaType
from sysid_ros.engine.parameters.bounds import Bounds
from sysid_ros.engine.parameters.modifiers import modifier_from_dict, modifier_to_dict
from sysid_ros.engine.parameters.parameter import ModifierFn, Parameter
from sysid_ros.engine.parameters.parameter_table import comparison_table
from sysid_ros.errors import ParameterError, unknown_name
from sysid_ros.files import read_regular_text, replace_file


class ParameterDict:
    """Parameters by name, in order; frozen ones are left out of every vector.

    The vectors concatenate the flattened parameters in the order in which they were added.
    """

    def __init__(self, parameters: Mapping[str, Parameter] | None = None) -> None:
        """Hold ``parameters``, or none."""
        self.parameters: dict[str, Parameter] = dict(parameters or {})

    def __getitem__(self, key: str) -> Parameter:
        try:
            return self.parameters[key]
        except KeyError:
            raise KeyError(unknown_name("parameter", key, self.parameters)) from None

    def __setitem__(self, key: str, value: Parameter) -> None:
        self.parameters[key] = value

    def __contains__(self, key: object) -> bool:
        return key in self.parameters

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def __repr__(self) -> str:
        lines = "".join(f"\n  {parameter}" for parameter in self.parameters.values())
        return f"ParameterDict({lines}\n)" if lines else "ParameterDict(empty)"

    def keys(self) -> list[str]:
        """The names, in order."""
        return list(self.parameters.keys())

    def values(self) -> list[Parameter]:
        """The parameters, in order."""
        return list(self.parameters.values())

    def items(self) -> list[tuple[str, Parameter]]:
        """Names and parameters, in order."""
        return list(self.parameters.items())

    def free(self) -> list[Parameter]:
        """The parameters that are not frozen, in order."""
        return [parameter for parameter in self.parameters.values() if not parameter.frozen]

    def places(self) -> list[tuple[Parameter, slice]]:
        """The free parameters, each with its place in :meth:`as_vector`."""
        ends = np.cumsum([parameter.size for parameter in self.free()]).tolist()
        return [(p, slice(end - p.size, end)) for p, end in zip(self.free(), ends, strict=True)]

    def add(self, param: Parameter) -> None:
        """Add a parameter under its own name.

        Raises:
          ParameterError: The name is taken.
        """
        if param.name in self.parameters:
            raise ParameterError(f"Parameter {param.name!r} already exists in the dictionary.")
        self.parameters[param.name] = param

    def update(self, pdict: ParameterDict) -> None:
        """Add all parameters of another dictionary.

        Raises:
          ParameterError: A name is taken; nothing is added then.
        """
        taken = [name for name in pdict if name in self.parameters]
        if taken:
            raise ParameterError(f"Parameter {taken[0]!r} already exists in the dictionary.")
        self.parameters.update(pdict.parameters)

    def copy(self) -> ParameterDict:
        """An independent dictionary of copied parameters; modifiers are shared."""
        return ParameterDict({name: param.copy() for name, param in self.parameters.items()})

    def at(self, vector: npt.ArrayLike) -> ParameterDict:
        """A copy with other values of the free parameters, shape (size,).

        Raises:
          ParameterError: The array has another number of elements.
        """
        moved = self.copy()
        moved.update_from_vector(vector)
        return moved

    def for_robot(self, robot: str | None) -> ParameterDict:
        """A copy in which parameters of other robots change nothing.

        Args:
          robot: One of several identical robots; ``None`` for what all have in common.
        """
        chosen = self.copy()
        for parameter in chosen.values():
            if parameter.robot is not None and parameter.robot != robot:
                parameter.modifier = None
        return chosen

    @property
    def size(self) -> int:
        """Number of scalar components that are not frozen."""
        return sum(parameter.size for parameter in self.free())

    def as_vector(self, include_frozen: bool = False) -> FloatArray:
        """The values as one flat array, shape (size,)."""
        return _joined([p.as_vector() for p in self._selected(include_frozen)])

    def as_nominal_vector(self, include_frozen: bool = False) -> FloatArray:
        """The nominal values as one flat array, shape (size,)."""
        return _joined([p.as_nominal_vector() for p in self._selected(include_frozen)])

    def get_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the free parameters, each of shape (size,)."""
        pairs = [parameter.get_bounds() for parameter in self.free()]
        return _joined([low for low, _ in pairs]), _joined([high for _, high in pairs])

    @property
    def bounds(self) -> Bounds:
        """The bounds of the free parameters, which start at their values."""
        return Bounds.of(*self.get_bounds(), self.as_vector())

    def scalar_names(self) -> list[str]:
        """One name per free scalar component, in the order of :meth:`as_vector`."""
        return [name for parameter in self.free() for name in parameter.scalar_names()]

    def scalar_units(self) -> list[str]:
        """One unit per free scalar component, beside :meth:`scalar_names`."""
        return [unit for parameter in self.free() for unit in parameter.scalar_units()]

    def get_non_frozen_parameter_names(self) -> list[str]:
        """As :meth:`scalar_names`, under the name ``mujoco.sysid`` gives it."""
        return self.scalar_names()

    def update_from_vector(self, vector: npt.ArrayLike) -> None:
        """Set the free parameters from one flat array of shape (size,).

        Raises:
          ParameterError: The array has another number of elements; nothing is set then.
        """
        flat = self._checked(vector)
        for parameter, own in self.places():
            parameter.update_from_vector(flat[own])

    def moved_to(self, vector: npt.ArrayLike) -> ParameterDict:
        """The same parameters at other values of the free ones, (size,); what is alike is shared.

        Raises:
          ParameterError: The array has another number of elements.
        """
        moved = ParameterDict(dict(self.parameters))
        flat, start = self._checked(vector), 0
        for name, parameter in self.parameters.items():
            if not parameter.frozen:
                end = start + parameter.size
                moved.parameters[name] = parameter.moved_to(flat[start:end])
                start = end
        return moved

    def reset(self) -> None:
        """Return every parameter, frozen ones too, to its nominal value."""
        for parameter in self.parameters.values():
            parameter.reset()

    def sample(self, rng: np.random.Generator | None = None) -> FloatArray:
        """A vector drawn uniformly between the bounds, shape (size,); nothing is set."""
        rng = rng or np.random.default_rng()
        return _joined([parameter.sample(rng) for parameter in self.free()])

    def randomize(self, rng: np.random.Generator | None = None) -> None:
        """Set every free parameter to a value drawn uniformly between its bounds."""
        self.update_from_vector(self.sample(rng))

    def move_off_bounds(self, fraction: float = 0.05, at_bound_tol: float = 1e-3) -> ParameterDict:
        """Apply :meth:`Parameter.move_off_bound` to the free parameters; returns itself."""
        for parameter in self.free():
            parameter.move_off_bound(fraction, at_bound_tol)
        return self

    def compare_parameters(
        self,
        init_params: npt.ArrayLike,
        predicted_params: npt.ArrayLike,
        measured_params: npt.ArrayLike | None = None,
        sig_digits: int = 4,
    ) -> str:
        """A plain-text table of initial, true (where known) and identified values.

        Args:
          init_params: Initial vector, shape (size,).
          predicted_params: Identified vector, shape (size,).
          measured_params: True vector, shape (size,), or ``None``.
          sig_digits: Digits after the point.

        Returns:
          One row per free scalar component, then the root mean square differences.

        Raises:
          ParameterError: A vector has another number of elements.
        """
        return comparison_table(
            self.scalar_names(),
            self.bounds,
            init_params,
            predicted_params,
            measured_params,
            digits=sig_digits,
        )

    def get_parameter_info(self) -> str:
        """A plain-text table of every parameter's size, shape and state."""
        if not self.parameters:
            return "No parameters in dictionary."
        width = max(20, *(len(name) for name in self.parameters))
        rows = [f"{'Name':<{width}} {'Size':<8} {'Shape':<12} {'Frozen':<8} Unit"]
        for name, p in self.parameters.items():
            frozen = "yes" if p.frozen else "no"
            rows.append(
                f"{name:<{width}} {p.size:<8} {p.shape!s:<12} {frozen:<8} {p.unit}".rstrip()
            )
        return "\n".join(rows)

    def save_to_disk(self, path: str | os.PathLike[str]) -> None:
        """Write all parameters as YAML, declarative modifiers included, atomically.

        A modifier that is a Python callable is written as its name only; see
        :meth:`load_from_disk`.

        Raises:
          OutputError: The file cannot be written.
        """
        import yaml  # here, since it takes long and many never save

        document = {name: _to_dict(param) for name, param in self.parameters.items()}
        replace_file(Path(path), yaml.safe_dump(document, sort_keys=False))

    @classmethod
    def load_from_disk(
        cls, path: str | os.PathLike[str], modifiers: Mapping[str, ModifierFn] | None = None
    ) -> ParameterDict:
        """Read what :meth:`save_to_disk` wrote.

        Args:
          path: The YAML file.
          modifiers: Modifiers by parameter name, for those that were Python callables. One that
            is missing here raises when it is applied, and not before.

        Raises:
          ParameterError: The file is missing, is no YAML, or is not what was saved.
        """
        import yaml

        try:
            document = yaml.safe_load(read_regular_text(Path(path)))
            loaded = {name: _from_dict(entry) for name, entry in (document or {}).items()}
        except (
            OSError,
            ValueError,
            RecursionError,
            yaml.YAMLError,
            KeyError,
            TypeError,
            AttributeError,
        ) as error:
            raise ParameterError(f"cannot read parameters from {path}: {error}") from error
        for name, modifier in (modifiers or {}).items():
            if name not in loaded:
                raise ParameterError(unknown_name("parameter", name, loaded))
            loaded[name].modifier = modifier
        return cls(loaded)

    def _checked(self, vector: npt.ArrayLike) -> FloatArray:
        """Values of the free parameters as one flat array."""
        flat = np.asarray(vector, dtype=np.float64).ravel()
        if flat.size != self.size:
            raise ParameterError(
                f"a vector of {flat.size} elements was given for {self.size} free parameters: "
                f"{', '.join(self.scalar_names())}"
            )
        return flat

    def _selected(self, include_frozen: bool) -> list[Parameter]:
        return self.values() if include_frozen else self.free()


def _joined(vectors: list[FloatArray]) -> FloatArray:
    return np.concatenate(vectors) if vectors else np.empty(0)


def _to_dict(param: Parameter) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": param.name,
        "value": param.value.tolist(),
        "nominal": param.nominal.tolist(),
        "min_value": param.min_value.tolist(),
        "max_value": param.max_value.tolist(),
        "frozen": param.frozen,
    }
    if param.unit:
        entry["unit"] = param.unit
    if param.prior is not None:
        entry["prior"] = {"mean": param.prior[0].tolist(), "std": param.prior[1].tolist()}
    if param.inertia_type is not None:
        entry["inertia_type"] = param.inertia_type.name
        entry["scale_rot_inertia"] = param.scale_rot_inertia
    if param.modifier is not None:
        entry["modifier"] = modifier_to_dict(param.modifier)
    return entry


def _from_dict(entry: Mapping[str, Any]) -> Parameter:
    prior = entry.get("prior")
    param = Parameter(
        entry["name"],
        entry["nominal"],
        entry["min_value"],
        entry["max_value"],
        bool(entry["frozen"]),
        modifier_from_dict(entry["modifier"]) if "modifier" in entry else None,
        unit=entry.get("unit", ""),
        prior=None if prior is None else (prior["mean"], prior["std"]),
    )
    param.value = entry["value"]
    if "inertia_type" in entry:
        param.inertia_type = InertiaType[entry["inertia_type"]]
        param.scale_rot_inertia = bool(entry["scale_rot_inertia"])
    return param
