# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros design``: a motion that shows a robot's parameters the best."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.commands.common import (
    AddParser,
    debug_arguments,
    experiment_arguments,
    experiment_of,
)
from sysid_ros.printable import print_text

if TYPE_CHECKING:
    from sysid_ros.excitation.design import DesignedMotion

_SHOWN = 8  # parameters with the largest relative errors


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_parser(
        "design", parents=[experiment_arguments(), debug_arguments()], help=_run.__doc__
    )
    add = parser.add_argument
    add("--output", type=Path, default=Path("motion.csv"), help="file to write (motion.csv)")
    add("--joints", nargs="+", default=[], metavar="NAME", help="joints that move; all driven ones")
    add("--limits", type=Path, metavar="YAML", help="joint_limits.yaml of the robot")
    add("--urdf", type=Path, metavar="FILE", help="URDF with the robot's limits")
    add("--velocity", type=float, metavar="V", help="limit in rad/s where no file has one")
    add("--acceleration", type=float, metavar="A", help="limit in rad/s^2 where no file has one")
    add("--jerk", type=float, metavar="J", help="limit in rad/s^3 (none)")
    add("--fill", type=float, default=0.9, help="share of the limits that may be used (0.9)")
    add("--clearance", type=float, default=0.02, metavar="M", help="m between geoms (0.02)")
    add("--keyframe", metavar="NAME", help="the model's keyframe to start from and return to")
    add("--duration", type=float, default=20.0, metavar="S", help="seconds (20)")
    add("--criterion", default="D", help="D, A, worst or condition (D)")
    add("--interest", nargs="+", default=[], metavar="WORD", help="words in names of parameters "
        "that count; all by default")  # fmt: skip
    add("--budget", type=float, default=60.0, metavar="S", help="CPU seconds of the search (60)")
    add("--seed", type=int, default=0, help="of the random motions to begin with (0)")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Design a motion that shows inertia and friction the best, within the robot's limits."""
    experiment = experiment_of(options)

    from sysid_ros.dataset import model_of
    from sysid_ros.excitation import write_trajectory
    from sysid_ros.excitation.design import DesignSettings, design_motion, robot_demands
    from sysid_ros.terminal import working

    settings = DesignSettings(
        duration=options.duration, criterion=options.criterion, interest=tuple(options.interest),
        budget=options.budget, seed=options.seed,
    )  # fmt: skip
    model = model_of(experiment, experiment.sequences[0], options.data).spec.compile()
    joints, home, demands = robot_demands(
        model, tuple(options.joints), keyframe=options.keyframe, limits=options.limits,
        urdf=options.urdf, velocity=options.velocity, acceleration=options.acceleration,
        jerk=options.jerk, fill=options.fill, clearance=options.clearance,
    )  # fmt: skip
    with working("designing the motion") as share:
        motion = design_motion(model, joints, demands, home, settings, progress=share)
    write_trajectory(options.output, motion.joints, motion.knots, motion.table)
    print_text(_summary(motion))
    print_text(str(options.output))
    return 0


def _summary(motion: DesignedMotion) -> str:
    """The promise of a motion, in words."""
    relative = sorted(
        zip(motion.relative_errors, motion.standard_errors, motion.names, strict=True), reverse=True
    )
    lines = [
        f"{motion.duration:g} s, {len(motion.joints)} joints, {len(motion.names)} parameters that "
        f"torque can show, condition number {motion.condition:.1f}",
        "predicted standard errors from measured torque, the largest relative ones first:",
    ]
    lines += [
        f"  {error:9.3g}  {100 * share:8.3g} %  {name}" for share, error, name in relative[:_SHOWN]
    ]
    return "\n".join(lines)
