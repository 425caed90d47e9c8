# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From recordings to normal equations: filters, blocks of time, sums by condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.torque_fit_settings import Settings
from sysid_ros.engine.regressor import (
    BlockedRows,
    Filters,
    Grams,
    Recording,
    Regressor,
    ShiftedGrams,
    SmoothStretch,
    Stretch,
    all_stretches,
    choose_filters,
    delay_nodes,
    delayed,
    smooth,
    sum_shifted,
    sure_kinds,
)
from sysid_ros.errors import DataError

_FILTER_LENGTHS = 2.0  # that a block of time is long, at least
_FEWEST_BLOCKS = 6
_FEWEST_ROWS = 300  # away from reversals: some in every block of time


@dataclass(frozen=True)
class Smoothed:
    """Filtered recordings."""

    filters: Filters  # low-passes
    stretches: tuple[Stretch, ...]  # data without gaps, as recorded
    smooth: tuple[SmoothStretch, ...]  # the same, filtered
    blocks: tuple[IndexArray, ...]  # for each stretch the block of time of every row


@dataclass(frozen=True)
class Evidence(Smoothed):
    """All that recordings say."""

    shifted: Mapping[str, ShiftedGrams]  # sums by condition, for torque at several shifts
    delays: Mapping[str, FloatArray]  # by condition those that torque was taken with, (nv,) s
    grams: Mapping[str, Grams]  # sums by condition, with torque so delayed
    # how much less sure delays are than they seem, see :mod:`.delay_uncertainty`
    doubts: Mapping[int, float] = field(default_factory=dict)

    def with_delays(
        self,
        recordings: Sequence[Recording],
        delays: Mapping[str, FloatArray],
        theta: Mapping[str, FloatArray] | None,
    ) -> Evidence:
        """The same with torque taken later or earlier.

        Args:
          recordings: What was measured.
          delays: By condition, (nv,) s.
          theta: All parameters by condition, see :meth:`~.torque_delay.ShiftedGrams.at`.
        """
        found = []
        for s in self.smooth:
            condition = recordings[s.recording].condition
            own = self.shifted[condition]
            torque = delayed(s, own.nodes, delays[condition] - own.around)
            found.append(replace(s, torque=torque))
        grams = {
            condition: one.at(delays[condition], None if theta is None else theta[condition])
            for condition, one in self.shifted.items()
        }
        return replace(self, smooth=tuple(found), delays=delays, grams=grams)


def gather(
    regressor: Regressor,
    recordings: Sequence[Recording],
    settings: Settings,
    around: FloatArray | None = None,
) -> Evidence:
    """Filter recordings and sum their rows.

    Args:
      regressor: The robot's.
      recordings: What was measured.
      settings: Cut-offs, blocks, form of the rows.
      around: Delays of torque, (nv,) s, that unknown ones are looked for about; by default none.

    Raises:
      DataError: No stretch without a gap is longer than the filters.
    """
    model = regressor.model
    cut = all_stretches(model, recordings)
    if not cut:
        raise DataError("no recording has 64 samples in a row without a gap")
    filters = choose_filters(model, cut, settings.motion_cutoff, settings.row_cutoff)
    around = np.zeros(model.nv) if around is None else around
    shifts = around[:, None] + delay_nodes(filters, regressor)
    pairs = [(s, found) for s in cut if (found := smooth(model, s, filters, shifts)) is not None]
    if not pairs:
        raise DataError(
            f"no stretch without a gap is longer than the filters: the longest has "
            f"{max(s.step * len(s.qpos) for s in cut):.2f} s, the row filter ends at "
            f"{filters.rows:.2f} Hz"
        )
    kept, smoothed = zip(*pairs, strict=True)
    blocks = tuple(number_blocks(smoothed, filters.rows, settings.blocks))
    return _summed(
        regressor, recordings, settings, Smoothed(filters, kept, smoothed, blocks), around
    )


def summed_again(
    regressor: Regressor, recordings: Sequence[Recording], settings: Settings, evidence: Evidence
) -> Evidence:
    """The rows of another regressor of the same robot, without filtering recordings again.

    Takes what :func:`gather` takes, and what that made with the same cut-offs and delays.
    """
    around = next(iter(evidence.shifted.values())).around
    return _summed(regressor, recordings, settings, evidence, around)


