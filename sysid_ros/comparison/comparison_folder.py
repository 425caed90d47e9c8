# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One comparison of models as a result folder."""

from __future__ import annotations

from pathlib import Path

from sysid_ros.comparison.compare import Comparison
from sysid_ros.comparison.comparison_document import comparison_document
from sysid_ros.comparison.page import render_models
from sysid_ros.files import replace_file, translated_os_errors, write_json
from sysid_ros.results import discard, open_work_folder, publish, write_parameters

COMPARISON = "comparison.json"
PAGE = "comparison.html"


def write_comparison(comparison: Comparison, output_dir: Path) -> Path:
    """Write a comparison into a new folder below ``output_dir``, created if missing.

    Returns:
      The folder, with ``comparison.json``, ``comparison.html``, and each model's
      ``parameters.yaml`` in a folder of its name.

    Raises:
      OutputError: If it cannot be written; nothing is left behind then.
    """
    work = open_work_folder(output_dir, f"{comparison.title}-models")
    try:
        with translated_os_errors(output_dir):
            write_json(work / COMPARISON, comparison_document(comparison))
            replace_file(work / PAGE, render_models(comparison))
            for name, outcome in comparison.outcomes.items():
                (work / name).mkdir()
                write_parameters(work / name / "parameters.yaml", outcome)
        return publish(work)
    except BaseException:
        discard(work)
        raise
