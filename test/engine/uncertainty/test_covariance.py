# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The clustered covariance against its definition with full matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.engine.least_squares.gauss_newton import ReducedSystem
from sysid_ros.engine.uncertainty.covariance import covariance


def system(seed: int, windows: int = 9, rows: int = 7, p: int = 3):
    rng = np.random.default_rng(seed)
    # windows of unequal weight, so that some have leverage
    blocks = [rng.normal(size=(rows, p)) * rng.uniform(0.1, 3.0) for _ in range(windows)]
    jacobian = np.vstack(blocks)
    noise = rng.normal(size=len(jacobian))
    residual = noise - jacobian @ np.linalg.lstsq(jacobian, noise, rcond=None)[0]
    parts = np.split(residual, windows)
    reduced = ReducedSystem(
        jacobian.T @ jacobian,
        jacobian.T @ residual,
        np.stack([block.T @ block for block in blocks]),
        np.stack([block.T @ part for block, part in zip(blocks, parts, strict=True)]),
    )
    return jacobian, residual, reduced


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_clustered_covariance_and_degrees_of_freedom_match_their_definitions(seed):
    windows, rows, p = 9, 7, 3
    jacobian, residual, reduced = system(seed, windows, rows, p)
    n = windows * rows
    found = covariance(
        reduced,
        np.full(p, 10.0),
        np.ones(p, dtype=bool),
        method="clustered",
        n_samples=n,
        residual_square=float(residual @ residual),
    )
    inverse = np.linalg.inv(jacobian.T @ jacobian)
    hat = jacobian @ inverse @ jacobian.T
    maker = np.eye(n) - hat
    adjusted = np.zeros((windows, n, p))  # (I - H_ww)^-1 J_w A^-1 in the rows of window w
    for w in range(windows):
        own = slice(w * rows, (w + 1) * rows)
        adjusted[w, own] = np.linalg.solve(np.eye(rows) - hat[own, own], jacobian[own] @ inverse)
    scores = np.einsum("wnp,n->wp", adjusted, residual)
    variances = np.diag(scores.T @ scores)
    for j in range(p):
        terms = adjusted[:, :, j] @ maker
        omega = terms @ terms.T
        # On average the variance is the true one, if the noise is independent.
        excess = np.trace(omega) / inverse[j, j]
        assert found.matrix[j, j] == pytest.approx(variances[j] / excess, rel=1e-8)
        dof = np.trace(omega) ** 2 / np.sum(omega**2)
        assert found.dof[j] == pytest.approx(min(max(dof, 1.0), windows - 1.0), rel=1e-8)
    sizes = np.sqrt(np.diag(found.matrix) / variances)
    expected = scores.T @ scores * np.outer(sizes, sizes)
    np.testing.assert_allclose(found.matrix, expected, rtol=1e-8, atol=1e-12)
    assert np.all(found.dof < windows - 1.0)  # unequal windows say less about the variance


def test_white_noise_covariance_has_the_residuals_degrees_of_freedom():
    jacobian, residual, reduced = system(0)
    found = covariance(
        reduced,
        np.full(3, 10.0),
        np.ones(3, dtype=bool),
        method="white",
        n_samples=len(residual),
        residual_square=float(residual @ residual),
    )
    variance = residual @ residual / (len(residual) - 3)
    np.testing.assert_allclose(found.matrix, variance * np.linalg.inv(jacobian.T @ jacobian))
    assert np.all(found.dof == len(residual) - 3)


def test_what_one_window_determines_alone_is_as_uncertain_as_noise_leaves_it():
    windows, rows, p = 30, 20, 3
    rng = np.random.default_rng(4)
    jacobians = rng.standard_normal((windows, rows, p))
    jacobians[:-1, :, -1] = 0.0  # such as the mass of a payload that one recording has
    jacobian = jacobians.reshape(-1, p)
    measured = rng.standard_normal(len(jacobian))
    fitted = np.linalg.lstsq(jacobian, measured, rcond=None)[0]
    residuals = (jacobian @ fitted - measured).reshape(windows, rows)
    hessians = np.einsum("wni,wnj->wij", jacobians, jacobians)
    gradients = np.einsum("wni,wn->wi", jacobians, residuals)
    found = covariance(
        ReducedSystem(hessians.sum(axis=0), gradients.sum(axis=0), hessians, gradients),
        np.full(p, 10.0),
        np.ones(p, dtype=bool),
        method="clustered",
        n_samples=residuals.size,
        residual_square=float(np.sum(residuals**2)),
    )
    assert found.method == "clustered"
    expected = np.sqrt(np.diag(np.linalg.inv(hessians.sum(axis=0))))
    np.testing.assert_allclose(found.errors[-1], expected[-1], rtol=0.1)
    np.testing.assert_allclose(found.errors[:-1], expected[:-1], rtol=0.5)  # by scatter
    assert found.dof[-1] > windows  # nothing of it is estimated from windows


def test_what_has_no_effect_is_open_beside_what_only_priors_hold():
    jacobian = 1e7 * np.random.default_rng(0).normal(size=(60, 20))
    prior, data = np.zeros(30), np.zeros((30, 30))
    prior[20:29] = 100.0
    data[:20, :20] = jacobian.T @ jacobian
    order = np.random.default_rng(1).permutation(30)
    data, prior = data[np.ix_(order, order)], prior[order]
    found = covariance(
        ReducedSystem(data + np.diag(prior), np.zeros(30), data[None], np.zeros((1, 30))),
        np.ones(30),
        np.full(30, True),
        method="white",
        n_samples=1030,
        residual_square=1000.0,
        prior=prior,
    )
    assert np.flatnonzero(~np.isfinite(found.errors)).tolist() == [order.tolist().index(29)]
    assert found.errors[prior > 0.0] == pytest.approx(0.1, rel=0.05)
