# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a receiver of commands may be sent, said once for every test that looks at commands."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray

# What rounding may add.
SHARE, SIZE = 1.002, 1e-8


def largest_step(commands: FloatArray) -> FloatArray:
    """The largest difference (n,) of two successive commands (m, n)."""
    return np.asarray(np.abs(np.diff(commands, axis=0)).max(axis=0))


def assert_no_step(
    commands: FloatArray, period: float, velocity: FloatArray, acceleration: FloatArray
) -> int:
    """Fail if two successive commands differ by more than a robot can follow.

    Args:
      commands: As published, (m, n), beginning with the command at rest.
      period: Nominal, in seconds.
      velocity: Limits (n,).
      acceleration: Limits (n,); each step may differ from the one before by so much, or begin
        again from a robot that stands, as it does after an interruption.

    Returns:
      How many times the motion began again.
    """
    steps = np.diff(commands, axis=0)
    assert np.all(np.abs(steps) <= velocity * period * SHARE + SIZE)
    turn = acceleration * period**2 * SHARE + SIZE
    goes_on = np.all(np.abs(np.diff(steps, axis=0)) <= turn, axis=1)
    begins = np.all(np.abs(steps[1:]) <= turn, axis=1)
    assert np.all(goes_on | begins), steps[1:][~(goes_on | begins)]
    return int(np.sum(~goes_on))
