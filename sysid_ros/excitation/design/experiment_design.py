# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion for an experiment: for measured torque, else for a fit by simulation.

Where nothing tells torque and servos move the joints, the motion is the best for a fit by
simulation; where they do not, it is that for torque, with a doubt. A finished fit's parameters and
what it knows about them may be where it begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import model_with_payload
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.excitation import ExcitationError, urdf_limits
from sysid_ros.excitation.design.approach import approach
from sysid_ros.excitation.design.demands import MovingRobot
from sysid_ros.excitation.design.design import (
    BY_TORQUE,
    DesignSettings,
    design_motion,
    information_about,
)
from sysid_ros.excitation.design.designed_motion import DesignedMotion
from sysid_ros.excitation.design.fitted_parameters import (
    FittedParameters,
    declared_parameters,
    fitted_parameters,
)
from sysid_ros.excitation.design.forward_design import (
    BY_SIMULATION,
    SERVO_PIECE,
    design_servo_motion,
)
from sysid_ros.excitation.design.robot_demands import robot_demands
from sysid_ros.excitation.design.servos import NoServoError
from sysid_ros.excitation.design.simulated_fit import simulated_fit
from sysid_ros.experiment import Experiment
from sysid_ros.judgement import ForecastCheck, MotionForecast, motion_digest
from sysid_ros.results import read_results
from sysid_ros.robots import build_parameters, measures_torque

_WITHOUT_TORQUE = (
    "No signal of the experiment tells a joint's torque, and there is no design for a fit by "
    "simulation: {reason}. The motion serves, but these are errors that measured torque would "
    "give. sysid_ros rehearse EXPERIMENT --motion FILE tries it."
)


@dataclass(frozen=True)
class MotionRequest:
    """A wish for a motion: what it has to keep, and what is known before."""

    settings: DesignSettings  # of the search
    joints: tuple[str, ...] = ()  # that move; all driven ones if empty
    keyframe: str | None = None  # of the model, to start from and return to
    # keyframes from which the straight way to the motion and back must be clear
    approaches: tuple[str, ...] = ()
    limits: Path | None = None  # A ``joint_limits.yaml``
    urdf: Path | None = None  # with the robot's limits
    velocity: float | None = None  # limit where no file has one, rad/s
    acceleration: float | None = None  # the same, rad/s^2
    jerk: float | None = None  # the same, rad/s^3
    fill: float = 0.9  # share of the limits that may be used
    clearance: float = 0.02  # between geoms, m
    # standard deviations of a torque sample, one or one per joint; none for 1 % of the effort limit
    torque_noise: tuple[float, ...] = ()
    after: Path | None = None  # folder of a finished fit, whose parameters and knowledge count
    data_dir: Path | None = None  # where bags and models are found first


@dataclass(frozen=True)
class ExperimentDesign:
    """A motion with what it was designed for."""

    motion: DesignedMotion
    spec: mujoco.MjSpec  # the experiment's model
    # what moves, with the values that an earlier fit found, and what the motion keeps
    robot: MovingRobot
    ways: tuple[str, ...]  # sentences about the ways to it
    doubts: tuple[str, ...]  # sentences about its worth
    earlier: EarlierFit | None  # what was known before
    noise_factor: float  # by which noise counts more than is assumed
    about: tuple[str, ...]  # names of the experiment's p parameters that ``information`` is about
    information: FloatArray  # of a recording of the motion, (p, p)

    def forecast(self, file: Path) -> MotionForecast:
        """The prediction that the report of its recording's fit looks for, of a motion's file."""
        return MotionForecast(
            motion=motion_digest(file),
            told_by=self.motion.told_by,
            duration=self.motion.duration,
            names=self.about,
            information=self.information,
            noise_factor=self.noise_factor,
            known=None if self.earlier is None else self.earlier.parameters.information,
            recordings=() if self.earlier is None else self.earlier.recordings,
        )


@dataclass(frozen=True)
class EarlierFit:
    """A finished fit: its parameters, the SHA-256 of its recordings, and how its forecast did."""

    parameters: FittedParameters
    recordings: tuple[str, ...]
    forecast: ForecastCheck | None


