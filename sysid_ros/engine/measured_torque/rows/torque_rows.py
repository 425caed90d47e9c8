# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of inverse dynamics in the objective of a fit by simulation: one Gram matrix per window.

Behind the row filter three rows are kept per period of its cut-off, of which two are independent;
they count as so many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray, IntArray
from sysid_ros.engine.measured_torque.rows.declared_columns import Declared
from sysid_ros.engine.measured_torque.rows.inertia_columns import ten_slope
from sysid_ros.engine.measured_torque.rows.reference_ripple import reduced
from sysid_ros.engine.measured_torque.rows.torque_problem import TorqueProblem
from sysid_ros.engine.problem import Span
from sysid_ros.engine.regressor import INDEPENDENT, BlockedRows, Filters, SmoothStretch, sum_joined

_SAME = 1e-6  # s, within which instants are one
_FIRST_NOISE = 0.1  # of the torque's size


@dataclass(frozen=True)
class TorqueData:
    """Filtered motion and torque, from which the rows of any span are summed once."""

    problem: TorqueProblem  # parameters, regressor and recordings
    filters: Filters  # low-passes
    # what passes them; torque without the sawtooth of held references, without its jumps, and as
    # measured
    smooth: tuple[SmoothStretch, ...]
    # degrees of freedom whose torque a sensor shows, with the sensor's name
    kinds: Mapping[int, str]
    noise: Mapping[int, float]  # standard deviation of their rows, about
    places: IndexArray  # where the problem's free scalars stand among those of the fit, (k,)
    size: int  # free scalars of the fit
    proposal: FloatArray  # values of these that suit torque, (size,)
    _known: dict[tuple[str, int, int], tuple[tuple[FloatArray, ...], IntArray]] = field(
        default_factory=dict, repr=False
    )

    def sums(self, spans: Sequence[Span]) -> tuple[tuple[FloatArray, ...], IntArray]:
        """Sums of rows by degree of freedom, (spans, s + 1, s + 1) each, and their counts."""
        missing = [span for span in spans if _key(span) not in self._known]
        if missing:
            blocks = [self._spans_of(one, missing) for one in self.smooth]
            wanted = BlockedRows(self.smooth, self.filters, blocks, len(missing) + 1)
            _, sums, counts, *_ = sum_joined(self.problem.regressor, wanted, 3)
            own = [reduced(sums[dof], self.noise[dof]) for dof in self.kinds]
            for i, span in enumerate(missing):
                parts = tuple(one[i] for one in own)
                self._known[_key(span)] = parts, counts[i, list(self.kinds)]
        found = [self._known[_key(span)] for span in spans]
        sums = tuple(np.stack(parts) for parts in zip(*(one for one, _ in found), strict=True))
        return sums, np.stack([counts for _, counts in found])

    def _spans_of(self, stretch: SmoothStretch, spans: Sequence[Span]) -> IndexArray:
        """The span of each row, their number for none."""
        name = self.problem.recordings[stretch.recording].name
        found = np.full(len(stretch.times), len(spans), dtype=np.intp)
        for i, span in enumerate(spans):
            if span.recording == name:
                inside = (stretch.times >= span.begin - _SAME) & (stretch.times < span.end - _SAME)
                found[inside] = i
        return found


