# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros evaluate``: score given parameters on given recordings."""

from __future__ import annotations

import argparse
from pathlib import Path

from sysid_ros.commands.common import (
    AddParser,
    add_command,
    experiment_arguments,
    experiment_of,
    from_shell,
)


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, experiment_arguments())
    parser.repeated(
        "--parameters",
        "FILE",
        "parameters.yaml, result.json, a result folder, name: number, or a model file, which "
        "is scored as written (the untuned model)",
        type=Path,
    )
    parser.repeated("--bag", "BAG", "score on this recording instead of the experiment's")
    parser.option("--page", "FILE", "draw the predictions over the measurements", type=Path)
    parser.flag("--json", "print JSON instead of a table")


def _run(options: argparse.Namespace) -> int:
    """Score given parameters, or the untuned model, on recordings without fitting."""
    experiment = experiment_of(options)
    from sysid_ros.experiment import with_bags, with_overrides

    if options.bag:
        experiment = with_overrides(experiment, ["validation={}"])
        experiment = with_bags(experiment, [from_shell(bag) for bag in options.bag], replace=True)

    from sysid_ros.comparison import evaluate_files, render_overlay
    from sysid_ros.files import dumps, replace_file
    from sysid_ros.judgement import title_of
    from sysid_ros.results import evaluation_document
    from sysid_ros.terminal import print_evaluations, working

    with working("simulating the recordings") as reading:
        found = evaluate_files(
            experiment,
            options.parameters,
            options.data,
            held_out_only=bool(options.bag),
            on_reading=reading,
        )
    if options.page is not None:
        page = render_overlay(f"{title_of(experiment)}: measured and predicted", found)
        replace_file(options.page, page)
    documents = {name: evaluation_document(evaluation) for name, evaluation in found.items()}
    if options.json:
        one = len(documents) == 1
        print(dumps(next(iter(documents.values())) if one else {"files": documents}))
    else:
        # Whether the parameters were fitted to a recording that is named, nobody knows.
        print_evaluations(found, untrained="as named" if options.bag else "held out")
    return 0
