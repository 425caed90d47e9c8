# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Modifiers that are data: they can be compared, printed, saved and loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.parameters.body_modifiers import apply_body_inertia
from sysid_ros.engine.parameters.parameter import ModifierFn, Parameter
from sysid_ros.errors import ParameterError, unknown_name


class _Declared:
    """A modifier that is data, whose fields are what a file says of it."""

    def __call__(self, spec: Any, param: Parameter) -> None:
        """Leave the spec alone."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for YAML."""
        kind = next(kind for kind, made in _KINDS.items() if type(self) is made)
        fields = {key: list(x) if isinstance(x, tuple) else x for key, x in vars(self).items()}
        return {"type": kind, **fields}


class _Named(_Declared):
    """A modifier of one or several elements."""

    name: str | tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All the names."""
        return (self.name,) if isinstance(self.name, str) else self.name


@dataclass(frozen=True)
class AttributeModifier(_Named):
    """Writes a parameter into one attribute of one or several elements."""

    element: str  # joint, body, actuator, geom, pair, site, tendon or option
    name: str | tuple[str, ...]  # the element's name, or several names that share the value
    attribute: str  # a name from the table in :mod:`sysid_ros.engine.attributes.attribute_table`

    def __call__(self, spec: Any, param: Parameter) -> None:
        """Write ``param.value`` into the attribute of every named element of ``spec``.

        Raises:
          ParameterError: There is no such attribute, or the value has another size.
          ModelError: The spec lacks an element, or one is not of the right kind.
        """
        row = lookup(self.element, self.attribute)
        if param.size != row.size:
            raise ParameterError(
                f"parameter {param.name!r} has {param.size} components, {self.element} "
                f"{self.attribute} needs {row.size}"
            )
        value = param.as_vector()
        other = value * np.array(row.mirror) if row.mirror else value
        for number, name in enumerate(self.names):
            row.write(spec, name, other if number else value)


@dataclass(frozen=True)
class SignalModifier(_Named):
    """Marks a parameter as a property of a measured or commanded signal.

    It does not touch a spec; whoever compares signals looks for it and applies the value.
    """

    name: str | tuple[str, ...]  # the signal, or several signals that share the value
    attribute: str  # delay (s), gain or bias (in the signal's unit)


@dataclass(frozen=True)
class StartModifier(_Declared):
    """Marks a parameter as the deviation of a recording's start from its given initial state.

    Its value is tangent-space: position of every degree of freedom (three numbers for an
    orientation), velocities and activations, (2 nv + na,). It does not touch a spec; see
    :func:`sysid_ros.engine.parameters.start_parameters.start_params`.
    """

    sequence: str  # the recording's name in its :class:`ModelSequences`


@dataclass(frozen=True)
class BodyInertiaModifier(_Declared):
    """Declarative form of :func:`apply_body_inertia` for one body."""

    name: str

    def __call__(self, spec: Any, param: Parameter) -> None:
        """Set the body's inertia from ``param``."""
        apply_body_inertia(spec, self.name, param)


@dataclass(frozen=True)
class LostCallback(_Declared):
    """Stands for a Python callback that a file could only name."""

    callback: str  # what the callback was called

    def __call__(self, spec: Any, param: Parameter) -> None:
        """Refuse to be applied: the model would be another one than was identified.

        Raises:
          ParameterError: Always.
        """
        raise ParameterError(
            f"the modifier of parameter {param.name!r} was the Python function "
            f"{self.callback!r}, which a file cannot hold; give it to load_from_disk as "
            f"modifiers={{{param.name!r}: ...}}"
        )


_KINDS: Mapping[str, type[_Declared]] = {
    "attribute": AttributeModifier,
    "signal": SignalModifier,
    "body_inertia": BodyInertiaModifier,
    "start": StartModifier,
    "callback": LostCallback,
}


def modifier_to_dict(modifier: ModifierFn) -> dict[str, Any]:
    """Plain data for a modifier; of a Python callback only the name."""
    if isinstance(modifier, _Declared):
        return modifier.to_dict()
    name = getattr(modifier, "__qualname__", type(modifier).__qualname__)
    return LostCallback(f"{modifier.__module__}:{name}").to_dict()


@dataclass(frozen=True)
class Target:
    """The place that a modifier writes to."""

    kind: str  # attribute, signal, body_inertia, start or callback; empty for no modifier
    element: str = ""  # joint, body, ..., or signal; empty where no attribute of one is written
    names: tuple[str, ...] = ()  # the elements'
    attribute: str = ""  # of each of them; empty likewise


def target_of(data: Mapping[str, Any], size: int) -> Target:
    """Read the place from what :func:`modifier_to_dict` gave.

    The result of a body's inertia is that of the attribute ``inertia`` where it has all ten
    parameters. Of a mass alone nothing tells whether the rotational inertia follows it.

    Args:
      data: Of the modifier; empty for none.
      size: The number of the parameter's values.
    """
    kind, name = str(data.get("type", "")), data.get("name", ())
    names = (name,) if isinstance(name, str) else tuple(name)
    if kind == "body_inertia" and size == lookup("body", "inertia").size:
        return Target(kind, "body", names, "inertia")
    element = "signal" if kind == "signal" else str(data.get("element", ""))
    return Target(kind, element, names, str(data.get("attribute", "")))


def written_by(parameter: Parameter) -> Target:
    """The place that a parameter is written into."""
    data = {} if parameter.modifier is None else modifier_to_dict(parameter.modifier)
    return target_of(data, parameter.size)


def corrects(parameter: Parameter, attribute: str) -> tuple[str, ...]:
    """The signals whose gain, bias or delay a parameter is; none of any other."""
    target = written_by(parameter)
    return target.names if (target.element, target.attribute) == ("signal", attribute) else ()


def modifier_from_dict(data: Mapping[str, Any]) -> ModifierFn:
    """The modifier that :func:`modifier_to_dict` described.

    Raises:
      ParameterError: The data describes none.
    """
    kind = data.get("type")
    if kind == "callback":
        return LostCallback(str(data["callback"]))
    if kind == "start":
        return StartModifier(str(data["sequence"]))
    if kind == "body_inertia":
        return BodyInertiaModifier(str(data["name"]))
    if kind not in ("attribute", "signal"):
        raise ParameterError(unknown_name("type of modifier", str(kind), _KINDS))
    name = data["name"] if isinstance(data["name"], str) else tuple(data["name"])
    element = data["element"] if kind == "attribute" else "signal"
    lookup(element, data["attribute"])
    if kind == "signal":
        return SignalModifier(name, data["attribute"])
    return AttributeModifier(element, name, data["attribute"])
