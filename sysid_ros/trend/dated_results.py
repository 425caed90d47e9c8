# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Results in the order of their dates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np
import yaml

from sysid_ros.errors import DataError
from sysid_ros.judgement import RECORDED_PREFIX, Outcome

_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)-(\d\d)")
_SECONDS = 86_400.0


@dataclass(frozen=True)
class DatedResult:
    """One result and its date."""

    label: str  # its name
    time: float  # days since 1970, UTC
    outcome: Outcome  # the result
    # the mean of the chosen condition over its recordings, if one was chosen
    covariate: float | None = None


def dated_results(
    results: Mapping[str, Outcome], condition: str | None = None
) -> tuple[DatedResult, ...]:
    """Put results in the order in which they were recorded.

    Args:
      results: Outcomes by label.
      condition: A condition of the experiment's sequences that may explain changes, such as
        a temperature.

    Raises:
      DataError: There are fewer than two, one has no date, or lacks the condition.
    """
    if len(results) < 2:
        raise DataError(
            f"a trend needs results of several recordings; {len(results)} is given: "
            + (", ".join(results) or "none")
        )
    dated = [
        DatedResult(
            label,
            _date(label, outcome),
            outcome,
            None if condition is None else _condition(label, outcome, condition),
        )
        for label, outcome in results.items()
    ]
    return tuple(sorted(dated, key=lambda one: (one.time, one.label)))


def date_text(days: float) -> str:
    """Return days since 1970 as a date."""
    return datetime.fromtimestamp(days * _SECONDS, timezone.utc).strftime("%Y-%m-%d")


def _date(label: str, outcome: Outcome) -> float:
    """Return the start of the first recording, or else the time of the fit, as days since 1970."""
    texts = [text for key, text in outcome.provenance.items() if key.startswith(RECORDED_PREFIX)]
    if texts:
        try:
            return min(_days(datetime.fromisoformat(text)) for text in texts)
        except ValueError as error:
            raise DataError(f"{label}: a recording's date is wrong: {error}") from error
    found = _STAMP.search(label)
    if found is None:
        raise DataError(
            f"{label} has no date: result.json names none (provenance, 'recorded ...'), and the "
            "folder's name has none as 2026-01-31_12-00-00"
        )
    day, *clock = found.groups()
    try:
        return _days(datetime.fromisoformat(f"{day}T{':'.join(clock)}"))
    except ValueError as error:
        raise DataError(f"the date in the name {label} is none: {error}") from error


def _days(date: datetime) -> float:
    known = date if date.tzinfo is not None else date.replace(tzinfo=timezone.utc)
    return known.timestamp() / _SECONDS


def _condition(label: str, outcome: Outcome, name: str) -> float:
    """The mean of a condition over the recordings of a result."""
    try:
        document = yaml.safe_load(outcome.provenance.get("experiment", ""))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{label}: its experiment cannot be read: {error}") from error
    sequences = document.get("sequences") if isinstance(document, dict) else None
    found = [
        one["conditions"].get(name)
        for one in (sequences if isinstance(sequences, list) else [])
        if isinstance(one, dict) and isinstance(one.get("conditions"), dict)
    ]
    numbers = [float(one) for one in found if isinstance(one, (int, float))]
    if not numbers or not np.isfinite(numbers).all():
        raise DataError(
            f"{label}: no sequence of its experiment has a number as condition {name!r}"
        )
    return float(np.mean(numbers))
