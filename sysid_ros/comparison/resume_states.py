# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Kept states of a comparison's fits, so that another process can carry it on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sysid_ros.dataset import setting_digests
from sysid_ros.errors import ExperimentError, OutputError, SysidError
from sysid_ros.experiment import Experiment
from sysid_ros.files import read_regular_text, write_json
from sysid_ros.judgement import title_of
from sysid_ros.processes import WorkersError
from sysid_ros.results import STATE_FILE, claimed, discard, open_work_folder

COMPARED = "compared.json"  # digests of the experiment's settings


@contextmanager
def fit_states(experiment: Experiment, output_dir: Path, resume: bool) -> Iterator[Path]:
    """A folder for the states of a comparison's fits, until it has been written.

    What was stopped or killed, or failed for want of workers or room, leaves its folder behind.

    Args:
      experiment: What is compared. Which of its structures are may change in between, as each state
        is used by the fit that left it, if its inputs are still the same.
      output_dir: Holds the folder; created if missing.
      resume: Take the latest folder that was left behind.

    Yields:
      The folder.

    Raises:
      ExperimentError: There is none to take.
      OutputError: None can be made.
    """
    settings = setting_digests(experiment)
    with ExitStack() as held:
        if resume:
            folder = _left_behind(output_dir, settings, held)
        else:
            folder = open_work_folder(output_dir, f"{title_of(experiment)}-models")
            held.enter_context(claimed(folder))
            write_json(folder / COMPARED, settings)
        try:
            yield folder
        except (OutputError, WorkersError):
            raise  # nothing is wrong with what was asked for
        except (SysidError, KeyboardInterrupt):
            discard(folder)
            raise
        except BaseException:
            if not any(folder.glob(f"*/{STATE_FILE}")):
                discard(folder)
            raise
        discard(folder)


def _settings_in(file: Path) -> Any:
    """Read a file of digests; ``None`` where it cannot be read."""
    try:
        return json.loads(read_regular_text(file))
    except (OSError, ValueError):
        return None


def _left_behind(output_dir: Path, settings: Mapping[str, str], held: ExitStack) -> Path:
    files = sorted(
        output_dir.expanduser().glob(f".*/{COMPARED}"),
        key=lambda path: (path.stat().st_mtime_ns, path.parent.name),
        reverse=True,
    )
    for file in files:
        if _settings_in(file) == settings and held.enter_context(claimed(file.parent)):
            return file.parent
    raise ExperimentError(
        f"resume: there is no interrupted comparison of this experiment in {output_dir}; run it "
        "without resuming, or name the folder where its results went"
    )
