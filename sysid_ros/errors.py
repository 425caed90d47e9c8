# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The one family of exceptions this package raises, with the code each becomes at the edges.

Nodes turn an error into an action result and the command line into an exit status; both use
:class:`ErrorCode`, whose values equal the constants of ``sysid_ros_interfaces/FitModel``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum
from typing import ClassVar


class ErrorCode(IntEnum):
    """Reasons for which a fit did not deliver; also the exit status of the command line."""

    NONE = 0
    INVALID_EXPERIMENT = 1
    INVALID_MODEL = 2
    BAG_UNREADABLE = 3
    DATA_UNUSABLE = 4
    NOT_CONVERGED = 5
    CANCELED = 6
    BUSY = 7
    WORKER_DIED = 8
    OUTPUT_UNWRITABLE = 9


class SysidError(Exception):
    """Root of every error a user can cause; the message says what was given and what is valid."""

    code: ClassVar[ErrorCode] = ErrorCode.INVALID_EXPERIMENT


class ExperimentError(SysidError):
    """The experiment file is missing, malformed or contradicts itself."""

    code = ErrorCode.INVALID_EXPERIMENT


class ModelError(SysidError):
    """The model does not load, does not compile, or lacks a named element."""

    code = ErrorCode.INVALID_MODEL


class BagError(SysidError):
    """A bag is missing, damaged, empty, or lacks a topic or message definition."""

    code = ErrorCode.BAG_UNREADABLE


class DataError(SysidError):
    """The data was read but cannot support the fit (NaN, constant, too few samples)."""

    code = ErrorCode.DATA_UNUSABLE


class ParameterError(SysidError, ValueError):
    """A parameter is defined or used inconsistently (bounds, shapes, names)."""


class SignalError(DataError, ValueError):
    """Data does not fit its names, its model or itself."""


class OutputError(SysidError):
    """Results cannot be written where they were asked for."""

    code = ErrorCode.OUTPUT_UNWRITABLE


class StopRequestedError(Exception):
    """The user asked a running computation to stop."""


def unknown_name(
    what: str, given: str, valid: Iterable[str], *, where: str = "", limit: int = 8
) -> str:
    """Say that a name is unknown and which names come nearest.

    Args:
      what: The kind of thing named, for example ``"sensor"``.
      given: The name that was not found.
      valid: Every name that would have been accepted.
      where: What it was looked up in, for example ``"parameters[0]"``.
      limit: How many names to list at most.

    Returns:
      One sentence such as ``unknown sensor 'elbo_pos'; nearest: 'elbow_pos'; valid: ...``.
    """
    names = sorted({str(name) for name in valid})
    subject = f"unknown {what} {given!r}" + (f" in {where}" if where else "")
    if not names:
        return f"{subject}: there is none to choose from"
    nearest = difflib.get_close_matches(given, names, n=3, cutoff=0.5)
    hint = f"; nearest: {', '.join(repr(name) for name in nearest)}" if nearest else ""
    return f"{subject}{hint}; valid: {listed(map(repr, names), limit)}"


def listed(parts: Iterable[str], most: int | None = 4, *, last: str = ", ") -> str:
    """Name all of a few, or the first of many: ``a, b, c, d and 3 more``.

    Args:
      parts: The names.
      most: How many are named at most; ``None`` for all.
      last: Stands between the last two where all are named.
    """
    said = list(parts)
    if most is not None and len(said) > most:
        return f"{', '.join(said[:most])} and {len(said) - most} more"
    return last.join([*filter(None, [", ".join(said[:-1])]), *said[-1:]])


def as_sentence(clause: str) -> str:
    """A clause as the beginning of a sentence."""
    return f"{clause[:1].upper()}{clause[1:]}"
