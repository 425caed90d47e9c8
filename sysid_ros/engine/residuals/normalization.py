# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scales that make differences of unlike signals comparable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import Block, rotation_between
from sysid_ros.errors import SignalError, unknown_name

Normalization = Literal["reference", "std", "noise", "none"]


def scales(
    blocks: list[Block],
    measured: FloatArray,
    method: Normalization,
    noise: Mapping[str, float] | None,
) -> FloatArray:
    """Return the divisors of the differences, one number per difference column, never zero.

    Args:
      blocks: The signals.
      measured: The measurements, (n, d), NaN where missing.
      method: "reference": the measurement's norm over sqrt(2), as in ``mujoco.sysid`` (it grows
        with the square root of the number of samples); "std": its standard deviation; "noise":
        the given standard deviation of the sensor's noise, which makes the residual chi-square
        distributed; "none": one. A signal without motion gets one in its own unit.
      noise: Standard deviation per signal, for the method "noise".

    Raises:
      SignalError: The method is unknown, or a noise is missing or not positive.
    """
    rules: dict[str, Callable[[FloatArray], FloatArray]] = {"reference": _norm, "std": _std}
    if method == "none":
        return np.ones(sum(block.width for block in blocks))
    if method == "noise":
        return np.concatenate([_noise_of(block, noise or {}) for block in blocks])
    if method not in rules:
        valid = ["reference", "std", "noise", "none"]
        raise SignalError(unknown_name("normalization", str(method), valid))
    rule = rules[method]
    if any(block.kind == "quaternion" for block in blocks):
        found = np.concatenate([_of_motion(block, measured, rule) for block in blocks])
    else:
        found = rule(measured[:, np.concatenate([block.columns for block in blocks])])
    return np.where(found > 0.0, found, 1.0)


def _of_motion(
    block: Block, measured: FloatArray, rule: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    values = measured[:, block.columns]
    if block.kind != "quaternion":
        return rule(values)
    # The motion of an orientation is its rotation since the first sample, whichever way.
    known = np.isfinite(values).all(axis=1)
    if not known.any():
        return np.zeros(3)
    reference = np.broadcast_to(values[np.argmax(known)], values.shape)
    turned = rotation_between(reference, values)
    return np.full(3, np.sqrt(np.sum(rule(turned) ** 2)))


def _noise_of(block: Block, noise: Mapping[str, float]) -> FloatArray:
    if block.name not in noise:
        raise SignalError(unknown_name("signal with a noise level", block.name, noise))
    level = float(noise[block.name])
    if not level > 0.0:
        raise SignalError(f"the noise of {block.name!r} must be above zero, got {level:g}")
    return np.full(block.width, level)


def _norm(values: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.nansum(values**2, axis=0) / 2.0))


def _std(values: FloatArray) -> FloatArray:
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / count
    return np.asarray(np.sqrt(np.where(known, (values - mean) ** 2, 0.0).sum(axis=0) / count))
