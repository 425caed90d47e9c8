"""``sysid_ros evaluate``: score given parameters on given recordings."""

from __future__ import annotations

import argparse
from pathlib import Path

from sysid_ros.commands.common import (
    AddParser,
    debug_arguments,
    experiment_arguments,
    experiment_of,
    from_shell,
)
from sysid_ros.experiment import with_bags, with_overrides


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_parser(
        "evaluate", parents=[experiment_arguments(), debug_arguments()], help=_run.__doc__
    )
    parser.add_argument(
        "--parameters",
        type=Path,
        metavar="FILE",
        help="parameters.yaml, result.json, a result folder or name: number (the untuned model)",
    )
    parser.add_argument(
        "--bag",
        action="append",
        default=[],
        metavar="BAG",
        help="score on this recording instead of the experiment's; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Score given parameters, or the untuned model, on recordings without fitting."""
    experiment = experiment_of(options)
    if options.bag:
        experiment = with_overrides(experiment, ["validation={}"])
        experiment = with_bags(experiment, [from_shell(bag) for bag in options.bag], replace=True)

    from sysid_ros.evaluation import evaluate
    from sysid_ros.parameter_values import read_values
    from sysid_ros.results.document import evaluation_document
    from sysid_ros.results.strict_json import dumps
    from sysid_ros.terminal import print_scores
    from sysid_ros.terminal_progress import working

    values = read_values(options.parameters) if options.parameters is not None else {}
    with working("simulating the recordings"):
        found = evaluate(experiment, values, options.data, held_out_only=bool(options.bag))
    if options.json:
        print(dumps(evaluation_document(found)))
    else:
        print_scores(found.training, found.validation, found.sequences)
    return 0
