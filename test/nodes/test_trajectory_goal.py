# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is taken from a controller's feedback, whose arrays may be of any length."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from sysid_ros.nodes.excite.trajectory_goal import _told

GIVEN = (1.0, 0.5)


@pytest.mark.parametrize("odd", [(), (1.0,), (1.0, 2.0, 3.0), (0.0, 0.0), (1.0, math.nan)])
def test_derivatives_that_are_not_told_for_each_joint_are_left_out(odd: Sequence[float]) -> None:
    assert list(_told(2, GIVEN, GIVEN)) == [GIVEN, GIVEN]
    assert list(_told(2, GIVEN, odd)) == [GIVEN]
    assert not list(_told(2, odd, GIVEN))
