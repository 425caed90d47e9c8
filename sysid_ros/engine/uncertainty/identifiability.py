# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Saying in words which combinations of parameters the data leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.uncertainty.covariance import INVOLVED, Covariance

REMEDY = "fix one of them, give it a prior, or add a recording with a known payload"
# Relative changes this close to a ratio of small whole numbers are taken for it.
RATIO_TOLERANCE = 0.05
_POWERS = (1, 2, 3)


def describe_open_directions(
    covariance: Covariance, names: Sequence[str], values: FloatArray, width: FloatArray
) -> tuple[str, ...]:
    """Say which combinations of parameters the data leaves open, and which it determines.

    Returns:
      One sentence per open direction, without its full stop, such as ``only gear / mass is
      determined, ...``.
    """
    sentences = []
    for direction in covariance.open_directions:
        members = [int(i) for i in np.flatnonzero(np.abs(direction) > INVOLVED)]
        if len(members) == 1:
            sentences.append(
                f"the data says nothing about {names[members[0]]}; freeze it, or excite it"
            )
            continue
        change = direction * width
        sentences.append(
            f"only {_determined(change, values, names, members)} is determined: changing "
            f"{_joint_change(change, values, names, members)} together leaves every signal as it "
            f"is; {REMEDY}"
        )
    return tuple(sentences)


def _determined(
    change: FloatArray, values: FloatArray, names: Sequence[str], members: Sequence[int]
) -> str:
    """Return what stays the same along an open direction, as a formula where it is a simple one."""
    if all(values[i] != 0.0 for i in members):
        relative = [float(change[i] / values[i]) for i in members]
        if len(members) == 2:
            formula = _monomial(relative, [names[i] for i in members])
            if formula is not None:
                return formula
        elif np.ptp(relative) <= RATIO_TOLERANCE * np.max(np.abs(relative)):
            *most, last = (names[i] for i in members)
            return f"the ratio of {', '.join(most)} and {last}"
    return f"a combination of {', '.join(names[i] for i in members)}"


def _monomial(relative: Sequence[float], names: Sequence[str]) -> str | None:
    """The product of powers of two parameters that keeps its value under relative changes.

    ``a^m b^n`` stays where ``m da/a + n db/b = 0``.
    """
    (first, second), (a, b) = relative, names
    for m, n in sorted(product(_POWERS, _POWERS), key=sum):
        for sign in (-1, 1):
            left = abs(m * first + sign * n * second)
            if left <= RATIO_TOLERANCE * max(abs(m * first), abs(n * second)):
                if sign > 0:
                    return f"{_power(a, m)} * {_power(b, n)}"
                return f"{_power(b, n)} / {_power(a, m)}"
    return None


def _power(name: str, exponent: int) -> str:
    return name if exponent == 1 else f"{name}^{exponent}"


def _joint_change(
    change: FloatArray, values: FloatArray, names: Sequence[str], members: Sequence[int]
) -> str:
    """A small step along an open direction, such as ``mass by +10 %, gear by +9.8 %``."""
    size = np.where(values != 0.0, np.abs(values), np.abs(change))
    step = 10.0 / max(abs(change[i]) / size[i] for i in members)
    return ", ".join(
        f"{names[i]} by {step * change[i] / size[i]:+.2g} %"
        if values[i] != 0.0
        else f"{names[i]} by {step / 100 * change[i]:+.2g}"
        for i in members
    )
