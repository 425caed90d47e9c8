# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A result folder read back, so that its report can be rendered again or compared."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sysid_ros.errors import ErrorCode, SysidError
from sysid_ros.files import read_regular_text
from sysid_ros.judgement import Outcome
from sysid_ros.results.result_document import FORMAT, outcome_from
from sysid_ros.results.result_folder import RESIDUALS, RESULT
from sysid_ros.results.signals_file import read_signals


class ResultError(SysidError):
    """A result folder is missing, incomplete or not one of ours."""

    code = ErrorCode.DATA_UNUSABLE


def read_results(folder: str | os.PathLike[str], *, signals: bool = True) -> Outcome:
    """Read what :func:`~sysid_ros.pipeline.result_writing.write_results` wrote.

    Args:
      folder: A result folder.
      signals: Whether to read the signals, which are most of it.

    Returns:
      The outcome, number for number. Signals are absent where the folder has no
      ``residuals.npz``, as after a cancelled fit.

    Raises:
      ResultError: If the folder holds no ``result.json`` that this version understands.
    """
    path = Path(folder)
    document = _read_document(path / RESULT)
    try:
        return outcome_from(document, read_signals(path / RESIDUALS) if signals else ())
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise ResultError(f"{path} is not a complete result folder: {error}") from error


def _read_document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(read_regular_text(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        reason = _why_no_folder(path.parent) or f"it has no {path.name}"
        raise ResultError(f"{path.parent} is not a result folder: {reason}") from error
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ResultError(f"cannot read {path}: {reason}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        given = document.get("format") if isinstance(document, dict) else None
        raise ResultError(f"{path} has result format {given!r}; this version reads {FORMAT}")
    return document


def _why_no_folder(path: Path) -> str | None:
    """The reason why a path is no folder at all; None for a folder."""
    if path.is_dir():
        return None
    if not path.exists():
        return "there is no such folder"
    return f"it is a file; give the folder, such as the one that a fit wrote its {RESULT} to"
