# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The findings of a fit to measured torque besides its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sysid_ros.arrays import FloatArray


@dataclass(frozen=True)
class BaseParameter:
    """One combination of parameters that joint torque determines.

    Attributes:
      name: As in "link_1.Izz + joint_1.armature".
      value: By weighted least squares without constraints; kg, kg m, kg m^2, N m per unit.
      standard_error: That holds under coloured residuals.
      relative_error: Of the value, in percent.
      essential: Whether it is left after those with the largest relative errors were eliminated.
      consistent: Its value with the physically consistent parameters.
    """

    name: str
    value: float
    standard_error: float
    relative_error: float
    essential: bool
    consistent: float


@dataclass(frozen=True)
class BodyFinding:
    """The identified inertia of one body.

    Attributes:
      body: Its name, with the robot behind an @ where robots have their own.
      mass: kg.
      centre: Of mass in the body's frame, (3,) m.
      moments: Principal, about the centre of mass, (3,) kg m^2.
      axes: Of these in the body's frame, quaternion w x y z, (4,).
      eigenvalues: Of the pseudo-inertia relative to the model's, (4,): 1 for an unchanged body, 0
        for one that cannot exist.
      on_edge: Whether the margin of consistency or the body's geometry holds it.
      outlines: Silhouettes of its geometry along z and along y, (2, m) m each, to be drawn.
    """

    body: str
    mass: float
    centre: FloatArray
    moments: FloatArray
    axes: FloatArray
    eigenvalues: FloatArray
    on_edge: bool
    outlines: tuple[FloatArray, ...] = ()


@dataclass(frozen=True)
class JointFinding:
    """Torque and friction of one joint, of the recordings that were fitted.

    Attributes:
      joint: Its name, with a number for one of several degrees of freedom.
      unit: Of torque.
      motion_cutoff: Hz, of the low-pass in front of its derivatives.
      motion_end: Hz, where its position reaches the noise floor; 0 where it does not move.
      residual: Root mean square of what is not explained.
      shares: Root mean square of measured torque, gravity, inertia, friction, and the rest, (5,).
      recording: Name of the one that is shown.
      times: s, (n,), thinned for drawing.
      torque: Measured, predicted, gravity, inertia, friction, (5, n).
      velocity: Middle of bins, rad/s or m/s, (m,).
      friction: Mean in each bin of measured torque less all that is not friction, (m,).
      law: The fitted law there, (m,).
    """

    joint: str
    unit: str
    motion_cutoff: float
    motion_end: float
    residual: float
    shares: FloatArray
    recording: str
    times: FloatArray
    torque: tuple[FloatArray, ...]
    velocity: FloatArray
    friction: FloatArray
    law: FloatArray


@dataclass(frozen=True)
class TorqueFindings:
    """All that a fit to measured torque found.

    Attributes:
      base: What torque determines.
      bodies: Those whose inertia was estimated.
      joints: Those whose torque is known.
      row_cutoff: Hz, of the low-pass on both sides of the equations.
      rows: Of filtered torque that were fitted.
      masked: Seconds of recordings that were left out because of contact.
      blocks: Of time, of the intervals.
      inflation: How much larger variances are than white residuals would give.
      notes: Plain sentences about the measurements and the model.
      advice: Sentences that say which motion would determine what is open.
      doubts: Clauses on what puts measured torque in question.
      sharp_friction: Whether dry friction follows velocity as closely as MuJoCo allows, rather than
        as softly as the model has it.
      creep: By joint, rad/s or m/s from which on its friction is whole, where that is not at once.
      plain_friction: Of joints with another friction law, the damping and frictionloss closest to
        it, which model files have in its place.
    """

    base: tuple[BaseParameter, ...]
    bodies: tuple[BodyFinding, ...]
    joints: tuple[JointFinding, ...]
    row_cutoff: float
    rows: int
    masked: float
    blocks: int
    inflation: float
    notes: tuple[str, ...] = field(default=())
    advice: tuple[str, ...] = field(default=())
    sharp_friction: bool = True
    creep: Mapping[str, float] = field(default_factory=dict)
    doubts: tuple[str, ...] = field(default=())
    plain_friction: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def thinned(values: FloatArray, most: int) -> FloatArray:
    """Every so many-th of (n,), at most ``most``."""
    return values[:: max(1, int(np.ceil(len(values) / most)))]
