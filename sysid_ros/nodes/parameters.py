# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of nodes, declared with their description and checked when the node starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import ExperimentError


def text(node: Node, name: str, default: str, description: str) -> str:
    """Declare a string parameter and return its value."""
    return str(_declare(node, name, default, description))


def number(node: Node, name: str, default: float, description: str) -> float:
    """Declare a floating-point parameter and return its value; integers are taken too."""
    return float(_declare(node, name, default, description))


def positive(node: Node, name: str, default: float, description: str) -> float:
    """Declare a floating-point parameter that must be above zero.

    Raises:
      ExperimentError: It is not.
    """
    value = number(node, name, default, description)
    if not value > 0.0:
        raise ExperimentError(
            f"parameter {name} of {node.get_name()} must be positive, given {value}"
        )
    return value


def integer(node: Node, name: str, default: int, description: str) -> int:
    """Declare an integer parameter and return its value."""
    return int(_declare(node, name, default, description))


def flag(node: Node, name: str, default: bool, description: str) -> bool:
    """Declare a boolean parameter and return its value."""
    return bool(_declare(node, name, default, description))


def texts(node: Node, name: str, description: str) -> tuple[str, ...]:
    """Declare a list of strings, empty by default, and return its value."""
    value = _declare(node, name, Parameter.Type.STRING_ARRAY, description)
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
    descriptor = ParameterDescriptor(description=description, dynamic_typing=True)
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


def _declare(node: Node, name: str, default: Any, description: str) -> Any:
    # Optional numbers in YAML often lack their point: 500 for 500.0 is no reason to stop.
    descriptor = ParameterDescriptor(
        description=description, dynamic_typing=not isinstance(default, Parameter.Type)
    )
    value: Any = node.declare_parameter(name, default, descriptor).value
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(default, Parameter.Type) and type(value) is not type(default):
        raise ExperimentError(
            f"parameter {name} of {node.get_name()} must be a {type(default).__name__}, "
            f"given {value!r}"
        )
    return value
