# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Values at their bounds, and small ones that are not."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.parameters.bounds import Bounds

BOUNDS = Bounds.of(np.zeros(3), np.full(3, 10.0), np.full(3, 0.001))


@pytest.mark.parametrize(
    ("value", "error", "flags"),
    [
        (0.0, 1e-5, ("at lower bound",)),
        (8e-4, 1e-5, ()),  # a small damping that is known to a percent
        (8e-4, 1e-3, ("at lower bound",)),
        (8e-4, 0.0, ("at lower bound",)),  # nothing tells
        (8e-4, np.nan, ("at lower bound",)),
        (0.1, 1.0, ()),
        (10.0 - 8e-4, 1e-5, ()),
        (10.0, 1e-5, ("at upper bound",)),
    ],
)
def test_what_is_surely_off_a_bound_is_not_at_it(
    value: float, error: float, flags: tuple[str, ...]
) -> None:
    theta, errors = np.array([value, 1.0, 1.0]), np.array([error, 0.1, 0.1])
    assert BOUNDS.flags(theta, errors) == [flags, (), ()]


def test_without_errors_what_is_near_a_bound_counts_as_at_it() -> None:
    assert BOUNDS.flags(np.array([8e-4, 5.0, 10.0 - 8e-4])) == [
        ("at lower bound",), (), ("at upper bound",),
    ]  # fmt: skip
