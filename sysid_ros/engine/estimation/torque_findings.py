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
    """One combination of parameters that joint torque determines."""

    name: str  # as in "link_1.Izz + joint_1.armature"
    value: float  # by weighted least squares without constraints; kg, kg m, kg m^2, N m per unit
    standard_error: float  # that holds under coloured residuals
    relative_error: float  # of the value, in percent
    # whether it is left after those with the largest relative errors were eliminated
    essential: bool
    consistent: float  # its value with the physically consistent parameters


@dataclass(frozen=True)
class BodyFinding:
    """The identified inertia of one body."""

    body: str  # its name, with the robot behind an @ where robots have their own
    mass: float  # kg
    centre: FloatArray  # of mass in the body's frame, (3,) m
    moments: FloatArray  # principal, about the centre of mass, (3,) kg m^2
    axes: FloatArray  # of these in the body's frame, quaternion w x y z, (4,)
    # of the pseudo-inertia relative to the model's, (4,): 1 for an unchanged body, 0 for one that
    # cannot exist
    eigenvalues: FloatArray
    on_edge: bool  # whether the margin of consistency or the body's geometry holds it
    # silhouettes of its geometry along z and along y, (2, m) m each, to be drawn
    outlines: tuple[FloatArray, ...] = ()


@dataclass(frozen=True)
class JointFinding:
    """Torque and friction of one joint, of the recordings that were fitted."""

    joint: str  # its name, with a number for one of several degrees of freedom
    unit: str  # of torque
    motion_cutoff: float  # Hz, of the low-pass in front of its derivatives
    motion_end: float  # Hz, where its position reaches the noise floor; 0 where it does not move
    residual: float  # root mean square of what is not explained
    # root mean square of measured torque, gravity, inertia, friction, and the rest, (5,)
    shares: FloatArray
    recording: str  # name of the one that is shown
    times: FloatArray  # s, (n,), thinned for drawing
    torque: tuple[FloatArray, ...]  # measured, predicted, gravity, inertia, friction, (5, n)
    velocity: FloatArray  # middle of bins, rad/s or m/s, (m,)
    friction: FloatArray  # mean in each bin of measured torque less all that is not friction, (m,)
    law: FloatArray  # the fitted law there, (m,)


@dataclass(frozen=True)
class TorqueFindings:
    """All that a fit to measured torque found."""

    base: tuple[BaseParameter, ...]  # what torque determines
    bodies: tuple[BodyFinding, ...]  # those whose inertia was estimated
    joints: tuple[JointFinding, ...]  # those whose torque is known
    row_cutoff: float  # Hz, of the low-pass on both sides of the equations
    rows: int  # of filtered torque that were fitted
    masked: float  # seconds of recordings that were left out because of contact
    blocks: int  # of time, of the intervals
    inflation: float  # how much larger variances are than white residuals would give
    # plain sentences about the measurements and the model
    notes: tuple[str, ...] = field(default=())
    # sentences that say which motion would determine what is open
    advice: tuple[str, ...] = field(default=())
    # whether dry friction follows velocity as closely as MuJoCo allows, rather than as softly as
    # the model has it
    sharp_friction: bool = True
    # by joint, rad/s or m/s from which on its friction is whole, where that is not at once
    creep: Mapping[str, float] = field(default_factory=dict)
    doubts: tuple[str, ...] = field(default=())  # clauses on what puts measured torque in question
    # of joints with another friction law, the damping and frictionloss closest to it, which model
    # files have in its place
    plain_friction: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def thinned(values: FloatArray, most: int) -> FloatArray:
    """Every so many-th of (n,), at most ``most``."""
    return values[:: max(1, int(np.ceil(len(values) / most)))]
