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
_ROS_OWN = ("qos_overrides.", "start_type_description_service")  # what rclpy declares when needed


def text(node: Node, name: str, default: str, description: str, *, read_only: bool = True) -> str:
    """Declare a string parameter and return its value."""
    return str(_declare(node, name, default, description, read_only=read_only))


def number(
    node: Node,
    name: str,
    default: float,
    description: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """Declare a floating-point parameter and return its value; integers are taken too.

    Args:
      node: Has it.
      name: Its name.
      default: Where it is not given.
      description: What ``ros2 param describe`` says.
      low: The least valid value.
      high: The greatest valid value.

    Raises:
      ExperimentError: It is no number, infinite, or out of range.
    """
    value = float(_declare(node, name, default, description, low=low, high=high))
    if abs(value) > _MOST:  # which no clock, rate or count of bytes can hold
        raise ExperimentError(
            f"parameter {name} of {node.get_name()} must be from -{_MOST} to {_MOST}, given {value}"
        )
    return _within(node, name, value, low, high)


def positive(node: Node, name: str, default: float, description: str) -> float:
    """Declare a floating-point parameter that must be above zero.

    Raises:
      ExperimentError: It is not.
    """
    value = number(node, name, default, f"{description}; above 0")
    if not value * _MOST > 1.0:  # below, its reciprocal is out of range
        raise ExperimentError(
            f"parameter {name} of {node.get_name()} must be positive, given {value}"
        )
    return value


def integer(
    node: Node, name: str, default: int, description: str, *, low: int = -_MOST, high: int = _MOST
) -> int:
    """Declare an integer parameter and return its value; see :func:`number`."""
    value = int(_declare(node, name, default, description, low=low, high=high))
    return _within(node, name, value, low, high)


def flag(node: Node, name: str, default: bool, description: str) -> bool:
    """Declare a boolean parameter and return its value."""
    return bool(_declare(node, name, default, description))


def texts(node: Node, name: str, description: str, *, read_only: bool = True) -> tuple[str, ...]:
    """Declare a list of strings, empty by default, and return its value."""
    value = _declare(node, name, Parameter.Type.STRING_ARRAY, description, read_only=read_only)
    return tuple(value) if value else ()


def current_texts(node: Node, name: str) -> tuple[str, ...]:
    """The present value of a list of strings declared with :func:`texts`."""
    unset: Any = Parameter(name, Parameter.Type.STRING_ARRAY, [])
    return tuple(node.get_parameter_or(name, unset).value)


def numbers(node: Node, name: str, description: str) -> FloatArray:
    """Declare a list of numbers, empty by default, and return its value; one number is a list too.

    Raises:
      ExperimentError: It is something else.
    """
    # [1, 1] is a list of integers in ROS, 1.0 no list at all: any type is taken and looked at.
    descriptor = ParameterDescriptor(description=description, read_only=True, dynamic_typing=True)
    value: Any = node.declare_parameter(name, None, descriptor).value
    given = [] if value is None else [value] if isinstance(value, (int, float)) else list(value)
    if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in given):
        raise ExperimentError(
            f"parameter {name} of {node.get_name()} must be a list of numbers, given {value!r}"
        )
    return np.array(given, dtype=np.float64)


def choice(node: Node, name: str, options: Sequence[str], description: str) -> str:
    """Declare a string parameter with the first option as default.

    Raises:
      ExperimentError: The value is none of the options.
    """
    value = text(node, name, options[0], f"{description}: {' or '.join(options)}")
    if value not in options:
        raise ExperimentError(
            f"parameter {name} of {node.get_name()} is {value!r}; valid: {', '.join(options)}"
        )
    return value


def required_file(node: Node, name: str, description: str) -> Path:
    """Declare a path parameter that must name a file.

    Raises:
      ExperimentError: It is not given, or there is no such file.
    """
    value = text(node, name, "", description)
    path = Path(value).expanduser()
    if not value or not path.is_file():
        raise ExperimentError(
            f"parameter {name} of {node.get_name()} must name a file, given {value!r}"
        )
    return path


def optional_file(node: Node, name: str, description: str) -> Path | None:
    """Declare a path parameter; ``None`` where it is left empty.

    Raises:
      ExperimentError: It is given and there is no such file.
    """
    value = text(node, name, "", description)
    path = Path(value).expanduser()
    if value and not path.is_file():
        raise ExperimentError(f"parameter {name} of {node.get_name()}: there is no file {value!r}")
    return path if value else None


def unknown(node: Node) -> list[str]:
    """Return a sentence for every parameter that was given to a node and that it does not have."""
    # rclpy keeps what command line and parameter files gave here, and tells it nowhere else.
    given = node._parameter_overrides
    known = sorted(name for name in node.get_parameters_by_prefix("") if name)
    said = []
    for name in sorted(set(given) - set(known)):
        if name.startswith(_ROS_OWN):
            continue
        near = difflib.get_close_matches(name, known, 1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else f"; valid: {', '.join(known)}"
        said.append(f"there is no parameter {name}{hint}")
    return said


def _within(node: Node, name: str, value: AnyNumber, low: float, high: float) -> AnyNumber:
    if not low <= value <= high:
        raise ExperimentError(
            f"parameter {name} of {node.get_name()} must be {_range(low, high) or 'a number'}, "
            f"given {value}"
        )
    return value


def refuse_once_configured(
    node: Node, names: Collection[str], is_configured: Callable[[], bool]
) -> None:
    """Refuse new values that would change nothing: a lifecycle node reads some when configured."""

    def may_set(changes: list[Parameter[Any]]) -> SetParametersResult:
        late = sorted({change.name for change in changes} & set(names))
        if not late or not is_configured():
            return SetParametersResult(successful=True)
        return SetParametersResult(
            successful=False,
            reason=f"{', '.join(late)} counts when the {node.get_name()} is configured: deactivate "
            "it and clean it up first",
        )

    node.add_on_set_parameters_callback(may_set)


def _range(low: float, high: float) -> str:
    """``from 0 to 19``, ``at least 0``, or nothing."""
    least, most = abs(low) < _MOST, abs(high) < _MOST
    if least and most:
        return f"from {low:g} to {high:g}"
    return f"at least {low:g}" if least else f"at most {high:g}" if most else ""


def _declare(
    node: Node,
    name: str,
    default: Any,
    description: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    read_only: bool = True,
) -> Any:
    # Optional numbers in YAML often lack their point: 500 for 500.0 is no reason to stop.
    number = isinstance(default, float)
    descriptor = ParameterDescriptor(
        description=description,
        additional_constraints=_range(low, high),
        # A node reads its settings once: a new value that changes nothing must be refused.
        read_only=read_only,
        dynamic_typing=read_only and not isinstance(default, Parameter.Type),
    )
    value: Any = node.declare_parameter(name, default, descriptor).value
    if number and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(default, Parameter.Type) and type(value) is not type(default):
        raise ExperimentError(
            f"parameter {name} of {node.get_name()} must be a {type(default).__name__}, "
            f"given {value!r}"
        )
    return value
