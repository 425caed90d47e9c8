# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How estimates scatter."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.trend.scatter import scatter_prior, variance_between


def test_variance_between_recordings_of_a_day() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(200), 3)
    errors = np.full(600, 0.01)
    means = rng.standard_normal(200)  # days may differ as they like
    values = means[groups] + np.hypot(0.01, 0.03) * rng.standard_normal(600)
    assert variance_between(values, errors, groups.tolist()) == pytest.approx(0.03**2, rel=0.15)


def test_standard_errors_that_explain_the_scatter() -> None:
    values = np.array([1.0, 1.001, 0.999])
    assert variance_between(values, np.full(3, 0.01), [0, 0, 0]) == 0.0
    assert variance_between(values, np.full(3, 1e-6), [0, 1, 2]) == 0.0  # one a day says nothing


def test_parameters_that_scatter_alike_share_what_they_know() -> None:
    rng = np.random.default_rng(2)
    variances = 4.0 * rng.chisquare(8, 40) / 8
    alike = scatter_prior(variances.tolist(), [8] * 40)
    assert alike.variance == pytest.approx(4.0, rel=0.2)
    assert alike.dof > 20
    differing = scatter_prior((variances * np.exp(rng.standard_normal(40))).tolist(), [8] * 40)
    assert differing.dof < 6
    assert scatter_prior([1.0, 2.0], [8, 8]).dof == 0.0
