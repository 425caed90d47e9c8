# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The knowledge of a moving horizon as a small file, so that a restart loses nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sysid_ros.engine.moving_horizon.arrival_cost import Share
from sysid_ros.errors import DataError
from sysid_ros.files import Form, Record, matrix, optional, read_regular_text, write_json

FORMAT = 1
State = TypeVar("State")


@dataclass(frozen=True)
class Memory:
    """All that is known of some parameters.

    Attributes:
      names: Of the scalars, (p,).
      known: Their information; ``None`` for none.
      noise: Standard deviation of every signal, in its unit.
    """

    names: tuple[str, ...]
    known: Share | None
    noise: Mapping[str, float]

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all.

        Raises:
          OutputError: It cannot be written.
        """
        write_state(path, _MEMORY.write(self))

    @classmethod
    def read(cls, path: Path) -> Memory:
        """Read a file that :meth:`write` wrote.

        Raises:
          DataError: It is none, or damaged.
        """
        return read_state(path, _read)


def write_state(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file, whole or not at all.

    Raises:
      OutputError: It cannot be written.
    """
    write_json(path, {"format": FORMAT, **content})


def read_state(path: Path, read: Callable[[dict[str, Any]], State]) -> State:
    """Read a file that :func:`write_state` wrote.

    Args:
      path: The file.
      read: Makes of the file's content what it holds; a ValueError says what is wrong with it.

    Raises:
      DataError: It is none, or damaged.
    """
    try:
        content = json.loads(read_regular_text(path))
        if content["format"] != FORMAT:
            raise DataError(f"{path}: format {content['format']}; this version reads {FORMAT}")
        return read(content)
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{path} holds no state of this estimator: {error}") from error


_SHARE = Record(Share, without=("time",), hessian=matrix())  # what is remembered is of no age
_KNOWN = Form(lambda value, key: _SHARE.read(value, key, time=0.0), _SHARE.write)
_MEMORY = Record(Memory, known=optional(_KNOWN))


def _read(content: dict[str, Any]) -> Memory:
    memory = _MEMORY.read({"known": None, **content}, "")
    _check(memory)
    return memory


def _check(memory: Memory) -> None:
    """Refuse sizes that differ and numbers that are not finite.

    Raises:
      ValueError: What is wrong.
    """
    known, p = memory.known, len(memory.names)
    if known is None:
        return
    if (known.theta.shape, known.gradient.shape, known.hessian.shape) != ((p,), (p,), (p, p)):
        raise ValueError(f"its arrays are not of {p} parameters")
    if not all(np.isfinite(part).all() for part in (known.theta, known.hessian, known.gradient)):
        raise ValueError("a number is not finite")
    if any(len(pair) != 2 for pair in known.squares.values()):
        raise ValueError("squares are not pairs")


def refuse_others(known: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse what was kept of other parameters.

    Raises:
      DataError: The names differ.
    """
    if tuple(known) != tuple(wanted):
        raise DataError(f"the state is of {', '.join(known)}; estimated are {', '.join(wanted)}")
