# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros trend``: follow the parameters of one robot over results of several days."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.commands.common import AddParser, add_command, complain, load_mujoco
from sysid_ros.errors import DataError, ExperimentError
from sysid_ros.printable import print_text

if TYPE_CHECKING:
    from sysid_ros.judgement import Outcome


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run)
    parser.option(
        "results",
        "RESULTS",
        "result folders of the same model, or folders that hold some",
        type=Path,
        nargs="+",
    )
    parser.option(
        "--limit", "PERCENT", "a change of more than this is an error (none is)", type=float
    )
    parser.option(
        "--condition",
        "NAME",
        "a condition of the sequences that may explain changes, such as a temperature",
    )
    parser.option("--output", "FILE", "the page", type=Path, default=Path("trend.html"))
    parser.flag("--json", "print JSON instead of a table")


def _run(options: argparse.Namespace) -> int:
    """Follow parameters over results of several days: change points, drift, a judgement."""
    if options.limit is not None and not 0.0 < options.limit < math.inf:
        raise ExperimentError(f"--limit is {options.limit:g}; it takes a percentage above 0")
    load_mujoco()
    from sysid_ros.files import dumps, replace_file
    from sysid_ros.report import render_trends
    from sysid_ros.terminal import print_trends
    from sysid_ros.trend import dated_results, trend_document, trends

    results = dated_results(_outcomes(options.results), options.condition)
    found = trends(results, options.limit)
    replace_file(options.output, render_trends(found, results, options.limit))
    if options.json:
        print(dumps(trend_document(found, results, options.limit, options.condition)))
    else:
        print_trends(found)
        print_text(f"page: {options.output}")
    return 0


def _outcomes(given: Iterable[Path]) -> dict[str, Outcome]:
    """The results of one model, each recording once.

    Raises:
      DataError: They identify different models, or a folder holds no result.
    """
    from sysid_ros.files import labels_of
    from sysid_ros.results import model_hashes, read_results

    folders = [folder for path in given for folder in _result_folders(path.resolve())]
    folders = sorted(dict.fromkeys(folders), key=lambda folder: (folder.name, str(folder)))
    found: dict[str, Outcome] = {}
    for label, folder in labels_of(folders).items():
        outcome = read_results(folder, signals=False)
        first = next(iter(found.items()), (label, outcome))
        if not model_hashes(outcome) & model_hashes(first[1]):
            raise DataError(
                f"{label} identifies another model than {first[0]}; a trend is that of one model"
            )
        for other in [name for name, one in found.items() if _fitted(one) & _fitted(outcome)]:
            complain(f"{other} and {label} are fits of the same recording; the latter counts")
            del found[other]
        found[label] = outcome
    return found


def _fitted(outcome: Outcome) -> set[str]:
    """Hashes of the recordings that were fitted; of all where the result does not tell which."""
    from sysid_ros.judgement import RECORDED_PREFIX
    from sysid_ros.results import recording_hashes

    digests = outcome.input_hashes.items()
    fitted = {digest for name, digest in digests if RECORDED_PREFIX + name in outcome.provenance}
    return fitted or recording_hashes(outcome)


def _result_folders(path: Path) -> list[Path]:
    """The folder itself where it is a result, else the results in it and in its folders."""
    from sysid_ros.results import RESULT

    if (path / RESULT).is_file() or not path.is_dir():
        return [path]
    found = [one.parent for depth in ("*", "*/*") for one in path.glob(f"{depth}/{RESULT}")]
    inside = [one for one in found if all(n[0] != "." for n in one.relative_to(path).parts)]
    if not inside:
        raise DataError(f"{path} is no result folder, and holds none")
    return inside
