# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The knowledge of a moving horizon as a small file, so that a restart loses nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sysid_ros.engine.moving_horizon.arrival_cost import Share, fewer
from sysid_ros.errors import DataError, listed
from sysid_ros.files import Form, Record, matrix, read_regular_text, several, write_json

if TYPE_CHECKING:
    from typing_extensions import Self

FORMAT = 2
# Numbers in a file at most, and shares: their scatter tells intervals, which takes more than six.
_NUMBERS, _MOST, _LEAST = 100_000, 24, 8


class Stored:
    """The knowledge of an estimator in a file of its own: a dataclass."""

    def write(self, path: Path, inputs: Mapping[str, str]) -> None:
        """Write the file, whole or not at all.

        Args:
          path: The file.
          inputs: A digest of everything that it is only valid for, by name.

        Raises:
          OutputError: It cannot be written.
        """
        write_json(path, {"format": FORMAT, "inputs": dict(inputs), **self._record().write(self)})

    @classmethod
    def read(cls, path: Path, inputs: Mapping[str, str]) -> Self:
        """Read a file that :meth:`write` wrote.

        Raises:
          DataError: It is none, damaged, or of other inputs.
        """
        try:
            content = json.loads(read_regular_text(path))
            if content["format"] != FORMAT:
                raise DataError(f"{path}: format {content['format']}; this version reads {FORMAT}")
            kept = dict(content["inputs"])
            if changed := [name for name in inputs if kept.get(name) != inputs[name]]:
                raise DataError(f"{path} was kept before {listed(changed)} changed")
            stored: Self = cls._record().read(content, "")
            stored.check()
            return stored
        except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise DataError(f"{path} holds no state of this estimator: {error}") from error

    @classmethod
    def _record(cls) -> Record[Any]:
        return Record(cls)

    def check(self) -> None:
        """Refuse what no run writes.

        Raises:
          ValueError: Its message says why.
        """


@dataclass(frozen=True)
class Memory(Stored):
    """All that is known of some parameters."""

    names: tuple[str, ...]  # of the scalars, (p,)
    # their information, in shares whose scatter tells how uncertain their sum is
    known: tuple[Share, ...]
    noise: Mapping[str, float]  # standard deviation of every signal, in its unit

    @classmethod
    def of(
        cls, names: Sequence[str], shares: Sequence[Share], noise: Mapping[str, float]
    ) -> Memory:
        """Keep shares, joined to a few."""
        most = max(min(_NUMBERS // max(len(names), 1) ** 2, _MOST), _LEAST)
        return cls(tuple(names), tuple(fewer(shares, most)), dict(noise))

    @classmethod
    def _record(cls) -> Record[Any]:
        share = Record(Share, without=("time",), hessian=matrix())  # what is remembered has no age
        form = Form(lambda value, key: share.read(value, key, time=0.0), share.write)
        return Record(cls, known=several(form))

    def check(self) -> None:
        """Refuse sizes that differ and numbers that are not finite."""
        p = len(self.names)
        for known in self.known:
            arrays = known.theta, known.gradient, known.hessian
            if tuple(part.shape for part in arrays) != ((p,), (p,), (p, p)):
                raise ValueError(f"its arrays are not of {p} parameters")
            if not all(np.isfinite(part).all() for part in arrays):
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
