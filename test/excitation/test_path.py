# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The way from rest and back: soft, and refused where it would leave a limit."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.excitation import (
    CommandLimits,
    ExcitationError,
    ExcitationPath,
    TabulatedReference,
    check_limits,
)

NONE = np.full(1, np.inf)


def test_path_leaves_from_and_returns_to_rest():
    reference = TabulatedReference(("a",), np.array([0.0, 10.0]), np.full((2, 1), 1.0), NONE)
    path = ExcitationPath(reference, np.array([0.3]), ramp=2.0)
    values = path.commands(np.array([-1.0, 0.0, 5.0, 10.0, 11.0]))[:, 0]
    np.testing.assert_allclose(values, [0.3, 0.3, 1.0, 0.3, 0.3])


@pytest.mark.parametrize(
    ("values", "ramp", "words"),
    [
        ([[0.0], [2.0], [2.0], [0.0]], 1.0, "above its upper limit 1"),
        ([[0.0], [-2.0], [-2.0], [0.0]], 1.0, "below its lower limit -1"),
        ([[0.9], [0.9], [0.9], [0.9]], 0.05, "faster than its limit 2"),
        ([[0.9], [0.9], [0.9], [0.9]], 1.0, "accelerates more than its limit 5"),
    ],
)
def test_motion_beyond_limits_is_refused_before_it_plays(values, ramp, words):
    reference = TabulatedReference(("elbow",), np.arange(4.0), np.array(values), NONE)
    path = ExcitationPath(reference, np.zeros(1), ramp=ramp)
    one = np.ones(1)
    with pytest.raises(ExcitationError, match=f"'elbow'.*{words}"):
        check_limits(path, CommandLimits(-one, one, 2 * one, 5 * one))


def test_a_motion_from_an_unknown_place_is_refused():
    reference = TabulatedReference(("a", "elbow"), np.arange(4.0), np.zeros((4, 2)), np.ones(2))
    path = ExcitationPath(reference, np.array([0.0, np.nan]), ramp=1.0)
    one = np.ones(2)
    with pytest.raises(ExcitationError, match="the command of joint 'elbow' is not a number"):
        check_limits(path, CommandLimits(-one, one, one, one))


def test_ramps_longer_than_the_motion_are_refused():
    reference = TabulatedReference(("elbow",), np.array([0.0, 1.0]), np.zeros((2, 1)), NONE)
    with pytest.raises(ExcitationError, match="two ramps must fit"):
        ExcitationPath(reference, np.zeros(1), ramp=0.6)
