# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros fit``: fit an experiment and write a result folder."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.choices import FIT_METHODS, LOG_NAMES, SEARCH_METHODS
from sysid_ros.commands.common import (
    AddParser,
    add_command,
    complain,
    experiment_arguments,
    experiment_of,
    from_shell,
    worker_arguments,
    workers_of,
)
from sysid_ros.errors import ErrorCode
from sysid_ros.printable import print_text
from sysid_ros.processes import StopRequest

if TYPE_CHECKING:
    from sysid_ros.experiment import Experiment
    from sysid_ros.pipeline import Resume
    from sysid_ros.terminal import FitProgress


_LATEST = Path()  # of --resume without a folder
_STOPPING = "stopping; the best parameters so far are kept (again: abort)"


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, experiment_arguments(), worker_arguments())
    parser.option("--output", "DIR", "where the result folder goes (experiment's)", type=Path)
    parser.repeated("--bag", "BAG", "fit this recording too")
    parser.option(
        "--model",
        "NAME",
        "the structure to fit, as compare knows them: an alternative, or m1 to m6",
    )
    parser.option("--threads", "N", "how many threads to simulate on", type=int)
    parser.option("--method", "METHOD", f"how to fit: {', '.join(FIT_METHODS)} (experiment's)")
    parser.flag("--bias-check", "refit with half the time step, other windows and another filter")
    parser.flag(
        "--window-check", "estimate anew with other windows and from halves of the recordings"
    )
    parser.option(
        "--resume",
        "RESULT_DIR",
        "carry on with an interrupted fit: this one, or the latest of this experiment",
        nargs="?",
        type=Path,
        const=_LATEST,
    )
    parser.option(
        "--search", "METHOD", f"look for a start all over the bounds: {', '.join(SEARCH_METHODS)}"
    )
    parser.option("--trials", "N", "candidates that it simulates", type=int)
    parser.option("--seed", "N", "of its random numbers (0)", type=int)
    parser.repeated("--log", "NAME", f"record the fit's course there too: {', '.join(LOG_NAMES)}")
    parser.flag("--json", "print result.json instead of tables")
    parser.flag("--quiet", "print nothing but errors")


def _run(options: argparse.Namespace) -> int:
    """Fit an experiment's parameters and write a result folder."""
    experiment = _asked_for(options)
    from sysid_ros.experiment import check_fittable, check_study, output_of

    check_fittable(experiment)
    output = output_of(experiment, options.output)
    check_study(experiment, output, overrides_count=True)

    from sysid_ros.engine.least_squares import FitStatus
    from sysid_ros.pipeline import run_experiment

    progress = None if options.quiet else _progress(experiment)
    stop = StopRequest(lambda: (complain if progress is None else progress.note)(_STOPPING))
    with progress or nullcontext(), stop:
        report = run_experiment(
            experiment,
            data_dir=options.data,
            output_dir=output,
            on_iteration=progress and progress.iteration,
            should_stop=stop.requested,
            on_stage=progress and progress.stage,
            on_reading=progress and progress.reading,
            resume=_resume(options.resume),
            workers=workers_of(options),
        )
    if options.json:
        print(report.files.result.read_text(encoding="utf-8"))
    elif not options.quiet:
        from sysid_ros.terminal import print_outcome

        print_outcome(report.outcome)
        print_text(f"results: {report.files.folder}")
        if report.files.report is not None:
            print_text(f"report:  {report.files.report}")
    status = report.outcome.fit.status
    if status is FitStatus.CANCELED:
        complain(f"stopped by request; the best parameters so far are in {report.files.folder}")
        return int(ErrorCode.CANCELED)
    return int(ErrorCode.NONE if status is FitStatus.CONVERGED else ErrorCode.NOT_CONVERGED)


def _progress(experiment: Experiment) -> FitProgress:
    """Shows the fit's course; a fit that prints nothing does without importing what draws bars."""
    from sysid_ros.terminal import FitProgress

    return FitProgress(experiment.fit.max_iterations)


def _asked_for(options: argparse.Namespace) -> Experiment:
    """The experiment with what the command line says of its fit."""
    experiment = experiment_of(options)
    from sysid_ros.experiment import with_bags, with_overrides

    given = {
        "fit.threads": options.threads,
        "fit.method": options.method,
        "fit.bias_check": "true" if options.bias_check else None,
        "fit.window_check": "true" if options.window_check else None,
        "fit.search.method": options.search,
        "fit.search.trials": options.trials,
        "fit.search.seed": options.seed,
        "logs": f"[{', '.join(options.log)}]" if options.log else None,
    }
    overrides = [f"{key}={value}" for key, value in given.items() if value is not None]
    experiment = with_overrides(experiment, overrides)
    experiment = with_bags(experiment, [from_shell(bag) for bag in options.bag])
    if options.model is None:
        return experiment
    from sysid_ros.comparison import structure

    return structure(experiment, options.model)


def _resume(folder: Path | None) -> Resume | None:
    """Return the folder that ``--resume`` carries on."""
    from sysid_ros.pipeline import Resume

    if folder is None:
        return None
    return Resume(None if folder == _LATEST else folder)
