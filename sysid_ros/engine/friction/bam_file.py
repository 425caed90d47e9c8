# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameter files of BAM: ``{"model": "m6", "actuator": "xl330", "kt": 2.21, "R": 2.03, ...}``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sysid_ros.engine.elements import find
from sysid_ros.engine.friction.joint_friction import apply_friction_to_spec
from sysid_ros.engine.friction.models import FrictionParameters, parameters_of
from sysid_ros.errors import DataError, ParameterError
from sysid_ros.files import read_regular_text, replacing

_MOTOR = ("kt", "R", "armature", "q_offset")


@dataclass(frozen=True)
class MotorFile:
    """A motor with its gears, as BAM's files describe it."""

    model: str  # m1 to m6
    friction: FrictionParameters  # its parameters; what the model lacks is zero
    actuator: str = ""  # the motor's name
    kt: float | None = None  # torque constant, N m/A; ``None`` where it is not known
    R: float | None = None  # resistance, ohm; ``None`` where it is not known
    armature: float | None = None  # inertia of the rotor, reflected through the gears, kg m^2
    q_offset: float = 0.0  # angle of the joint where its encoder reads zero, rad
    other: Mapping[str, Any] = field(default_factory=dict)  # what else the file holds

    def apply(self, spec: Any, joint: str) -> None:
        """Give a joint of a spec this friction and, where it is known, this armature.

        Args:
          spec: An MjSpec, which is changed.
          joint: The name of a hinge or slide.

        Raises:
          ModelError: There is no such joint, or it is neither hinge nor slide.
        """
        apply_friction_to_spec(spec, joint, self.friction)
        if self.armature is not None:
            find(spec, "joint", joint).armature = self.armature


def load_motor_file(path: Path | str) -> MotorFile:
    """Read a parameter file.

    Args:
      path: A JSON file. Parameters of the model that it lacks are an error; keys that are not
        known are kept in ``other``.

    Raises:
      DataError: The file cannot be read, or is no such file; the message says what is missing.
    """
    file = Path(path)
    try:
        content = json.loads(read_regular_text(file))
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file} is no JSON file: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("model"), str):
        raise DataError(f'{file} does not name a friction model ("model": "m1" to "m6")')
    try:
        return _motor(content)
    except (DataError, ParameterError) as error:
        raise DataError(f"{file}: {error}") from error


def save_motor_file(path: Path | str, motor: MotorFile) -> None:
    """Write a parameter file that BAM and :func:`load_motor_file` read.

    Args:
      path: The file to write.
      motor: What is not known is left out.

    Raises:
      OutputError: It cannot be written.
    """
    with replacing(Path(path)) as stream:
        stream.write((json.dumps(document_of(motor), indent=2) + "\n").encode())


def document_of(motor: MotorFile) -> dict[str, Any]:
    """The content of a motor's file."""
    known = {name: getattr(motor, name) for name in _MOTOR}
    return {
        "model": motor.model,
        "actuator": motor.actuator,
        **{name: value for name, value in known.items() if value is not None},
        **{name: getattr(motor.friction, name) for name in parameters_of(motor.model)},
        **motor.other,
    }


def _motor(content: Mapping[str, Any]) -> MotorFile:
    members = parameters_of(content["model"])
    missing = [name for name in members if name not in content]
    if missing:
        raise DataError(
            f"the parameters {', '.join(missing)} of model {content['model']} are missing"
        )
    known = {name: _number(content, name) for name in _MOTOR if content.get(name) is not None}
    return MotorFile(
        model=content["model"],
        friction=FrictionParameters(**{name: _number(content, name) for name in members}),
        actuator=str(content.get("actuator", "")),
        other={
            name: value
            for name, value in content.items()
            if name not in {"model", "actuator", *_MOTOR, *members}
        },
        **known,
    )


def _number(content: Mapping[str, Any], name: str) -> float:
    value = content[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError(f"{name} must be a number, given {value!r}")
    return float(value)