class TorqueRows:
    """Rows of some spans; see :class:`~sysid_ros.engine.problem.AddedRows`."""

    def __init__(self, data: TorqueData, spans: Sequence[Span]) -> None:
        """Sum the rows of the spans, unless they are known."""
        self._data = data
        self._sums: tuple[FloatArray, ...] = ()
        self._counts: IntArray = np.zeros((0, len(data.kinds)), dtype=np.int64)
        if spans:
            self._sums, self._counts = data.sums(spans)
        condition = {one.name: one.condition for one in data.problem.recordings}
        self._conditions = np.array([condition.get(span.recording, "") for span in spans])

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the sensors whose rows these are."""
        return tuple(self._data.kinds.values())

    @property
    def proposal(self) -> FloatArray:
        """Values of theta that suit these rows, (p,)."""
        return self._data.proposal

    def over(self, spans: Sequence[Span]) -> TorqueRows:
        """The rows of other spans."""
        return TorqueRows(self._data, spans)

    def first_noise(self) -> dict[str, float]:
        """A tenth of the torque by signal."""
        found = {}
        for i, name in enumerate(self._data.kinds.values()):
            mean = self._sums[i][:, -1, -1].sum() / max(1, int(self._counts[:, i].sum()))
            found[name] = _FIRST_NOISE * float(np.sqrt(mean)) or 1.0
        return found

    def costs(self, theta: FloatArray, noise: Mapping[str, float]) -> FloatArray:
        """Half the sum of squared residuals in units of noise by span, (spans,)."""
        levels = np.array([noise[name] for name in self._data.kinds.values()])
        return np.asarray(0.5 * (self._squares(theta) / levels**2).sum(axis=1))

    def squares(self, theta: FloatArray) -> dict[str, tuple[float, int]]:
        """Per signal the sum of squared residuals in its unit and their number."""
        totals = self._squares(theta).sum(axis=0).tolist()
        counts = np.round(INDEPENDENT * self._counts.sum(axis=0)).astype(int).tolist()
        return dict(zip(self._data.kinds.values(), zip(totals, counts, strict=True), strict=True))

    def grams(self, theta: FloatArray, noise: Mapping[str, float]) -> FloatArray:
        """``A^T A`` with ``A = [J_theta r]`` in units of noise, (spans, p + 1, p + 1)."""
        data = self._data
        found = np.zeros((len(self._conditions), data.size + 1, data.size + 1))
        declared = data.problem.declared
        values, use = theta[data.places], np.append(data.places, data.size)
        inner = _slope_of_x(declared, values)
        for condition, matrix in declared.free(values).matrix.items():
            own = np.flatnonzero(self._conditions == condition)
            slope, columns = matrix @ inner, declared.theta(values, condition)
            total = np.zeros((len(own), len(use), len(use)))
            for (dof, name), sums in zip(data.kinds.items(), self._sums, strict=True):
                support = data.problem.regressor.support[dof]
                ends = np.zeros((len(support) + 1, len(use)))
                ends[:-1, :-1], ends[:-1, -1], ends[-1, -1] = slope[support], columns[support], -1.0
                total += INDEPENDENT / noise[name] ** 2 * (ends.T @ sums[own] @ ends)
            found[np.ix_(own, use, use)] = total
        return found

    def _squares(self, theta: FloatArray) -> FloatArray:
        """Sums of squared residuals that count, (spans, degrees of freedom)."""
        data = self._data
        found = np.zeros((len(self._conditions), len(data.kinds)))
        for condition in data.problem.declared.robots:
            own = np.flatnonzero(self._conditions == condition)
            columns = data.problem.declared.theta(theta[data.places], condition)
            for i, (dof, sums) in enumerate(zip(data.kinds, self._sums, strict=True)):
                ends = np.append(columns[data.problem.regressor.support[dof]], -1.0)
                found[own, i] = np.einsum("i,bik,k->b", ends, sums[own], ends)
        return INDEPENDENT * np.maximum(found, 0.0)


def _slope_of_x(declared: Declared, values: FloatArray) -> FloatArray:
    """Derivative of what regression estimates by the declared parameters, (k, k)."""
    slope: FloatArray = np.eye(len(values))
    for p, own in declared.params.places():
        if p.name in declared.whole_bodies:
            slope[own, own] = ten_slope(values[own])
    return slope


def _key(span: Span) -> tuple[str, int, int]:
    """Return what a span is known by, however its ends were rounded."""
    return span.recording, round(span.begin / _SAME), round(span.end / _SAME)
