# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quick searches leave a few steps that the pass does not cover as it has them."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.derivatives import sensitivities
from sysid_ros.engine.problem import FEW_STEPS, tolerating


@pytest.mark.parametrize(
    ("uncovered", "tolerated", "left"),
    [
        ([30], 0.0, 1),  # none is, by default
        ([30], FEW_STEPS, 0),
        ([30, 40, 50, 60], FEW_STEPS, 4),  # of a hundred they are too many
        ([99], FEW_STEPS, 1),  # behind which the pass may not have got
    ],
)
def test_few_uncovered_steps_of_a_run_are_left(
    uncovered: list[int], tolerated: float, left: int
) -> None:
    one = sensitivities.Sensitivities.__new__(sensitivities.Sensitivities)
    one.tolerated, one.uncovered = 0.0, np.zeros(0)
    tolerating(_Problem([one, None]), tolerated)  # type: ignore[arg-type]
    marks = np.zeros(200, dtype=bool)
    marks[100 + np.array(uncovered)] = True
    found = one._not_tolerated(_Batch(), marks)  # type: ignore[arg-type]
    assert np.count_nonzero(found) == left
    assert not found[:100].any()
    assert one.uncovered == pytest.approx([0.0, 1.0 if 99 in uncovered else len(uncovered) / 100])


class _Problem:
    """What makes its derivatives."""

    def __init__(self, exact: list[object]) -> None:
        self.exact = exact


class _Batch:
    """Two runs of a hundred steps."""

    steps = np.array([100, 100])
