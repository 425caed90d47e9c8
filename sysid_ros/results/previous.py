# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Earlier results of the same model, found beside a new one."""

from __future__ import annotations

from pathlib import Path

from sysid_ros.judgement import Outcome
from sysid_ros.results.reading import ResultError, read_results
from sysid_ros.results.result_folder import RESULT

COUNT = 5  # as many earlier results as a report shows
_LOOKED_AT = 50  # in a folder of thousands, what is further back is not worth the time


def previous_results(outcome: Outcome, output_dir: Path, before: str = "") -> dict[str, Outcome]:
    """The latest earlier results of the models that ``outcome`` identifies.

    Args:
      outcome: The new result.
      output_dir: The folder that holds result folders.
      before: Only folders whose name, which begins with their time, sorts before this one; by
        default all.

    Returns:
      Outcomes without signals by the folders' names, the latest first. Folders that cannot be
      read are no results of this model as far as anyone can tell, and left out.
    """
    models = model_hashes(outcome)
    if not models or not output_dir.is_dir():
        return {}
    names = sorted(
        (path.name for path in output_dir.iterdir() if (path / RESULT).is_file()), reverse=True
    )
    found: dict[str, Outcome] = {}
    for name in [name for name in names if not before or name < before][:_LOOKED_AT]:
        if name.startswith("."):
            continue
        try:
            earlier = read_results(output_dir / name, signals=False)
        except ResultError:
            continue
        if model_hashes(earlier) & models:
            found[name] = earlier
        if len(found) == COUNT:
            break
    return found


def model_hashes(outcome: Outcome) -> set[str]:
    """The SHA-256 of every model file behind an outcome: all inputs that are no recordings."""
    return _hashes(outcome, of_recordings=False)


def recording_hashes(outcome: Outcome) -> set[str]:
    """The SHA-256 of every recording behind an outcome."""
    return _hashes(outcome, of_recordings=True)


def _hashes(outcome: Outcome, *, of_recordings: bool) -> set[str]:
    recordings = {topic.sequence for topic in outcome.quality}
    return {
        digest
        for name, digest in outcome.input_hashes.items()
        if (name in recordings) == of_recordings
    }
