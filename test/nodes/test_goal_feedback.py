# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the client of a fit is told of its progress."""

from __future__ import annotations

from unittest.mock import MagicMock

import numpy as np

from sysid_ros.engine.least_squares import Iteration
from sysid_ros.nodes.fit_server import FITTED, READING
from sysid_ros.nodes.fit_server.goal_feedback import GoalFeedback


def step(number: int) -> Iteration:
    return Iteration(number, 1.0, 0.1, ("mass",), np.array([1.0]), 0.1)


def test_progress_of_a_goal_never_falls() -> None:
    goal = MagicMock()
    told: list[float] = []
    goal.publish_feedback.side_effect = lambda message: told.append(message.progress)
    with GoalFeedback(MagicMock(), goal) as feedback:
        feedback.stage("reading recordings")
        for share in (0.5, 1.0):
            feedback.stage("reading recordings", share)
        feedback.stage("fitting")
        for number in (1, 5, 1, 2, 8):  # errors are weighed anew after the second
            feedback.iteration(step(number), number / 10)
        feedback.stage("scoring")
        scoring = feedback.progress
        feedback.stage("writing results")
        writing = feedback.progress
        feedback.done()
    assert (told[0], told[-1], READING in told) == (0.0, 1.0, True)
    assert told == sorted(told)
    assert scoring == FITTED < writing < 1.0  # although two of ten iterations were not needed
