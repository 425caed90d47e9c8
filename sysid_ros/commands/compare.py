# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros compare``: fit several model structures and choose among them."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path

from sysid_ros.commands.common import (
    AddParser,
    add_command,
    complain,
    experiment_arguments,
    experiment_of,
    worker_arguments,
    workers_of,
)
from sysid_ros.errors import ErrorCode
from sysid_ros.printable import print_text
from sysid_ros.processes import StopRequest


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, experiment_arguments(), worker_arguments())
    parser.option(
        "--models",
        "NAME,NAME",
        "what to compare: alternatives of the experiment file, friction models m1 to m6, or "
        "'experiment' for its own",
    )
    parser.option("--output", "DIR", "where the result folder goes (experiment's)", type=Path)
    parser.flag(
        "--resume",
        "carry on with the latest comparison of this experiment that was stopped or killed",
    )
    parser.flag("--json", "print JSON instead of tables")
    parser.flag("--quiet", "print nothing but errors")


def _run(options: argparse.Namespace) -> int:
    """Fit several structures of a model and choose the simplest that predicts no worse."""
    experiment = experiment_of(options)

    from sysid_ros.comparison import (
        compare,
        comparison_document,
        default_structures,
        fit_states,
        print_comparison,
        write_comparison,
    )
    from sysid_ros.errors import StopRequestedError
    from sysid_ros.experiment import check_study, output_of
    from sysid_ros.files import dumps
    from sysid_ros.results import check_writable
    from sysid_ros.terminal import FitProgress

    names = (
        default_structures(experiment)
        if options.models is None
        else tuple(name.strip() for name in options.models.split(",") if name.strip())
    )
    output = output_of(experiment, options.output)
    check_study(experiment, output, overrides_count=True)
    check_writable(output)
    progress = FitProgress(len(names))
    stop = StopRequest(lambda: progress.note("stopping; --resume carries on (again: abort)"))
    try:
        with fit_states(experiment, output, options.resume) as states:
            with nullcontext() if options.quiet else progress, stop:
                comparison = compare(
                    experiment,
                    names,
                    options.data,
                    workers=workers_of(options),
                    state_dir=states,
                    on_done=(lambda text: None) if options.quiet else progress.stage,
                    should_stop=stop.requested,
                )
            folder = write_comparison(comparison, output)
    except StopRequestedError:
        complain("stopped by request; --resume carries on")
        return int(ErrorCode.CANCELED)
    if options.json:
        print(dumps(comparison_document(comparison)))
    elif not options.quiet:
        print_comparison(comparison)
        print_text(f"results: {folder}")
        print_text(f"page:    {folder / 'comparison.html'}")
    return 0
