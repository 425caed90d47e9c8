# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros report``: write a result's report anew, or compare results."""

from __future__ import annotations

import argparse
from pathlib import Path

from sysid_ros.commands.common import AddParser, add_command, load_mujoco
from sysid_ros.printable import print_text


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run)
    parser.option("result_dirs", "RESULT_DIR", "one or several results", type=Path, nargs="+")
    parser.option(
        "--output",
        "FILE",
        "the page (report.html in the folder; comparison.html for several)",
        type=Path,
    )


def _run(options: argparse.Namespace) -> int:
    """Write a result folder's report.html anew, or a page that compares several results."""
    load_mujoco()
    from sysid_ros.files import labels_of, replace_file
    from sysid_ros.report import render_comparison, render_report
    from sysid_ros.results import previous_results, read_results
    from sysid_ros.video import read_video

    folders = list(dict.fromkeys(folder.resolve() for folder in options.result_dirs))
    outcomes = {label: read_results(folder) for label, folder in labels_of(folders).items()}
    if len(folders) == 1:
        page = options.output or folders[0] / "report.html"
        outcome = next(iter(outcomes.values()))
        previous = previous_results(outcome, folders[0].parent, before=folders[0].name)
        text = render_report(outcome, previous, read_video(folders[0]))
    else:
        page = options.output or Path("comparison.html")
        text = render_comparison(outcomes)
    replace_file(page, text)
    print_text(page)
    return 0
