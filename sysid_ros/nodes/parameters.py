# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of nodes, declared with their description and checked when the node starts."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import ExperimentError

AnyNumber = TypeVar("AnyNumber", int, float)

_MOST = 2**31  # beyond, a range is no range
# What rclpy declares when needed.
_ROS_OWN = (
    "qos_overrides./clock.",
    "qos_overrides./parameter_events.",
    "start_type_description_service",
)


class NodeParameters:
    """The parameters of one node, each declared where it is asked for.

    What is asked for counts when a node starts; a new value that would change nothing is refused.
    """

    def __init__(self, node: Node) -> None:
        self.node = node

    def text(self, name: str, default: str, description: str, *, read_only: bool = True) -> str:
        """Declare a string parameter and return its value."""
        return str(self._declare(name, default, description, read_only=read_only))

    def number(
        self,
        name: str,
        default: float,
        description: str,
        *,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> float:
        """Declare a floating-point parameter within a range and return it; integers are taken too.

        Raises:
          ExperimentError: It is no number, infinite, or out of range.
        """
        value = float(self._declare(name, default, description, low=low, high=high))
        if abs(value) > _MOST:  # which no clock, rate or count of bytes can hold
            raise self._refused(name, f"must be from -{_MOST} to {_MOST}, given {value}")
        return self._within(name, value, low, high)

    def positive(self, name: str, default: float, description: str) -> float:
        """Declare a floating-point parameter that must be above zero.

        Raises:
          ExperimentError: It is not.
        """
        value = self.number(name, default, f"{description}; above 0")
        if not value * _MOST > 1.0:  # below, its reciprocal is out of range
            raise self._refused(name, f"must be positive, given {value}")
        return value

    def integer(
        self, name: str, default: int, description: str, *, low: int = -_MOST, high: int = _MOST
    ) -> int:
        """Declare an integer parameter and return its value; see :meth:`number`."""
        value = int(self._declare(name, default, description, low=low, high=high))
        return self._within(name, value, low, high)

    def flag(self, name: str, default: bool, description: str) -> bool:
        """Declare a boolean parameter and return its value."""
        return bool(self._declare(name, default, description))

    def texts(self, name: str, description: str, *, read_only: bool = True) -> tuple[str, ...]:
        """Declare a list of strings, empty by default, and return its value."""
        value = self._declare(name, Parameter.Type.STRING_ARRAY, description, read_only=read_only)
        return tuple(value) if value else ()

    def current_texts(self, name: str) -> tuple[str, ...]:
        """The present value of a list of strings declared with :meth:`texts`."""
        unset: Any = Parameter(name, Parameter.Type.STRING_ARRAY, [])
        return tuple(self.node.get_parameter_or(name, unset).value)

    def numbers(self, name: str, description: str) -> FloatArray:
        """Declare a list of numbers, empty by default, and return it; one number is a list too.

        Raises:
          ExperimentError: It is something else.
        """
        # [1, 1] is a list of integers in ROS, 1.0 no list at all: any type is taken and looked at.
        own = ParameterDescriptor(description=description, read_only=True, dynamic_typing=True)
        value: Any = self.node.declare_parameter(name, None, own).value
        given = [] if value is None else [value] if isinstance(value, (int, float)) else list(value)
        if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in given):
            raise self._refused(name, f"must be a list of numbers, given {value!r}")
        return np.array(given, dtype=np.float64)

    def choice(self, name: str, options: Sequence[str], description: str) -> str:
        """Declare a string parameter with the first option as default.

        Raises:
          ExperimentError: The value is none of the options.
        """
        value = self.text(name, options[0], f"{description}: {' or '.join(options)}")
        if value not in options:
            raise self._refused(name, f"is {value!r}; valid: {', '.join(options)}")
        return value

    def path(self, name: str, description: str) -> Path | None:
        """Declare a path parameter; ``None`` where it is left empty."""
        value = self.text(name, "", description)
        return Path(value).expanduser() if value else None

    def required_file(self, name: str, description: str) -> Path:
        """Declare a path parameter that must name a file.

        Raises:
          ExperimentError: It is not given, or there is no such file.
        """
        path = self.path(name, description)
        if path is None or not path.is_file():
            raise self._refused(name, f"must name a file, given '{path or ''}'")
        return path

    def optional_file(self, name: str, description: str) -> Path | None:
        """Declare a path parameter as :meth:`path` does, of a file that there is.

        Raises:
          ExperimentError: It is given and there is no such file.
        """
        path = self.path(name, description)
        if path is not None and not path.is_file():
            raise self._refused(name, f"cannot be read: there is no file '{path}'")
        return path

    def refuse_once_configured(
        self, names: Collection[str], is_configured: Callable[[], bool]
    ) -> None:
        """Refuse new values of what a lifecycle node reads when it is configured."""

        def may_set(changes: list[Parameter[Any]]) -> SetParametersResult:
            late = sorted({change.name for change in changes} & set(names))
            if not late or not is_configured():
                return SetParametersResult(successful=True)
            return SetParametersResult(
                successful=False,
                reason=f"{', '.join(late)} counts when the {self.node.get_name()} is configured: "
                "deactivate it and clean it up first",
            )

        self.node.add_on_set_parameters_callback(may_set)

    def unknown(self) -> list[str]:
        """Return a sentence for every parameter that was given and that the node does not have."""
        return list(self._unknown().values())

    def refuse_unknown(self, *groups: str) -> None:
        """Refuse a misspelt name in groups whose values keep somebody safe.

        Args:
          groups: How names begin, all of which have been declared.

        Raises:
          ExperimentError: One was given that the node does not have.
        """
        for name, sentence in self._unknown().items():
            if name.startswith(groups):
                raise ExperimentError(sentence)

    def _unknown(self) -> dict[str, str]:
        # rclpy keeps what command line and parameter files gave here, and tells it nowhere else.
        given = self.node._parameter_overrides
        known = sorted(name for name in self.node.get_parameters_by_prefix("") if name)
        said = {}
        for name in sorted(set(given) - set(known)):
            if name.startswith(_ROS_OWN):
                continue
            if name.startswith("qos_overrides."):
                said[name] = f"{name} changes nothing: this node takes what the others offer"
                continue
            near = difflib.get_close_matches(name, known, 1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else f"; valid: {', '.join(known)}"
            said[name] = f"there is no parameter {name}{hint}"
        return said

    def _refused(self, name: str, why: str) -> ExperimentError:
        return ExperimentError(f"parameter {name} of {self.node.get_name()} {why}")

    def _within(self, name: str, value: AnyNumber, low: float, high: float) -> AnyNumber:
        if not low <= value <= high:
            valid = _range(low, high) or "a number"
            raise self._refused(name, f"must be {valid}, given {value}")
        return value

    def _declare(
        self,
        name: str,
        default: Any,
        description: str,
        *,
        low: float = -math.inf,
        high: float = math.inf,
        read_only: bool = True,
    ) -> Any:
        # Optional numbers in YAML often lack their point: 500 for 500.0 is no reason to stop.
        number, typed = isinstance(default, float), isinstance(default, Parameter.Type)
        descriptor = ParameterDescriptor(
            description=description,
            additional_constraints=_range(low, high),
            # A node reads its settings once: a new value that changes nothing must be refused.
            read_only=read_only,
            dynamic_typing=read_only and not typed,
        )
        value: Any = self.node.declare_parameter(name, default, descriptor).value
        if number and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if not typed and type(value) is not type(default):
            raise self._refused(name, f"must be a {type(default).__name__}, given {value!r}")
        return value


def _range(low: float, high: float) -> str:
    """``from 0 to 19``, ``at least 0``, or nothing."""
    least, most = abs(low) < _MOST, abs(high) < _MOST
    if least and most:
        return f"from {low:g} to {high:g}"
    return f"at least {low:g}" if least else f"at most {high:g}" if most else ""
