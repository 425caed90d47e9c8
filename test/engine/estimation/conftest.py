# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What tests of the fit share."""

from __future__ import annotations

import pytest

from sysid_ros.engine.least_squares import Linearization, Point
from sysid_ros.engine.problem import WindowedProblem


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time steps that each linearization was of: what a fit costs on any machine."""
    counts: list[int] = []
    linearize = WindowedProblem.linearize

    def counted(problem: WindowedProblem, point: Point) -> Linearization:
        counts.append(sum(window.window.steps for window in problem.windows))
        return linearize(problem, point)

    monkeypatch.setattr(WindowedProblem, "linearize", counted)
    return counts
