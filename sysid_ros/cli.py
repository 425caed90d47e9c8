"""The command line: ``sysid_ros fit | info | export | report | demo``; only the demo needs ROS.

The exit status is an :class:`ErrorCode`; usage errors give 64 and internal ones 70, as in BSD's
sysexits, so that they cannot be mistaken for one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import sysid_ros
from sysid_ros.errors import ErrorCode, ExperimentError, SysidError
from sysid_ros.experiment import (
    check_fittable,
    load_experiment,
    locate_bag,
    with_bags,
    with_overrides,
)
from sysid_ros.experiment.schema import Experiment
from sysid_ros.interrupt import StopRequest

EXIT_USAGE = 64
EXIT_INTERNAL = 70
EXIT_ABORTED = 130  # as shells report a process ended by SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
      arguments: What follows the program's name; ``sys.argv`` by default.

    Returns:
      The exit status.
    """
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except SysidError as error:
        _complain(str(error))
        return int(error.code)
    except KeyboardInterrupt:
        _complain("aborted")
        return EXIT_ABORTED
    except BrokenPipeError:  # the reader of our output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if options.debug:
            raise
        _complain(f"internal error: {type(error).__name__}: {error}; run with --debug for more")
        return EXIT_INTERNAL


def _fit(options: argparse.Namespace) -> int:
    """Fit an experiment's parameters and write a result folder."""
    experiment = _experiment(options)
    if options.threads is not None:
        experiment = with_overrides(experiment, [f"fit.threads={options.threads}"])
    experiment = with_bags(experiment, [_from_shell(bag) for bag in options.bag])
    check_fittable(experiment)

    from sysid_ros.pipeline import run_experiment
    from sysid_ros.sysid.fit_result import FitStatus
    from sysid_ros.terminal import FitProgress, print_outcome

    progress = FitProgress(experiment.fit.max_iterations)
    stop = StopRequest(
        lambda: progress.note("stopping; the best parameters so far are kept (again: abort)")
    )
    with nullcontext() if options.quiet else progress, stop:
        report = run_experiment(
            experiment,
            data_dir=options.data,
            output_dir=options.output or Path(experiment.output),
            on_iteration=(lambda step: None) if options.quiet else progress.iteration,
            should_stop=stop.requested,
            on_stage=(lambda text: None) if options.quiet else progress.stage,
        )
    if options.json:
        print((report.result_dir / "result.json").read_text(encoding="utf-8"))
    elif not options.quiet:
        print_outcome(report.outcome)
        print(f"results: {report.result_dir}")
        if report.report_file is not None:
            print(f"report:  {report.report_file}")
    status = report.outcome.fit.status
    if status is FitStatus.CANCELED:
        _complain(f"stopped by request; the best parameters so far are in {report.result_dir}")
        return int(ErrorCode.CANCELED)
    return int(ErrorCode.NONE if status is FitStatus.CONVERGED else ErrorCode.NOT_CONVERGED)


def _info(options: argparse.Namespace) -> int:
    """Say what is in a bag."""
    from sysid_ros.recording.info import describe

    info = describe(options.bag)
    print(json.dumps(info.to_dict(), indent=2, allow_nan=False) if options.json else info)
    return 0


def _export(options: argparse.Namespace) -> int:
    """Write the mapped signals of one bag as arrays or as a table."""
    from sysid_ros.recording.bag import open_recording
    from sysid_ros.recording.signal_map import map_recording
    from sysid_ros.recording.time_series import export

    experiment = _experiment(options)
    bag = locate_bag(
        str(_from_shell(options.bag)), experiment_file=experiment.path, data_dir=options.data
    )
    with open_recording(bag) as recording:
        mapped = map_recording(
            recording,
            experiment.signals,
            clock=experiment.clock,
            max_gap=experiment.fit.max_gap,
            name=bag.name,
        )
    for warning in mapped.warnings:
        _complain(f"warning: {warning}")
    export(mapped, options.output)
    return 0