def _summed(
    regressor: Regressor,
    recordings: Sequence[Recording],
    settings: Settings,
    of: Smoothed,
    around: FloatArray,
) -> Evidence:
    shifted = sums_by_condition(
        regressor, recordings, of.smooth, of.blocks, of.filters, settings, around
    )
    if settings.reversals_apart and not settings.reversals_count:
        dofs = next(iter(shifted.values())).dofs
        rows = np.sum([one.counts.sum(axis=0) for one in shifted.values()], axis=0)
        sure = sure_kinds(dofs, rows, _FEWEST_ROWS)
        shifted = {c: one.without(~sure) for c, one in shifted.items()}
    delays = dict.fromkeys(shifted, around)
    grams = {condition: one.at(around) for condition, one in shifted.items()}
    return Evidence(of.filters, of.stretches, of.smooth, of.blocks, shifted, delays, grams)


def sums_by_condition(
    regressor: Regressor,
    recordings: Sequence[Recording],
    smoothed: Sequence[SmoothStretch],
    blocks: Sequence[IndexArray],
    filters: Filters,
    settings: Settings,
    around: FloatArray,
) -> dict[str, ShiftedGrams]:
    """Sums of the stretches of each condition; a block that holds none of them is zero."""
    count = 1 + max(int(numbers.max()) for numbers in blocks)
    found = {}
    for condition in dict.fromkeys(recordings[s.recording].condition for s in smoothed):
        here = [i for i, s in enumerate(smoothed) if recordings[s.recording].condition == condition]
        wanted = BlockedRows(
            [smoothed[i] for i in here], filters, [blocks[i] for i in here], count,
            apart=settings.reversals_apart,
        )  # fmt: skip
        found[condition] = sum_shifted(regressor, wanted, around)
    return found


def number_blocks(
    smoothed: Sequence[SmoothStretch], cutoff: float, wanted: int
) -> list[IndexArray]:
    """Cut the time of all stretches into blocks of about one length, several filters long.

    Every stretch has a block of its own; there are fewer than :data:`_FEWEST_BLOCKS` only where
    fewer are wanted.
    """
    spans = [max(float(s.times[-1] - s.times[0]), 1e-9) for s in smoothed]
    longest = sum(spans) * cutoff / (2.0 * _FILTER_LENGTHS)
    count = min(wanted, max(_FEWEST_BLOCKS, int(longest)))
    length = sum(spans) / count
    found, first = [], 0
    for s, span in zip(smoothed, spans, strict=True):
        own = max(1, round(span / length))
        numbers = np.minimum((own * (s.times - s.times[0]) / span).astype(np.intp), own - 1)
        found.append(first + numbers)
        first += own
    return found


@dataclass(frozen=True)
class Equations:
    """Normal equations of the estimated parameters."""

    hessians: FloatArray  # by block, (blocks, k, k)
    gradients: FloatArray  # by block, (blocks, k)

    def of(self, some: IndexArray) -> Equations:
        """The equations of some parameters, the others zero."""
        return Equations(self.hessians[:, some][:, :, some], self.gradients[:, some])


def equations(
    grams: Mapping[str, Grams],
    free: FreeParameters,
    weights: FloatArray,
    gains: FloatArray,
    gain_dofs: IndexArray,
    x: FloatArray,
    *,
    together: bool = False,
) -> Equations:
    """Weighted normal equations of (x, gains), linearised in the gains.

    With measured torque = s_j R_j theta, the product is s_0 R theta + (s - s_0) R theta_0.

    Args:
      grams: By condition.
      free: The estimated parameters.
      weights: Of kinds of rows, (kinds,).
      gains: s_0 of degrees of freedom, (nv,).
      gain_dofs: Degrees of freedom whose gain is estimated.
      x: The estimate so far, which gives theta_0; (k,).
      together: Whether all blocks are summed to one.
    """
    blocks = 1 if together else max(len(one.counts) for one in grams.values())
    k, extra = len(free.names), len(gain_dofs)
    found = Equations(np.zeros((blocks, k + extra, k + extra)), np.zeros((blocks, k + extra)))
    places = {int(dof): place for place, dof in enumerate(gain_dofs, k)}
    for condition, one in grams.items():
        theta = free.theta(x, condition)
        for dof, weight, own, sums in zip(one.dofs, weights, one.support, one.sums, strict=True):
            if weight == 0.0 or not own.size:
                continue
            rows = _Rows(
                weight * (sums.sum(axis=0, keepdims=True) if together else sums),
                free.matrix[condition][own], free.fixed[condition][own], theta[own], gains[dof],
            )  # fmt: skip
            rows.add_to(found, places.get(int(dof)))
    return found


