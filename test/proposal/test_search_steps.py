# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What jumps, as a gripper's finger, does not hold up steps of what has nothing to do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.proposal import search_steps
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.chosen_forward import System
from sysid_ros.proposal.search_steps import nearer


@dataclass(frozen=True)
class Jumping:
    """Two parameters: one smooth with its best at 1, and one whose slope leads beyond a wall."""

    wall: float  # where the second one's cost jumps
    related: float = 0.0  # what both have in common

    lower = np.full(2, -10.0)
    upper = np.full(2, 10.0)

    def linearize(self, point: Point) -> System:
        """Normal equations about a point."""
        hessian = np.array([[1.0, self.related], [self.related, 1.0]])
        return System(hessian, hessian @ (point.theta - 1.0), 1.0)

    def cost(self, point: Point) -> float:
        """Half the squares that are left, and far more behind the wall."""
        left: FloatArray = point.theta - 1.0
        return 0.5 * float(left @ left) + 100.0 * float(point.theta[1] > self.wall)


def stepped(problem: Jumping, monkeypatch: pytest.MonkeyPatch) -> FloatArray:
    monkeypatch.setattr(search_steps.System, "of", staticmethod(lambda system: system))
    offered = [
        Candidate(
            element="joint", name=name, attribute="damping", low=-10.0, high=10.0, typical=1e3
        )
        for name in ("arm", "finger")
    ]
    there = nearer(cast(WindowedProblem, cast(Any, problem)), Point(np.zeros(2), ()), offered)
    return there.theta


@pytest.mark.parametrize(
    ("wall", "related", "expected"),
    [
        (2.0, 0.0, (1.0, 1.0)),  # the whole step
        (0.5, 0.0, (0.3, 0.3)),  # a share of it
        (0.1, 0.0, (1.0, 0.0)),  # that part which leads nearer
        (0.1, 0.5, (0.0, 0.0)),  # none where both are one
    ],
)
def test_parts_of_a_step_lead_nearer_by_themselves(
    wall: float, related: float, expected: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stepped(Jumping(wall, related), monkeypatch) == pytest.approx(expected, abs=1e-3)
