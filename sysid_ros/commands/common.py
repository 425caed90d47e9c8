# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parts that the commands share: arguments, reading the experiment file, complaining."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sysid_ros.errors import ExperimentError, unknown_name
from sysid_ros.printable import complain as complain
from sysid_ros.printable import print_text

if TYPE_CHECKING:
    from sysid_ros.experiment import Experiment
    from sysid_ros.processes import Workers

EXIT_USAGE = 64
LARGEST_SEED = 2**63 - 1


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

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """The arguments read; what a command does not know is refused with that command's usage."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            getattr(options, "command", self)._refuse(unknown)
        return options

    def _refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Say what is unknown, and which options there are."""
        given = next((one for one in unknown if one.startswith("-")), None)
        if given is None:
            self.error(f"nothing more was expected, given {' '.join(unknown)!r}")
        known = [name for name in self._option_string_actions if name.startswith("--")]
        self.error(unknown_name("option", given.partition("=")[0], known))

    def option(self, name: str, metavar: str, meaning: str, **more: Any) -> None:
        """Add an argument that takes a value."""
        self.add_argument(name, metavar=metavar, help=meaning, **more)

    def repeated(self, name: str, metavar: str, meaning: str, **more: Any) -> None:
        """Add an argument that may be repeated, for a list of values."""
        meaning = f"{meaning}; may be repeated"
        self.option(name, metavar, meaning, action="append", default=[], **more)

    def flag(self, name: str, meaning: str) -> None:
        """Add an argument that takes none."""
        self.add_argument(name, action="store_true", help=meaning)


# What a command registers itself with: ``add_parser`` of argparse's sub-parsers.
AddParser = Callable[..., Parser]


def add_command(
    add_parser: AddParser, run: Callable[[argparse.Namespace], int], *parents: Parser
) -> Parser:
    """Add the parser of a command, which is called as its module is.

    Args:
      add_parser: What the command registers itself with.
      run: Runs the command and gives its exit status; its docstring is the command's help.
      *parents: Parsers of arguments that it shares with others.
    """
    debug = Parser(add_help=False)
    debug.flag("--debug", "show tracebacks of internal errors")
    name = run.__module__.rpartition(".")[2]
    parser = add_parser(name, parents=[*parents, debug], help=run.__doc__)
    parser.set_defaults(run=run, command=parser)
    return parser


def message_arguments() -> Parser:
    """The parent parser of commands that read bags."""
    parser = Parser(add_help=False)
    parser.repeated(
        "--msg-path",
        "PATH",
        "a .msg or .idl file, a package or a folder of them, for message types that the bag "
        "does not define",
    )
    return parser


def package_arguments() -> Parser:
    """The parent parser of commands that read models."""
    parser = Parser(add_help=False)
    parser.repeated(
        "--package-path", "DIR", "a ROS package or a folder of them, for package:// and meshes"
    )
    return parser


def experiment_arguments() -> Parser:
    """The parent parser of commands that read an experiment file."""
    parser = Parser(add_help=False, parents=[package_arguments(), message_arguments()])
    parser.option("experiment", "EXPERIMENT", "experiment file (YAML)")
    parser.option("--data", "DIR", "where bags are found (and models, as second)", type=Path)
    parser.repeated("--set", "KEY=VALUE", "override a setting, such as fit.max_iterations=20")
    return parser


def worker_arguments() -> Parser:
    """The parent parser of commands whose work can be spread out."""
    parser = Parser(add_help=False)
    parser.option("--workers", "N", "processes for independent fits (1)", type=int, default=1)
    parser.option("--dask", "ADDRESS", "run them on this Dask scheduler, such as tcp://host:8786")
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
    """Refuse what follows an option, such as ``--horizon``, and lies outside; NaN does, too.

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