def _report(options: argparse.Namespace) -> int:
    """Write a result folder's report.html anew, or a page that compares several results."""
    from sysid_ros.report import render_comparison, render_report
    from sysid_ros.results import read_results
    from sysid_ros.results.folder import replace_file

    folders = list(dict.fromkeys(folder.resolve() for folder in options.result_dirs))
    ambiguous = len({folder.name for folder in folders}) < len(folders)
    outcomes = {
        str(folder) if ambiguous else folder.name: read_results(folder) for folder in folders
    }
    if len(folders) == 1:
        page = options.output or folders[0] / "report.html"
        text = render_report(next(iter(outcomes.values())))
    else:
        page = options.output or Path("comparison.html")
        text = render_comparison(outcomes)
    replace_file(page, text.encode("utf-8"))
    print(page)
    return 0


def _demo(options: argparse.Namespace) -> int:
    """Identify a simulated robot with real ROS 2 processes."""
    missing = [name for name in ("rclpy", "sysid_ros_interfaces") if find_spec(name) is None]
    if missing:
        _complain(
            f"the demo needs ROS 2, but there is no Python module {' and no '.join(missing)}: use "
            "the .venv that 'make setup' prepares, or source a ROS installation with this package"
        )
        return EXIT_USAGE
    from sysid_ros.nodes.demo import main as demo

    return demo(["--output", options.output])


def _experiment(options: argparse.Namespace) -> Experiment:
    if options.data is not None and not options.data.is_dir():
        raise ExperimentError(f"--data {options.data}: there is no such folder")
    return load_experiment(options.experiment, overrides=options.set)


def _from_shell(bag: str) -> str:
    """A bag named on the command line is first of all a path from the current folder."""
    path = Path(bag).expanduser()
    return str(path.absolute()) if path.exists() else bag


def _complain(text: str) -> None:
    print(f"sysid_ros: {text}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Ends with a status of its own on wrong usage: argparse's 2 means an invalid model here."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        _complain(f"{message}; try --help")
        raise SystemExit(EXIT_USAGE)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="sysid_ros", description=sysid_ros.__doc__)
    parser.add_argument("--version", action="version", version=f"sysid_ros {_version()}")
    parser.set_defaults(debug=False)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    common = _Parser(add_help=False)
    common.add_argument("--debug", action="store_true", help="show tracebacks of internal errors")
    source = _Parser(add_help=False)
    source.add_argument("experiment", metavar="EXPERIMENT", help="experiment file (YAML)")
    source.add_argument(
        "--data", type=Path, metavar="DIR", help="where bags are found (and models, as second)"
    )
    source.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting, such as fit.max_iterations=20; may be repeated",
    )

    fit = commands.add_parser("fit", parents=[source, common], help=_fit.__doc__)
    fit.add_argument(
        "--output", type=Path, metavar="DIR", help="where the result folder goes (experiment's)"
    )
    fit.add_argument(
        "--bag",
        action="append",
        default=[],
        metavar="BAG",
        help="fit this recording too; may be repeated",
    )
    fit.add_argument("--threads", type=int, metavar="N", help="how many threads to simulate on")
    fit.add_argument("--json", action="store_true", help="print result.json instead of tables")
    fit.add_argument("--quiet", action="store_true", help="print nothing but errors")
    fit.set_defaults(run=_fit)

    info = commands.add_parser("info", parents=[common], help=_info.__doc__)
    info.add_argument("bag", type=Path, metavar="BAG", help="a bag's folder or file")
    info.add_argument("--json", action="store_true", help="print JSON instead of a table")
    info.set_defaults(run=_info)

    export = commands.add_parser("export", parents=[source, common], help=_export.__doc__)
    export.add_argument("--bag", required=True, metavar="BAG", help="the recording")
    export.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="a .npz or .csv file to write"
    )
    export.set_defaults(run=_export)

    report = commands.add_parser("report", parents=[common], help=_report.__doc__)
    report.add_argument(
        "result_dirs", type=Path, nargs="+", metavar="RESULT_DIR", help="one or several results"
    )
    report.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="the page (report.html in the folder; comparison.html for several)",
    )
    report.set_defaults(run=_report)

    demo = commands.add_parser("demo", parents=[common], help=_demo.__doc__)
    demo.add_argument(
        "--output", default="demo_results", metavar="DIR", help="folder (default: %(default)s)"
    )
    demo.set_defaults(run=_demo)
    return parser


def _version() -> str:
    return sysid_ros.__version__
