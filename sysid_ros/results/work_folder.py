# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Folders of results: they appear whole or not at all, and never replace another."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from sysid_ros.errors import OutputError
from sysid_ros.files import check_utf8, rename_folder

_WORK_SUFFIX = ".partial"
_MAX_SUFFIX = 1000  # results of one title that may start within one second
_ABANDONED = 86400.0  # s: no process that lives leaves a work folder empty for that long


def check_writable(output_dir: str | os.PathLike[str]) -> None:
    """Find out before any work whether results can be written to ``output_dir``.

    A file is really created and removed, since permission bits say little about read-only
    mounts, quotas and the superuser. The folder itself is not created yet: a fit that fails
    afterwards leaves nothing behind.

    Args:
      output_dir: The folder that will hold the result folders; it need not exist.

    Raises:
      OutputError: If neither it nor its nearest existing parent takes a file.
    """
    wanted = Path(output_dir).expanduser().absolute()
    nearest = wanted
    try:
        while not os.path.lexists(nearest):
            nearest = nearest.parent
        with tempfile.TemporaryFile(dir=nearest, prefix=".sysid_ros_"):
            pass
    except OSError as error:
        raise OutputError(_unwritable(wanted, error, tried=nearest)) from error


def open_work_folder(output_dir: str | os.PathLike[str], title: str) -> Path:
    """Create the hidden folder in which one result is put together.

    Empty ones that processes left behind which were killed go.

    Args:
      output_dir: The folder that holds the result folders; created if missing.
      title: Names the result; any text.

    Returns:
      The new folder, ``.<time>_<title>.<random>.partial`` beside the future result.

    Raises:
      OutputError: If it cannot be created.
    """
    parent = Path(output_dir).expanduser().absolute()
    stamp = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    name = f".{stamp}_{_slug(title)}."
    try:
        check_utf8(parent)  # or the model could not be written at the end
        parent.mkdir(parents=True, exist_ok=True)
        # Not mkdtemp: its mode 0700 would keep colleagues out of the published folder.
        folder = parent / f"{name}{secrets.token_hex(4)}{_WORK_SUFFIX}"
        folder.mkdir()
        _remove_abandoned(parent)
    except OSError as error:
        raise OutputError(_unwritable(parent, error)) from error
    except UnicodeError as error:
        raise OutputError(f"cannot write results to {parent}: {error}") from None
    return folder


def publish(work_folder: Path) -> Path:
    """Give the work folder of :func:`open_work_folder` its final name in one step.

    Returns:
      The folder under its final name, ``<time>_<title>`` or the first free ``..._2``, ``..._3``.

    Raises:
      OutputError: If it cannot be renamed.
    """
    name = work_folder.name[1 : -len(_WORK_SUFFIX)].rpartition(".")[0]
    for number in range(1, _MAX_SUFFIX):
        target = work_folder.with_name(name if number == 1 else f"{name}_{number}")
        # POSIX rename refuses a folder that holds anything and every file, so the check only
        # saves a failing call and the loop is safe against other processes.
        if os.path.lexists(target):
            continue
        try:
            rename_folder(work_folder, target)
        except OSError as error:
            if os.path.lexists(target):
                continue
            raise OutputError(_unwritable(target, error)) from error
        return target
    raise OutputError(f"{work_folder.parent} already holds {_MAX_SUFFIX - 1} results named {name}")


def is_work_folder(folder: Path) -> bool:
    """Return whether ``folder`` is an unpublished one made by :func:`open_work_folder`."""
    return folder.name.startswith(".") and folder.name.endswith(_WORK_SUFFIX)


def discard(work_folder: Path) -> None:
    """Remove an unpublished work folder; anything else is left alone."""
    if is_work_folder(work_folder):
        shutil.rmtree(work_folder, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f".*{_WORK_SUFFIX}"):
        with suppress(OSError):  # it holds something to carry on with, or went meanwhile
            if time.time() - folder.stat().st_mtime > _ABANDONED:
                folder.rmdir()


def _unwritable(folder: Path, error: OSError, *, tried: Path | None = None) -> str:
    where = f" (tried {tried})" if tried is not None and tried != folder else ""
    reason = error.strerror or str(error)
    return f"cannot write results to {folder}{where}: {reason}; choose another output folder"


def _slug(title: str) -> str:
    """``title`` as part of a file name: letters, digits, dashes; never empty."""
    return re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-").lower()[:60] or "fit"
