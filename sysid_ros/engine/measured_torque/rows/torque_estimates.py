# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From a regression's parameters to those that were declared: values, errors, flags."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.inverse_dynamics import Uncertainty
from sysid_ros.engine.measured_torque.rows.declared_columns import Declared
from sysid_ros.engine.parameters import (
    BIASED_BY_NOISE,
    KEPT_NEAR_THE_MODEL,
    MAY_BE_ZERO,
    UNIDENTIFIABLE,
    corrects,
)
from sysid_ros.engine.uncertainty import ParameterEstimate, unfitted
from sysid_ros.errors import listed


@dataclass(frozen=True)
class Regression:
    """Values and errors of what was estimated."""

    x: FloatArray  # estimates, (k,)
    uncertainty: Uncertainty  # of the estimates
    noise_bias: FloatArray  # the shift by noise of positions, (k,)


def value_covariance(fit: Regression, gain_errors: FloatArray, slope: FloatArray) -> FloatArray:
    """Covariance of the declared parameters, (n, n).

    Args:
      fit: The regression, with parameters x (k,).
      gain_errors: Standard errors of the gains that were estimated besides.
      slope: Derivative of the declared parameters by x and gains, (n, k + gains).
    """
    k = len(fit.x)
    inner: FloatArray = np.zeros((k + len(gain_errors), k + len(gain_errors)))
    inner[:k, :k] = fit.uncertainty.covariance
    inner[range(k, len(inner)), range(k, len(inner))] = gain_errors**2
    return np.asarray(slope @ inner @ slope.T)


def torque_estimates(
    declared: Declared,
    fit: Regression,
    values: FloatArray,
    covariance: FloatArray,
    slope: FloatArray,
    still: Collection[int],
) -> tuple[ParameterEstimate, ...]:
    """One estimate per free scalar, flagged where the data does not determine it.

    Args:
      declared: The parameters.
      fit: The regression.
      values: Of the parameters, (n,).
      covariance: Theirs, (n, n).
      slope: Their derivative by what was estimated, (n, k).
      still: Joints that do not move.
    """
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    starts, at_bounds = unfitted(declared.params), declared.params.bounds.flags(values, errors)
    opened = _opened(fit, slope)
    found = []
    at = 0
    for p in declared.params.free():
        whole, held = p.name in declared.whole_bodies, declared.is_held(p, still)
        for start in starts[at : at + p.size]:
            flags = [] if held else list(at_bounds[at])
            bound = bool(flags)
            opened[at] |= held
            if opened[at] and not bound:
                # a delay with a prior is about zero unless the data says otherwise
                kept = whole or (corrects(p, "delay") and p.prior is not None)
                flags.append(KEPT_NEAR_THE_MODEL if kept else UNIDENTIFIABLE)
            if not opened[at] and not bound and _biased(fit, slope[at], errors[at]):
                flags.append(BIASED_BY_NOISE)
            claimed = np.isfinite(errors[at]) and not bound and (whole or not opened[at])
            one = replace(
                start,
                value=start.initial if held else float(values[at]),
                standard_error=float(errors[at]) if claimed and errors[at] > 0.0 else None,
                dof=float(fit.uncertainty.blocks - 1),
            )
            if not flags and one.may_be_zero:
                flags.append(MAY_BE_ZERO)
            found.append(replace(one, flags=tuple(flags)))
            at += 1
    return tuple(found)


def open_sentences(estimates: Sequence[ParameterEstimate]) -> tuple[str, ...]:
    """Sentences about what the data leaves open."""
    said = []
    names = [p.name for p in estimates if p.unidentifiable]
    if names:
        verb = "have" if len(names) > 1 else "has"
        said.append(
            f"{listed(names)} {verb} no effect on the measured torque, or none of their own"
        )
    kept = [p for p in estimates if KEPT_NEAR_THE_MODEL in p.flags and p.unit != "s"]
    if kept:
        said.append(
            f"torque does not determine {len(kept)} coordinates of inertias by themselves, which "
            "stay near the model; the combinations that it does determine are listed as base "
            "parameters"
        )
    return tuple(said)


def _opened(fit: Regression, slope: FloatArray) -> BoolArray:
    """Declared parameters that depend mostly on what the data leaves open, (n,)."""
    variance = slope[:, : len(fit.x)] ** 2 * fit.uncertainty.standard_errors**2
    left = variance[:, fit.uncertainty.open].sum(axis=1)
    return np.asarray(left > 0.5 * variance.sum(axis=1))


def _biased(fit: Regression, slope: FloatArray, error: float) -> bool:
    shift = float(slope[: len(fit.x)] @ fit.noise_bias)
    return bool(abs(shift) > 0.5 * error > 0.0)
