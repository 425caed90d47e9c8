# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parts that the commands share: arguments, reading the experiment file, complaining."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sysid_ros.errors import ExperimentError
from sysid_ros.printable import complain as complain
from sysid_ros.printable import print_text

if TYPE_CHECKING:
    from sysid_ros.experiment import Experiment
    from sysid_ros.processes import Workers

EXIT_USAGE = 64
LARGEST_SEED = 2**63 - 1


# What a command registers itself with: ``add_parser`` of argparse's sub-parsers.
AddParser = Callable[..., argparse.ArgumentParser]


class Parser(argparse.ArgumentParser):
    """Ends with a status of its own on wrong usage: argparse's 2 means an invalid model here."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, and exit.

        Raises:
          SystemExit: With status ``EXIT_USAGE``.
        """
        self.print_usage(sys.stderr)
        complain(f"{message}; try --help")
        raise SystemExit(EXIT_USAGE)


def add_command(
    add_parser: AddParser,
    run: Callable[[argparse.Namespace], int],
    *parents: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    """Add the parser of a command, which is called as its module is.

    Args:
      add_parser: What the command registers itself with.
      run: Runs the command and gives its exit status; its docstring is the command's help.
      *parents: Parsers of arguments that it shares with others.
    """
    debug = Parser(add_help=False)
    debug.add_argument("--debug", action="store_true", help="show tracebacks of internal errors")
    name = run.__module__.rpartition(".")[2]
    parser = add_parser(name, parents=[*parents, debug], help=run.__doc__)
    parser.set_defaults(run=run)
    return parser


def message_arguments() -> argparse.ArgumentParser:
    """The parent parser of commands that read bags."""
    parser = Parser(add_help=False)
    parser.add_argument(
        "--msg-path",
        action="append",
        default=[],
        metavar="PATH",
        help="a .msg or .idl file, a package or a folder of them, for message types that the bag "
        "does not define; may be repeated",
    )
    return parser


def package_arguments() -> argparse.ArgumentParser:
    """The parent parser of commands that read models."""
    parser = Parser(add_help=False)
    parser.add_argument(
        "--package-path",
        action="append",
        default=[],
        metavar="DIR",
        help="a ROS package or a folder of them, for package:// and meshes; may be repeated",
    )
    return parser


def experiment_arguments() -> argparse.ArgumentParser:
    """The parent parser of commands that read an experiment file."""
    parser = Parser(add_help=False, parents=[package_arguments(), message_arguments()])
    parser.add_argument("experiment", metavar="EXPERIMENT", help="experiment file (YAML)")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="where bags are found (and models, as second)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting, such as fit.max_iterations=20; may be repeated",
    )
    return parser


def worker_arguments() -> argparse.ArgumentParser:
    """The parent parser of commands whose work can be spread out."""
    parser = Parser(add_help=False)
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes for independent fits (1)"
    )
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="run them on this Dask scheduler, such as tcp://host:8786"
    )
    return parser


def workers_of(options: argparse.Namespace) -> Workers:
    """Return the workers that the command line names.

    Raises:
      ExperimentError: There is to be less than one process.
    """
    from sysid_ros.processes import Workers

    if options.workers < 1:
        raise ExperimentError(f"--workers is {options.workers}; it takes at least one")
    return Workers(options.workers, options.dask)


def check_number(option: str, given: float | None, *, least: float, most: float) -> None:
    """Refuse a number of the command line that means nothing, NaN among them.

    Args:
      option: Such as ``--horizon``.
      given: What follows it; ``None`` where the option was left out.
      least: Smallest number that it takes.
      most: Largest one.

    Raises:
      ExperimentError: It is outside.
    """
    if given is not None and not least <= given <= most:
        raise ExperimentError(f"{option} is {given:g}; it takes {least:g} to {most:g}")


def experiment_of(options: argparse.Namespace) -> Experiment:
    """The experiment named on the command line, with its overrides.

    Raises:
      ExperimentError: The file is invalid, or ``--data`` is no folder.
    """
    if options.data is not None and not options.data.is_dir():
        raise ExperimentError(f"--data {options.data}: there is no such folder")
    load_mujoco()
    from sysid_ros.experiment import load_experiment, with_folders

    experiment = load_experiment(options.experiment, overrides=options.set)
    return with_folders(
        experiment,
        package_path=[from_shell(path) for path in options.package_path],
        msg_path=[from_shell(path) for path in options.msg_path],
    )


def load_mujoco() -> None:
    """Import MuJoCo without its windows.

    It looks for their library with a process of its own, which takes 0.2 s; pictures are drawn by
    other processes, in which ``MUJOCO_GL`` is as it was.
    """
    given = os.environ.get("MUJOCO_GL")
    os.environ["MUJOCO_GL"] = "disable"
    try:
        import mujoco  # noqa: F401
    finally:
        del os.environ["MUJOCO_GL"]
        if given is not None:
            os.environ["MUJOCO_GL"] = given


def from_shell(name: str) -> str:
    """Resolve a name of the command line, first of all as a path from the current folder."""
    path = Path(name).expanduser()
    return str(path.absolute()) if path.exists() else name


def announce(text: str) -> None:
    """Say on standard error what begins, before anything slow is imported."""
    print_text(text, stream=sys.stderr)