def equations_of_kind(
    grams: Mapping[str, Grams],
    free: FreeParameters,
    kind: int,
    x: FloatArray,
    gain: float | None,
) -> tuple[IndexArray, Equations]:
    """The parameters that one kind of rows knows, (s,), and its equations in them alone.

    Args:
      grams: By condition.
      free: The estimated parameters.
      kind: The number of the kind.
      x: An estimate (k,).
      gain: An estimate of its torque's unknown factor, which is then one more unknown, the last.
    """
    support = {condition: one.support[kind] for condition, one in grams.items()}
    seen = [free.matrix[condition][own].any(axis=0) for condition, own in support.items()]
    known = np.flatnonzero(np.any(seen, axis=0))
    count, place = len(known) + (gain is not None), None if gain is None else len(known)
    found = Equations(np.zeros((1, count, count)), np.zeros((1, count)))
    for condition, own in support.items():
        rows = _Rows(
            grams[condition].sums[kind].sum(axis=0, keepdims=True),
            free.matrix[condition][np.ix_(own, known)], free.fixed[condition][own],
            free.theta(x, condition)[own], 1.0 if gain is None else gain,
        )  # fmt: skip
        if own.size:
            rows.add_to(found, place)
    return known, found


class _Rows(NamedTuple):
    """Rows of one kind, their weight included."""

    sums: FloatArray  # (blocks, s + 1, s + 1) of (R, tau)
    matrix: FloatArray  # (s, k)
    fixed: FloatArray  # (s,)
    theta: FloatArray  # (s,) so far
    gain: float

    def add_to(self, found: Equations, place: int | None) -> None:
        """Add their normal equations; ``place`` is that of an estimated gain."""
        normal, plain, gain = self.sums[:, :-1, :-1], self.sums[:, :-1, -1], self.gain
        k, blocks = self.matrix.shape[1], len(normal)
        used = np.flatnonzero(self.matrix.any(axis=0))  # the wrist's rows know little of the arm
        own = self.matrix[:, used]
        chosen = own.argmax(axis=0)
        if np.array_equal(own, np.eye(len(own))[:, chosen]):  # parameters are columns themselves
            seen = normal[:, chosen]
            found.hessians[:blocks, used[:, None], used] += gain**2 * seen[:, :, chosen]
        else:
            seen = own.T @ normal
            found.hessians[:blocks, used[:, None], used] += gain**2 * seen @ own
        found.gradients[:blocks, used] += gain * plain @ own - gain**2 * seen @ self.fixed
        if place is None:
            return
        along = normal @ self.theta
        mixed = gain * along @ self.matrix
        found.hessians[:blocks, place, place] += along @ self.theta
        found.hessians[:blocks, :k, place] += mixed
        found.hessians[:blocks, place, :k] += mixed
        found.gradients[:blocks, :k] += gain * mixed
        found.gradients[:blocks, place] += plain @ self.theta + gain * along @ (
            self.theta - self.fixed
        )


def acting_squares(grams: Mapping[str, Grams], free: FreeParameters) -> dict[str, FloatArray]:
    """Sum of squared torques, (blocks, kinds) by condition.

    Where none acts at all, as on a base that flies or a ball, of the parts that add up to nothing.
    """
    none = vanishing(grams)
    found = {}
    for condition, one in grams.items():
        parts = one.part_squares(free.theta(free.nominal, condition)) if none.any() else 0.0
        found[condition] = one.torque_squares() + np.where(none, parts, 0.0)
    return found


def vanishing(grams: Mapping[str, Grams]) -> BoolArray:
    """Kinds of rows on which no torque acts at all, (kinds,)."""
    return np.asarray(sum(one.torque_squares().sum(axis=0) for one in grams.values()) == 0.0)
