# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of numbers among what else is in an element's user data."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.engine.friction.user_rows import row_start, user_data, with_row

MARK = (11.0, 12.0)


class Vector:
    """Numbers as MuJoCo has them, whose end is an exception that takes longer than all else."""

    def __init__(self, values: list[float]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> float:
        assert index < len(self._values), "asked for what is beyond the end"
        return self._values[index]


def test_nothing_beyond_the_end_is_asked_for() -> None:
    users = Vector([1.0, *MARK, 2.0, 3.0])
    np.testing.assert_array_equal(user_data(users), [1.0, *MARK, 2.0, 3.0])
    assert row_start(users, MARK, 4) == 1
    assert row_start(users, MARK, 5) is None
    np.testing.assert_array_equal(with_row(users, MARK, [4.0, 5.0]), [1.0, *MARK, 4.0, 5.0])


def test_a_new_row_is_behind_all_else_in_a_spec() -> None:
    joint = mujoco.MjSpec().worldbody.add_body().add_joint()
    assert user_data(joint.userdata).size == 0
    joint.userdata = np.array([7.0])
    joint.userdata = with_row(joint.userdata, MARK, [8.0])
    np.testing.assert_array_equal(user_data(joint.userdata), [7.0, *MARK, 8.0])
