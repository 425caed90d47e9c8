# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The trials of a search: told, recorded, and read back so that it can be carried on."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.files import TEXT, Record, by_name, dumps, matrix, read_regular_text, replace_file
from sysid_ros.results import SEARCH_FILE, ResultError

TRIALS = "trials.csv"


@dataclass(frozen=True)
class Trials:
    """Candidates in the order in which they were tried."""

    names: tuple[str, ...]  # of the parameters
    values: FloatArray  # their values, (n, p)
    costs: FloatArray  # shape (n, number of costs), infinite where the simulation diverged

    @classmethod
    def none(cls, names: Sequence[str], costs: int) -> Trials:
        """Nothing tried so far."""
        return cls(tuple(names), np.zeros((0, len(names))), np.zeros((0, costs)))

    def __len__(self) -> int:
        return len(self.values)

    def extended(self, values: FloatArray, costs: FloatArray) -> Trials:
        """These and further ones."""
        return Trials(
            self.names, np.concatenate([self.values, values]), np.concatenate([self.costs, costs])
        )

    def ranking(self) -> list[int]:
        """Trials by the sum of their costs, the best first; of equals the earlier one."""
        return [int(i) for i in np.argsort(self.costs.sum(axis=1), kind="stable")]

    def front(self) -> list[int]:
        """Trials that no other one beats in every cost (the Pareto front), in order."""
        costs = self.costs
        return [
            i
            for i, cost in enumerate(costs)
            if np.isfinite(cost).all()
            and not np.any(np.all(costs <= cost, axis=1) & np.any(costs < cost, axis=1))
        ]


_TRIALS = Record(Trials, values=matrix(), costs=matrix(math.inf))


def write_trials(folder: Path, trials: Trials) -> None:
    """Write ``trials.csv``: number, costs, whether on the front, and the parameters.

    Raises:
      OutputError: If it cannot be written.
    """
    count = trials.costs.shape[1]
    labels = ["cost"] if count == 1 else [f"cost_{i + 1}" for i in range(count)]
    front = set(trials.front()) if count > 1 else set()
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["trial", *labels, *(["front"] if count > 1 else []), *trials.names])
    for i, (cost, values) in enumerate(zip(trials.costs, trials.values, strict=True)):
        marked = [int(i in front)] if count > 1 else []
        rows.writerow([i, *cost.tolist(), *marked, *values.tolist()])
    replace_file(folder / TRIALS, text.getvalue())


def write_search_state(folder: Path, trials: Trials, inputs: Mapping[str, str]) -> None:
    """Keep what an interrupted search needs to be carried on.

    Raises:
      OutputError: If it cannot be written.
    """
    document = {"inputs": inputs, **_TRIALS.write(trials)}
    replace_file(folder / SEARCH_FILE, dumps(document, indent=None))


def read_search_state(folder: Path) -> tuple[Trials, dict[str, str]]:
    """The trials of an interrupted search, and what they were computed from.

    Raises:
      ResultError: There is no readable state in the folder.
    """
    path = folder / SEARCH_FILE
    try:
        document: dict[str, Any] = json.loads(read_regular_text(path))
        trials = _TRIALS.read(document, "")
        inputs: dict[str, str] = by_name(TEXT).read(document["inputs"], "inputs")
        if trials.values.shape != (len(trials.costs), len(trials.names)):
            raise ValueError("values and costs are not of the same trials")
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
    ) as error:  # fmt: skip
        raise ResultError(f"{path} is no state of a search: {error!r}") from error
    return trials, inputs
