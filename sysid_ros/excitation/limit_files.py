# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of joints from files that robots have already: URDF and ``joint_limits.yaml``."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.limits import VELOCITY_RISE, MotionLimits
from sysid_ros.excitation.reference import ExcitationError
from sysid_ros.files import parsed_xml, read_regular, read_regular_text

KINDS = ("lower", "upper", "velocity", "acceleration", "effort")

_FARTHEST = 1e9  # of a limit that is one

FileLimits = Mapping[str, Mapping[str, float]]  # by joint, then by kind

# key in joint_limits.yaml: what it bounds, and the switch that says whether it counts
_YAML_KEYS = {
    "min_position": ("lower", "has_position_limits"),
    "max_position": ("upper", "has_position_limits"),
    "max_velocity": ("velocity", "has_velocity_limits"),
    "max_acceleration": ("acceleration", "has_acceleration_limits"),
    "max_deceleration": ("acceleration", "has_deceleration_limits"),
    "max_effort": ("effort", "has_effort_limits"),
}

# what may say a limit that nothing says, where it is excite that asks
_ELSE = (
    "the URDF and joint_limits.yaml may, or the parameter limits.{kind} of excite, with {count} "
    "numbers, one for each of {joints}"
)


def join_limits(
    joints: tuple[str, ...],
    given: Mapping[str, FloatArray],
    sources: tuple[FileLimits, ...],
    *,
    remedy: str = _ELSE,
) -> MotionLimits:
    """Put the limits of ``n`` joints together.

    Args:
      joints: Their names.
      given: Numbers by kind, (n,) each, or empty where none were given; they count first.
      sources: From files, the first that knows a limit counts.
      remedy: What may say a limit that nothing says; may name its ``{kind}``.

    Returns:
      The limits. Without a limit of acceleration, one that reaches the limit of velocity in
      0.5 s; without one of effort, none.

    Raises:
      ExcitationError: Too few or too many numbers, or a position or velocity without a limit.
    """
    values: dict[str, FloatArray] = {}
    for kind in KINDS:
        numbers = given.get(kind, np.empty(0))
        if numbers.size == 0:
            numbers = np.array([_known(sources, joint, kind) for joint in joints])
        if kind == "acceleration" and np.isnan(numbers).any():
            numbers = np.where(np.isnan(numbers), values["velocity"] / VELOCITY_RISE, numbers)
        if kind == "effort":
            numbers = np.where(np.isnan(numbers), np.inf, numbers)
        if numbers.size != len(joints):
            raise ExcitationError(
                f"parameter limits.{kind} of excite needs {len(joints)} numbers, one for each of "
                f"{', '.join(joints)}; given: {numbers.tolist()}"
            )
        if lacking := [joint for joint, x in zip(joints, numbers, strict=True) if np.isnan(x)]:
            named = remedy.format(kind=kind, count=len(joints), joints=", ".join(joints))
            raise ExcitationError(
                f"nothing says the limit {kind} of joint{'s' * (len(lacking) != 1)} "
                f"{', '.join(lacking)}; {named}"
            )
        values[kind] = numbers
    return MotionLimits(**values)


def _known(sources: tuple[FileLimits, ...], joint: str, kind: str) -> float:
    return next((s[joint][kind] for s in sources if kind in s.get(joint, {})), math.nan)


def read_urdf_limits(path: Path) -> FileLimits:
    """Read the elements ``<limit>`` and ``<safety_controller>`` of a URDF.

    Args:
      path: The file, expanded if it comes from xacro.

    Returns:
      Limits by joint; soft limits of position where they are narrower.

    Raises:
      ExcitationError: The file cannot be read, or a limit is no number.
    """
    try:
        text = read_regular(path)
    except OSError as error:
        raise ExcitationError(f"limits cannot be read from the URDF {path}: {error}") from None
    return urdf_limits(text, str(path))


