# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros design``: a motion that shows a robot's parameters the best."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.commands.common import (
    LARGEST_SEED,
    AddParser,
    add_command,
    check_number,
    experiment_arguments,
    experiment_of,
)
from sysid_ros.printable import print_text

if TYPE_CHECKING:
    import mujoco

    from sysid_ros.arrays import FloatArray
    from sysid_ros.dataset import ExperimentModel
    from sysid_ros.engine.parameters import ParameterDict
    from sysid_ros.excitation.design import (
        Demands,
        DesignedMotion,
        DesignSettings,
        FittedParameters,
    )
    from sysid_ros.experiment import Experiment
    from sysid_ros.judgement import ForecastCheck, MotionForecast

_NORMAL = 1.96  # standard errors in half an interval of 95 %
_SHOWN = 8  # parameters with the largest relative errors
_WITHOUT_TORQUE = (
    "No signal of the experiment tells a joint's torque, and there is no design for a fit by "
    "simulation: {reason}. The motion serves, but these are errors that measured torque would "
    "give. sysid_ros rehearse EXPERIMENT --motion FILE tries it."
)


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, experiment_arguments())
    add = parser.add_argument
    add("--output", type=Path, default=Path("motion.csv"), help="file to write (motion.csv)")
    add("--preview", type=Path, metavar="HTML", help="page that shows the motion; beside the file "
        "by default")  # fmt: skip
    add("--joints", nargs="+", default=[], metavar="NAME", help="joints that move; all driven ones")
    add("--limits", type=Path, metavar="YAML", help="joint_limits.yaml of the robot")
    add("--urdf", type=Path, metavar="FILE", help="URDF with the robot's limits")
    add("--velocity", type=float, metavar="V", help="limit in rad/s where no file has one")
    add("--acceleration", type=float, metavar="A", help="limit in rad/s^2 where no file has one")
    add("--jerk", type=float, metavar="J", help="limit in rad/s^3 (none)")
    add("--fill", type=float, default=0.9, help="share of the limits that may be used (0.9)")
    add("--clearance", type=float, default=0.02, metavar="M", help="m between geoms (0.02)")
    add("--keyframe", metavar="NAME", help="the model's keyframe to start from and return to")
    add("--approach", nargs="+", default=[], metavar="KEYFRAME", help="postures from which the "
        "straight way to the motion and back must be clear")  # fmt: skip
    add("--duration", type=float, default=20.0, metavar="S", help="seconds (20)")
    add("--criterion", default="DA", help="DA, D, A, worst or condition (DA)")
    add("--interest", nargs="+", default=[], metavar="WORD", help="words in names of parameters "
        "that count; all by default")  # fmt: skip
    add("--after", type=Path, metavar="RESULT", help="a finished fit's folder: design for its "
        "parameters, from what it knows about them")  # fmt: skip
    add("--torque-noise", type=float, nargs="+", default=[], metavar="N", help="deviation of a "
        "torque sample, one or one per joint; 1 %% of the effort limit by default")  # fmt: skip
    add("--budget", type=float, default=60.0, metavar="S", help="CPU seconds of the search (60)")
    add("--seed", type=int, default=0, help="of the random motions to begin with (0)")


def _run(options: argparse.Namespace) -> int:
    """Design a motion that shows the free parameters best, within the robot's limits."""
    _check_numbers(options)
    from sysid_ros.files import check_replaceable, replace_file

    preview = options.preview or options.output.with_suffix(".html")
    for file in (options.output, preview):
        check_replaceable(file)
    experiment = experiment_of(options)

    from sysid_ros.excitation import write_trajectory
    from sysid_ros.excitation.design import render_preview
    from sysid_ros.judgement import title_of, write_forecast

    found = _designed(options, experiment)
    motion = found.motion
    write_trajectory(options.output, motion.joints, motion.knots, motion.table)
    forecast = write_forecast(options.output, found.forecast(options.output))
    title = f"{options.output.stem} for {title_of(experiment)}"
    page = render_preview(
        title, found.spec, found.model, found.demands, found.home, motion, found.ways
    )
    replace_file(preview, page)
    files = (str(options.output), str(forecast), str(preview))
    said = (*found.doubts, *found.ways)
    print_text("\n".join([_summary(motion), *_counted_in(found.noise_factor), *said, *files]))
    return 0