def design_for(
    experiment: Experiment,
    request: MotionRequest,
    progress: Callable[[float], None] = lambda _: None,
) -> ExperimentDesign:
    """Design for measured torque, else for a fit by simulation where servos move the joints.

    Args:
      experiment: Its first recording's model moves.
      request: What the motion is wanted for.
      progress: Told the share of the search that is done, 0 to 1.

    Raises:
      SysidError: The model, the limits or the earlier fit cannot be used, or no motion is possible.
    """
    loaded = model_with_payload(experiment, request.data_dir)
    spec = loaded.given.spec
    params = build_parameters(experiment, spec)
    earlier = None if request.after is None else _earlier(request.after, spec, params)
    model = spec.compile() if earlier is None else earlier.parameters.model
    text = loaded.given.text
    robot = robot_demands(
        model, request.joints, keyframe=request.keyframe, limits=request.limits,
        urdf=request.urdf, own=urdf_limits(text.text, text.name) if text.is_urdf else None,
        velocity=request.velocity, acceleration=request.acceleration, jerk=request.jerk,
        fill=request.fill, clearance=request.clearance,
    )  # fmt: skip
    ways = tuple(approach(robot, key) for key in request.approaches)
    noise = _torque_noise(request.torque_noise, robot.joints)
    measured = _Measured(experiment, loaded.with_sensors, noise)
    motion, settings, doubts = _searched(measured, request, robot, earlier, progress)
    about, information = motion.names, motion.information
    if about != tuple(params.scalar_names()):  # base parameters
        declared = declared_parameters(spec, params)
        about = declared.names
        information = information_about(declared, motion, robot, settings, noise)
    return ExperimentDesign(
        motion, spec, robot, ways, doubts, earlier, settings.noise_factor, about, information,
    )  # fmt: skip


@dataclass(frozen=True)
class _Measured:
    """Signals of an experiment, and the noise of torque, along a motion."""

    experiment: Experiment
    spec: mujoco.MjSpec  # with its sensors
    torque_noise: FloatArray | None  # (n,)


def _searched(
    measured: _Measured,
    request: MotionRequest,
    robot: MovingRobot,
    earlier: EarlierFit | None,
    progress: Callable[[float], None],
) -> tuple[DesignedMotion, DesignSettings, tuple[str, ...]]:
    """Return the motion, the settings that it was found with, and doubts about its worth."""
    after = None if earlier is None else earlier.parameters
    experiment, spec, settings = measured.experiment, measured.spec, request.settings
    doubts: tuple[str, ...] = ()
    if not measures_torque(experiment, spec):
        params = build_parameters(experiment, spec)
        values = params.as_vector() if after is None else after.values
        fit = simulated_fit(experiment, spec, params, values, request.data_dir)
        factor = _noise_factor(earlier, BY_SIMULATION)
        own = replace(settings, piece=SERVO_PIECE, noise_factor=factor)
        try:
            motion = design_servo_motion(robot, fit, own, after=after, progress=progress)
        except NoServoError as error:
            doubts = (_WITHOUT_TORQUE.format(reason=error),)
        else:
            return motion, own, ()
    if measured.torque_noise is None:
        settings = replace(settings, noise_factor=_noise_factor(earlier, BY_TORQUE))
    motion = design_motion(
        robot, settings, after=after, progress=progress, torque_noise=measured.torque_noise
    )
    return motion, settings, doubts


def _earlier(folder: Path, spec: mujoco.MjSpec, params: ParameterDict) -> EarlierFit:
    """Read a finished fit.

    Raises:
      SysidError: There is none, or it is of other parameters.
    """
    outcome = read_results(folder)
    fitted = dict.fromkeys(one.name for one in outcome.sequences if one.role == "training")
    hashes = outcome.input_hashes
    return EarlierFit(
        fitted_parameters(spec, params, outcome.fit),
        tuple(hashes[name] for name in fitted if name in hashes),
        outcome.forecast,
    )


def _noise_factor(earlier: EarlierFit | None, told_by: str) -> float:
    """By which noise counts more than is assumed, as far as an earlier fit tells."""
    forecast = None if earlier is None else earlier.forecast
    return forecast.noise_factor if forecast is not None and forecast.told_by == told_by else 1.0


def _torque_noise(given: tuple[float, ...], joints: tuple[str, ...]) -> FloatArray | None:
    """Standard deviations (n,) of the joints.

    Raises:
      ExcitationError: There are neither one nor as many as joints, or one is not positive.
    """
    if not given:
        return None
    if len(given) not in (1, len(joints)) or min(given) <= 0.0:
        raise ExcitationError(
            f"--torque-noise takes one positive number, or one for each of {', '.join(joints)}"
        )
    return np.broadcast_to(np.array(given), len(joints)).astype(np.float64)
