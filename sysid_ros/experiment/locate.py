# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Paths on this machine of the bags and models that an experiment names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from sysid_ros.errors import BagError, ModelError
from sysid_ros.experiment.experiment_schema import Experiment
from sysid_ros.experiment.packages import PACKAGE, Packages
from sysid_ros.files import target_said


def locate_bag(bag: str, *, experiment_file: Path | None, data_dir: Path | None) -> Path:
    """Find a recording: under the data folder, then beside the experiment file.

    Args:
      bag: As the experiment names it; a folder or a file.
      experiment_file: The experiment's path; ``None`` stands for the current folder.
      data_dir: The folder given with ``--data``, if any.

    Raises:
      BagError: There is none; the message lists where it was looked for.
    """
    candidates = _candidates(bag, [data_dir, _folder_of(experiment_file)])
    found = _first_existing(candidates)
    if found is None:
        raise BagError(_not_found("bag", bag, candidates))
    return found


def locate_model(
    model: str,
    *,
    experiment_file: Path | None,
    data_dir: Path | None,
    packages: Packages | None = None,
) -> Path:
    """Find a model: beside the experiment file, then under the data folder.

    Args:
      model: As the experiment names it, or ``package://PACKAGE/PATH``.
      experiment_file: The experiment's path; ``None`` stands for the current folder.
      data_dir: The folder given with ``--data``, if any.
      packages: Where packages are looked for; in sourced installations if left out.

    Raises:
      ModelError: There is none, or it is a folder; the message lists where it was looked for.
    """
    if model.startswith(PACKAGE):
        candidates = (packages or Packages.of()).candidates(model)
    else:
        candidates = _candidates(model, [_folder_of(experiment_file), data_dir])
    found = _first_existing(candidates)
    if found is None and not candidates:
        raise ModelError(
            f"model {model!r} names a ROS package, but no ROS installation is sourced "
            "(AMENT_PREFIX_PATH is not set) and no --package-path is given"
        )
    if found is None:
        raise ModelError(_not_found("model", model, candidates))
    if not found.is_file():
        raise ModelError(f"model {model!r} is not a file: {found}")
    return found


def packages_of(experiment: Experiment, data_dir: Path | None) -> Packages:
    """Return the places to look for the packages that an experiment's models name.

    Raises:
      ExperimentError: A path under ``package_path`` is no folder.
    """
    folder = _folder_of(experiment.path)
    paths = [folder / Path(path).expanduser() for path in experiment.package_path]
    return Packages.of(paths, neighbours=[folder, data_dir])


def message_paths_of(experiment: Experiment) -> tuple[Path, ...]:
    """Return the places of message definitions that the experiment's bags lack."""
    folder = _folder_of(experiment.path)
    return tuple(folder / Path(path).expanduser() for path in experiment.msg_path)


def _folder_of(experiment_file: Path | None) -> Path:
    return Path.cwd() if experiment_file is None else Path(experiment_file).parent


def _candidates(name: str, folders: Iterable[Path | None]) -> list[Path]:
    """Absolute paths to try, in order and without repetition."""
    path = Path(name).expanduser()
    if path.is_absolute():
        return [path]
    tried = [(folder / path).absolute() for folder in folders if folder is not None]
    return list(dict.fromkeys(tried))


def _first_existing(candidates: Iterable[Path]) -> Path | None:
    for candidate in candidates:
        try:
            if candidate.exists():
                return candidate
        except (OSError, ValueError):  # a name too long or with a NUL exists nowhere
            continue
    return None


def _not_found(what: str, name: str, candidates: Iterable[Path]) -> str:
    """Say where a path was looked for, and which neighbours have a similar name."""
    candidates = list(candidates)
    looked = ", ".join(f"{candidate}{target_said(candidate)}" for candidate in candidates)
    return f"{what} {name!r} not found; looked for {looked}{nearest_there(candidates)}"


def nearest_there(candidates: Sequence[Path]) -> str:
    """The files beside paths that lead nowhere whose names are alike, as a clause, or nothing."""
    neighbours: set[str] = set()
    for candidate in candidates:
        with suppress(OSError):  # not all that may be passed through may be listed
            neighbours.update(entry.name for entry in candidate.parent.iterdir())
            neighbours.discard(candidate.name)  # a link that leads nowhere
    name = candidates[0].name if candidates else ""
    near = difflib.get_close_matches(name, sorted(neighbours), n=3, cutoff=0.5)
    return f"; nearest there: {', '.join(map(repr, near))}" if near else ""