def urdf_limits(text: str | bytes, source: str) -> FileLimits:
    """Return the limits that the text of a URDF has, see :func:`read_urdf_limits`.

    Args:
      text: The URDF; bytes are in the encoding that it declares.
      source: Names its file or topic in errors.

    Raises:
      ExcitationError: It is no XML, or a limit is no number.
    """
    try:
        root = parsed_xml(text)
    except ET.ParseError as error:
        raise ExcitationError(f"limits cannot be read from the URDF {source}: {error}") from None
    found = {}
    for joint in root.findall("joint"):  # those of ros2_control stand deeper
        kinds: dict[str, float] = {}
        for tag, prefix in (("limit", ""), ("safety_controller", "soft_")):
            element = joint.find(tag)
            for kind in KINDS if element is not None else ():
                # soft_lower_limit, soft_upper_limit
                name = f"{prefix}{kind}_limit" if prefix else kind
                value = element.get(name) if element is not None else None
                if value is not None:
                    what = f"{name} of joint {joint.get('name')!r}"
                    _tighten(kinds, kind, _number(value, what, source))
        if joint.get("type") == "continuous":  # its bounds, if given at all, mean nothing
            kinds.pop("lower", None)
            kinds.pop("upper", None)
        found[str(joint.get("name"))] = kinds
    return found


def read_joint_limits(path: Path) -> FileLimits:
    """Read a ``joint_limits.yaml`` as MoveIt and ros2_control use it.

    Args:
      path: YAML with ``joint_limits: {JOINT: {max_velocity: 1.0, ...}}``, in a node's parameters
        or not; ``!degrees`` and ``!radians`` are understood. A limit whose ``has_..._limits`` is
        false does not count; scaling factors do not either.

    Raises:
      ExcitationError: The file cannot be read or has no such limits.
    """
    try:
        document = yaml.load(read_regular_text(path), Loader=_AngleLoader)  # noqa: S506
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ExcitationError(f"limits cannot be read from {path}: {error}") from None
    found: dict[str, dict[str, float]] = {}
    for joints in _sections(document):
        for joint, entry in joints.items():
            kinds = found.setdefault(str(joint), {})
            for key, (kind, switch) in _YAML_KEYS.items():
                if not isinstance(entry, dict) or key not in entry or entry.get(switch) is False:
                    continue
                number = _number(entry[key], f"{key} of joint {joint!r}", str(path))
                if key == "max_deceleration":  # Pilz' planner has it negative
                    number = abs(number)
                _tighten(kinds, kind, number)  # braking and speeding up share one limit, the lower
    if not found:
        raise ExcitationError(f"{path} has no section 'joint_limits' with joints in it")
    return found


def _sections(document: Any) -> Iterator[dict[Any, Any]]:
    """Every mapping under a key ``joint_limits``, however deep."""
    for key, value in document.items() if isinstance(document, dict) else ():
        if key == "joint_limits" and isinstance(value, dict):
            yield value
        else:
            yield from _sections(value)


def _tighten(kinds: dict[str, float], kind: str, value: float) -> None:
    """Add a limit; of two of one kind the one that allows less counts."""
    narrower = max if kind == "lower" else min
    kinds[kind] = narrower(value, kinds.get(kind, value))


def _number(value: Any, what: str, source: str) -> float:
    try:
        if isinstance(value, bool):
            raise ValueError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ExcitationError(f"{source}: {what} is {value!r}, which is no number") from None
    if _FARTHEST < abs(number) < math.inf:
        raise ExcitationError(f"{source}: {what} is {number:g}, beyond {_FARTHEST:g}")
    return number


class _AngleLoader(yaml.SafeLoader):
    """Safe YAML with the two units that robot descriptions use in it."""


def _degrees(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return math.radians(float(loader.construct_scalar(node)))


def _radians(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node))


_AngleLoader.add_constructor("!degrees", _degrees)
_AngleLoader.add_constructor("!radians", _radians)
