# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Words that estimates are flagged with, as results, messages and reports show them."""

from __future__ import annotations

AT_LOWER_BOUND = "at lower bound"
AT_UPPER_BOUND = "at upper bound"
AT_A_BOUND = frozenset((AT_LOWER_BOUND, AT_UPPER_BOUND))

UNIDENTIFIABLE = "unidentifiable"  # the data leaves it open
POORLY_DETERMINED = "poorly determined"  # no better than by its bounds or its natural scale
FROM_THE_PRIOR = "from the prior"
MAY_BE_ZERO = "may be zero"  # there need be no such effect
KEPT_NEAR_THE_MODEL = "kept near the model"  # one of many inertias that are open together
NO_UNCERTAINTY = "no uncertainty: the fit did not end"
WITHOUT_EFFECT = "without effect: no Stribeck term"

IMPLAUSIBLE = "outside the plausible range"
BESIDE_IMPLAUSIBLE = "beside an implausible value"  # which may have taken a part of it
BIASED_BY_NOISE = "biased by noise"
DIFFERS_BETWEEN_RECORDINGS = "differs between recordings"
DRIFTS = "changes over the recordings"
CHANGES_AT_ONCE = "changes in mid-recording"


def moves_with(change: str) -> str:
    """The flag of what a change of the computation moves, such as ``half the time step``."""
    return f"moves with {change}"
