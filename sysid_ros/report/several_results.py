# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Several results beside each other: what changed, and by more than its uncertainty?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.judgement import HASH_PREFIX, Outcome
from sysid_ros.report.svg import forest, number, to_error, unit
from sysid_ros.report.table_rows import is_coordinate

# Two estimates that differ by more than this many standard errors of their difference are not
# the same number measured twice.
SIGNIFICANT = 3.0


@dataclass(frozen=True)
class ComparedParameter:
    """One parameter over all results; empty texts where a result lacks it."""

    name: str
    unit: str
    values: tuple[str, ...]
    plot: Markup
    difference: str  # largest difference between two results, in standard errors
    significant: bool


def compared_parameters(outcomes: Sequence[Outcome]) -> list[ComparedParameter]:
    """Every parameter that any of ``outcomes`` has, in order of appearance.

    Coordinates of inertias stand behind all others, as in one result.
    """
    by_outcome = [{p.name: p for p in outcome.fit.parameters} for outcome in outcomes]
    names = dict.fromkeys(name for parameters in by_outcome for name in parameters)
    rows = [_compared(name, [found.get(name) for found in by_outcome]) for name in names]
    return sorted(rows, key=lambda row: is_coordinate(row.name, row.unit))


def _compared(name: str, found: Sequence[ParameterEstimate | None]) -> ComparedParameter:
    known = [parameter for parameter in found if parameter is not None]
    scores = [standard_errors_apart(a, b) for a, b in itertools.combinations(known, 2)]
    usable = [score for score in scores if score is not None]
    largest = max(usable, default=None)
    return ComparedParameter(
        name=name,
        unit=unit(known[0].unit),
        values=tuple("" if p is None else to_error(p.value, p.standard_error) for p in found),
        plot=forest(found),
        difference="" if largest is None else number(largest, 2),
        significant=largest is not None and largest > SIGNIFICANT,
    )


def standard_errors_apart(first: ParameterEstimate, second: ParameterEstimate) -> float | None:
    """Distance of two independent estimates in standard errors of their difference."""
    if first.standard_error is None or second.standard_error is None:
        return None
    error = math.hypot(first.standard_error, second.standard_error)
    return abs(first.value - second.value) / error if error > 0.0 else None


def cautions(results: Mapping[str, Outcome]) -> list[str]:
    """Return reasons why some of the errors may not compare."""
    outcomes = list(results.values())
    found = []
    if len({_held_out(outcome) for outcome in outcomes}) > 1:
        found.append(
            "The results were scored on different sequences, so their errors do not compare."
        )
    hashes = [outcome.input_hashes for outcome in outcomes]
    changed = sorted(
        HASH_PREFIX + name
        for name in set.intersection(*(set(known) for known in hashes))
        if len({known[name] for known in hashes}) > 1
    )
    if changed:
        found.append(f"These inputs have the same name but other contents: {', '.join(changed)}.")
    if any(outcome.validation is None for outcome in outcomes):
        found.append("A result without held-out data shows its training error, which flatters.")
    return found


def _held_out(outcome: Outcome) -> frozenset[str]:
    scored = [s.name for s in outcome.sequences if s.role == "validation"]
    return frozenset(scored or (s.name for s in outcome.sequences))