_RANGES = {
    "velocity": (1e-6, 1e6),
    "acceleration": (1e-6, 1e6),
    "jerk": (1e-6, 1e9),
    "fill": (0.01, 1.0),
    "clearance": (0.0, 10.0),
    "duration": (0.1, 3600.0),
    "budget": (0.0, 1e6),
    "seed": (0, LARGEST_SEED),
}


def _check_numbers(options: argparse.Namespace) -> None:
    for name, (least, most) in _RANGES.items():
        check_number(f"--{name}", getattr(options, name), least=least, most=most)
    for noise in options.torque_noise:
        check_number("--torque-noise", noise, least=1e-9, most=1e6)


@dataclass(frozen=True)
class _Found:
    """A motion with what it was designed for.

    ``about`` are the experiment's parameters that ``information`` (p, p) of a recording is about.
    """

    motion: DesignedMotion
    spec: mujoco.MjSpec
    model: mujoco.MjModel
    demands: Demands
    home: FloatArray
    ways: tuple[str, ...]
    doubts: tuple[str, ...]
    earlier: _Earlier | None
    noise_factor: float
    about: tuple[str, ...]
    information: FloatArray

    def forecast(self, file: Path) -> MotionForecast:
        """The prediction that the report of its recording's fit looks for, of a motion's file."""
        from sysid_ros.judgement import MotionForecast, motion_digest

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
class _Earlier:
    """A finished fit: its parameters, the SHA-256 of its recordings, and how its forecast did."""

    parameters: FittedParameters
    recordings: tuple[str, ...]
    forecast: ForecastCheck | None


def _designed(options: argparse.Namespace, experiment: Experiment) -> _Found:
    """Design for measured torque, else for a fit by simulation where servos move the joints."""
    from sysid_ros.dataset import model_of
    from sysid_ros.engine.elements import places_in_qpos
    from sysid_ros.excitation.design import (
        DesignSettings,
        approach,
        declared_parameters,
        information_about,
        robot_demands,
    )
    from sysid_ros.robots import build_parameters

    loaded = model_of(experiment, experiment.sequences[0], options.data)
    spec = loaded.given.spec
    params = build_parameters(experiment, spec)
    earlier = None if options.after is None else _earlier(options.after, spec, params)
    model = spec.compile() if earlier is None else earlier.parameters.model
    joints, home, demands = robot_demands(
        model, tuple(options.joints), keyframe=options.keyframe, limits=options.limits,
        urdf=options.urdf, velocity=options.velocity, acceleration=options.acceleration,
        jerk=options.jerk, fill=options.fill, clearance=options.clearance,
    )  # fmt: skip
    start = home[places_in_qpos(model, joints)]
    ways = tuple(approach(model, joints, demands, home, start, key) for key in options.approach)
    settings = DesignSettings(
        duration=options.duration, criterion=options.criterion, interest=tuple(options.interest),
        budget=options.budget, seed=options.seed,
    )  # fmt: skip
    robot = _Robot(
        loaded, model, joints, home, demands, _torque_noise(options.torque_noise, joints)
    )
    motion, settings, doubts = _searched(options, experiment, robot, settings, earlier)
    about, information = motion.names, motion.information
    if about != tuple(params.scalar_names()):  # base parameters
        declared = declared_parameters(spec, params)
        about = declared.names
        information = information_about(
            declared, motion, demands, home, settings, robot.torque_noise
        )
    return _Found(
        motion, spec, model, demands, home, ways, doubts, earlier, settings.noise_factor, about,
        information,
    )  # fmt: skip


@dataclass(frozen=True)
class _Robot:
    """A robot that is to move; see :func:`design_motion` for all but the first."""

    loaded: ExperimentModel
    model: mujoco.MjModel
    joints: tuple[str, ...]
    home: FloatArray
    demands: Demands
    torque_noise: FloatArray | None


