# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Columns of joint torques with their inner products, so that many torques are fitted quickly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.diagnosis.fits.bounded_fit import bounded_fit


@dataclass(frozen=True)
class TorqueTable:
    """The regressor of one motion, by row.

    A joint bears only what is behind it, so that most of a finger's row is zero.
    """

    used: tuple[IndexArray, ...]  # by row the places of its k unknowns
    columns: tuple[FloatArray, ...]  # by row (n, k), such that all p columns are of equal size
    grams: tuple[FloatArray, ...]  # their inner products, (k, k)
    size: int  # p
    # what of the rows no contact changes, (n, rows, rows); ``None`` where none is looked for. It is
    # empty where contacts leave too little
    beside: FloatArray | None = None

    @staticmethod
    def of(columns: FloatArray, beside: FloatArray | None = None) -> TorqueTable:
        """The table of a regressor, (n, rows, p)."""
        if beside is not None:
            if not len(beside):
                return TorqueTable((), (), (), 0, beside)
            columns = beside @ columns
        size = np.sqrt(np.einsum("nrp,nrp->p", columns, columns))
        told = size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)
        scaled = (columns[:, :, told] / size[told]).transpose(1, 0, 2)
        used = tuple(np.flatnonzero(row.any(axis=0)) for row in scaled)
        rows = tuple(row[:, own] for row, own in zip(scaled, used, strict=True))
        grams = tuple(row.T @ row for row in rows)
        return TorqueTable(used, rows, grams, int(np.count_nonzero(told)), beside)

    @property
    def is_blind(self) -> bool:
        """True if contacts leave too little to test."""
        return self.beside is not None and not len(self.beside)

    def fit(
        self, torque: FloatArray, weight: FloatArray, free: FloatArray | None = None
    ) -> FloatArray:
        """Fit non-negative unknowns; what they leave of torques (n, rows), weighted by row.

        Beside contacts that is over the size of all rows together, and all of it where contacts
        leave too little. Torques ``free`` (n, rows, f) may be added with any factors.
        """
        if self.is_blind:
            return np.ones_like(torque)
        if self.beside is not None:
            torque = np.einsum("nij,nj->ni", self.beside, torque)
            free = None if free is None else self.beside @ free
            size = float(np.sqrt(np.mean(torque**2)))
            weight = np.full_like(weight, 1.0 / max(size, 1e-300))
        hessian, target = np.zeros((self.size, self.size)), np.zeros(self.size)
        for place, own in enumerate(self.used):
            squared = weight[place] ** 2
            hessian[np.ix_(own, own)] += squared * self.grams[place]
            target[own] += squared * (torque[:, place] @ self.columns[place])
        basis = _basis(np.zeros((*torque.shape, 0)) if free is None else free, weight)
        shared = np.zeros((self.size, basis.shape[2]))
        for place, own in enumerate(self.used):
            shared[own] += weight[place] * (self.columns[place].T @ basis[:, place])
        hessian -= shared @ shared.T
        target -= shared @ _parts(basis, weight * torque)
        found = bounded_fit(hessian, target)
        explained = [row @ found[own] for row, own in zip(self.columns, self.used, strict=True)]
        left = np.asarray(weight * (torque - np.column_stack(explained)))
        return left - basis @ _parts(basis, left)


def _basis(free: FloatArray, weight: FloatArray) -> FloatArray:
    """An orthonormal basis of weighted torques, (n, rows, up to f)."""
    if not free.shape[2]:
        return free
    ways, size, _ = np.linalg.svd(
        (free * weight[:, None]).reshape(-1, free.shape[2]), full_matrices=False
    )
    told = size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)
    return np.asarray(ways[:, told].reshape(*free.shape[:2], -1))


def _parts(basis: FloatArray, torque: FloatArray) -> FloatArray:
    """Factors of a basis (n, rows, f) in torques (n, rows), (f,)."""
    if not basis.shape[2]:
        return np.zeros(0)
    return np.asarray(np.einsum("nrf,nr->f", basis, torque))
