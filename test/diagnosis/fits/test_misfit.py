# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is left of several signals follows from what is left of each."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.diagnosis.fits import mean_misfit, misfit_of


def test_misfits_of_single_residuals_make_that_of_all() -> None:
    residuals = np.random.default_rng(0).normal(size=(100, 3)) * (1.0, 0.2, 3.0)
    block = np.repeat(np.arange(7), 15)[:100]
    whole = misfit_of(residuals, block)
    parts = mean_misfit([misfit_of(residuals[:, [column]], block) for column in range(3)])
    assert parts.share == pytest.approx(whole.share, rel=1e-12)
    assert parts.blocks == pytest.approx(whole.blocks, rel=1e-12)