def _searched(
    options: argparse.Namespace, experiment: Experiment, robot: _Robot, settings: DesignSettings,
    earlier: _Earlier | None,
) -> tuple[DesignedMotion, DesignSettings, tuple[str, ...]]:  # fmt: skip
    """Return the motion, the settings that it was found with, and doubts about its worth."""
    from sysid_ros.excitation.design import (
        BY_SIMULATION,
        BY_TORQUE,
        SERVO_PIECE,
        NoServoError,
        design_motion,
        design_servo_motion,
        simulated_fit,
    )
    from sysid_ros.robots import build_parameters, measures_torque
    from sysid_ros.terminal import working

    after = None if earlier is None else earlier.parameters
    given = (robot.model, robot.joints, robot.demands, robot.home)
    doubts: tuple[str, ...] = ()
    with working("designing the motion") as share:
        if not measures_torque(experiment, robot.loaded.given.spec):
            spec = robot.loaded.with_sensors
            params = build_parameters(experiment, spec)
            values = params.as_vector() if after is None else after.values
            fit = simulated_fit(experiment, spec, params, values, options.data)
            factor = _noise_factor(earlier, BY_SIMULATION)
            own = replace(settings, piece=SERVO_PIECE, noise_factor=factor)
            try:
                motion = design_servo_motion(*given, fit, own, after=after, progress=share)
            except NoServoError as error:
                doubts = (_WITHOUT_TORQUE.format(reason=error),)
            else:
                return motion, own, ()
        if robot.torque_noise is None:
            settings = replace(settings, noise_factor=_noise_factor(earlier, BY_TORQUE))
        motion = design_motion(
            *given, settings, after=after, progress=share, torque_noise=robot.torque_noise
        )
    return motion, settings, doubts


def _earlier(folder: Path, spec: mujoco.MjSpec, params: ParameterDict) -> _Earlier:
    """Read a finished fit.

    Raises:
      SysidError: There is none, or it is of other parameters.
    """
    from sysid_ros.excitation.design import fitted_parameters
    from sysid_ros.results import read_results

    outcome = read_results(folder)
    fitted = dict.fromkeys(one.name for one in outcome.sequences if one.role == "training")
    hashes = outcome.input_hashes
    return _Earlier(
        fitted_parameters(spec, params, outcome.fit),
        tuple(hashes[name] for name in fitted if name in hashes),
        outcome.forecast,
    )


def _noise_factor(earlier: _Earlier | None, told_by: str) -> float:
    """By which noise counts more than is assumed, as far as an earlier fit tells."""
    forecast = None if earlier is None else earlier.forecast
    return forecast.noise_factor if forecast is not None and forecast.told_by == told_by else 1.0


def _torque_noise(given: list[float], joints: tuple[str, ...]) -> FloatArray | None:
    """Standard deviations (n,) of the joints.

    Raises:
      ExcitationError: There are neither one nor as many as joints, or one is not positive.
    """
    import numpy as np

    from sysid_ros.excitation import ExcitationError

    if not given:
        return None
    if len(given) not in (1, len(joints)) or min(given) <= 0.0:
        raise ExcitationError(
            f"--torque-noise takes one positive number, or one for each of {', '.join(joints)}"
        )
    return np.broadcast_to(np.array(given), len(joints)).astype(np.float64)


def _summary(motion: DesignedMotion) -> str:
    """The promise of a motion, in words."""
    head = (
        f"{motion.duration:g} s, {len(motion.joints)} joints, {len(motion.names)} parameters, "
        f"condition number {motion.condition:.1f}"
    )
    lines = _told(motion) if motion.errors_before is None else _gained(motion)
    return "\n".join([head, *lines])


def _counted_in(noise_factor: float) -> list[str]:
    """A sentence where noise counts otherwise than is assumed."""
    if noise_factor == 1.0:
        return []
    return [
        f"noise counts {noise_factor:.2g} times as much as is assumed without a recording, as the "
        "errors after the last motion were, compared with those predicted"
    ]


def _told(motion: DesignedMotion) -> list[str]:
    """Standard errors of a motion by itself."""
    relative = sorted(
        zip(motion.relative_errors, motion.standard_errors, motion.names, strict=True), reverse=True
    )
    rows = [
        f"  {error:9.3g}  {100 * share:8.3g} %  {name}" for share, error, name in relative[:_SHOWN]
    ]
    return [
        f"predicted standard errors from {motion.told_by}, the largest relative ones first:",
        *rows,
    ]


def _gained(motion: DesignedMotion) -> list[str]:
    """Half intervals of 95 % before and after a motion."""
    before = motion.standard_errors if motion.errors_before is None else motion.errors_before
    rows = sorted(
        zip(before / abs(motion.nominal), motion.names, motion.nominal, before,
            motion.standard_errors, strict=True),
        reverse=True,
    )  # fmt: skip
    lines = [f"predicted half intervals (95 %) from {motion.told_by}, the vaguest first:"]
    lines.append(f"  {'value':>10}  {'now':>9}  {'then':>9}  parameter")
    return lines + [
        f"  {value:10.4g}  {_NORMAL * now:9.3g}  {_NORMAL * then:9.3g}  {name}"
        for _, name, value, now, then in rows
    ]
