# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of rows by degree of freedom and block of time."""

from __future__ import annotations

import numpy as np

from sysid_ros.engine.regressor import Grams


def test_some_kinds_and_blocks_have_the_residuals_that_they_have_among_all() -> None:
    random = np.random.default_rng(0)
    support = tuple(np.arange(size) for size in (2, 3, 1))
    tables = [random.normal(size=(6, 9, len(own) + 1)) for own in support]
    sums = tuple(table.transpose(0, 2, 1) @ table for table in tables)
    grams = Grams(support, sums, np.full((6, 3), 9), 3, np.array([0, 1, 1]))
    theta, gains = random.normal(size=3), np.array([1.0, 0.7])
    some = grams.of_kinds([2, 1]).of_blocks(slice(1, None, 2))
    np.testing.assert_array_equal(some.counts, 9)
    np.testing.assert_allclose(
        some.squares(theta, gains), grams.squares(theta, gains)[1::2][:, [2, 1]]
    )
