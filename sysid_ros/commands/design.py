# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros design``: a motion that shows a robot's parameters the best."""

from __future__ import annotations

import argparse
import math
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
    from sysid_ros.excitation.design import DesignedMotion, ExperimentDesign
    from sysid_ros.experiment import Experiment

_NORMAL = 1.96  # standard errors in half an interval of 95 %
_SHOWN = 8  # parameters with the largest relative errors


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
    page = render_preview(title, found.spec, found.robot, motion, found.ways)
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


def _designed(options: argparse.Namespace, experiment: Experiment) -> ExperimentDesign:
    """Design what the options ask for."""
    from sysid_ros.excitation.design import DesignSettings, MotionRequest, design_for
    from sysid_ros.terminal import working

    settings = DesignSettings(
        duration=options.duration, criterion=options.criterion, interest=tuple(options.interest),
        budget=options.budget, seed=options.seed,
    )  # fmt: skip
    request = MotionRequest(
        settings, tuple(options.joints), keyframe=options.keyframe,
        approaches=tuple(options.approach), limits=options.limits, urdf=options.urdf,
        velocity=options.velocity, acceleration=options.acceleration, jerk=options.jerk,
        fill=options.fill, clearance=options.clearance, torque_noise=tuple(options.torque_noise),
        after=options.after, data_dir=options.data,
    )  # fmt: skip
    with working("designing the motion") as share:
        return design_for(experiment, request, share)


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
    rows = []
    for i in motion.vaguest_first[:_SHOWN]:
        share = motion.relative_errors[i]
        told = f"{100 * share:8.3g} %" if math.isfinite(share) else ""
        rows.append(f"  {motion.standard_errors[i]:9.3g}  {told:10}  {motion.names[i]}")
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
