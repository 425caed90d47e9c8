# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of windows' rows, by window and by signal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.windows import WindowSimulation

_RIDGE = 1e-9  # of a column's own size, for what data leave open
_LEAST_LEFT = 1e-2  # of what is left of a signal, that would be left with all suspects free


def signals_of(windows: Sequence[WindowSimulation]) -> tuple[tuple[str, ...], list[IndexArray]]:
    """Names of all that is compared, and the place among these of each window's samples."""
    names = [[signal.name for signal in one.sequence.signals] for one in windows]
    signals = tuple(dict.fromkeys(name for own in names for name in own))
    kinds = [
        np.array([signals.index(name) for name in own])[one.window.samples.signals]
        for own, one in zip(names, windows, strict=True)
    ]
    return signals, kinds


def sums_of(
    rows: Sequence[FloatArray], kinds: Sequence[IndexArray], scale: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sums by window and by signal, starts eliminated.

    Args:
      rows: ``[J_theta J_start r]`` of each window, the start's prior rows last.
      kinds: The signal of each other row.
      scale: Of the parameters, (p,).
      weights: Of the signals.
    """
    p = len(scale)
    by_window: FloatArray = np.zeros((len(rows), p + 1, p + 1))
    by_signal: FloatArray = np.zeros((len(weights), p + 1, p + 1))
    for k, (own, kind) in enumerate(zip(rows, kinds, strict=True)):
        weighted = own.copy()
        weighted[: len(kind)] *= weights[kind][:, None]
        matrix = np.column_stack([weighted[:, :p] * scale, weighted[:, -1]])
        if own.shape[1] > p + 1:
            basis = np.linalg.qr(weighted[:, p:-1])[0]
            matrix -= basis @ (basis.T @ matrix)
        for signal in range(len(weights)):
            part = matrix[: len(kind)][kind == signal]
            gram = part.T @ part
            by_window[k] += gram
            by_signal[signal] += gram
    return by_window, by_signal


def left_with_all(parts: FloatArray) -> FloatArray:
    """Of each signal, the share that is left with every column free, root mean square, (s,)."""
    whole = parts.sum(axis=0)
    step = np.append(-solved(whole[:-1, :-1], whole[:-1, -1:])[:, 0], 1.0)
    left = np.einsum("i,sij,j->s", step, parts, step)
    before = np.maximum(parts[:, -1, -1], 1e-300)
    return np.asarray(np.sqrt(np.clip(left / before, _LEAST_LEFT**2, 1.0)))


def solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The least-squares solution of normal equations, whatever directions they leave open."""
    size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    inverse = np.linalg.pinv(matrix / np.outer(size, size), rcond=_RIDGE, hermitian=True)
    return np.asarray((inverse @ (right / size[:, None])) / size[:, None])
