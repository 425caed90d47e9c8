# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of a recording of torque that grows: those of the fit, and provisional ones ahead."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.inverse_dynamics import PAYLOAD, FreeParameters, MergedColumns, Recording
from sysid_ros.engine.measured_torque import (
    TorqueEstimate,
    TorqueProblem,
    merged_columns,
    regression_settings,
    still_joints,
)
from sysid_ros.engine.moving_horizon.growing_rows import GrowingRows, shortest_filters
from sysid_ros.engine.moving_horizon.resting_joints import RestingJoints, followed_from_rest
from sysid_ros.engine.moving_horizon.torque_blocks import LENGTH, Block
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.regressor import Filters, Regressor, choose_filters, stretches_of

FEWEST = 3  # blocks before something is known
EXCESS = 3.0  # times the usual residual: such rows are not explained
_FOLLOWED = 0.05  # share of what is usual of provisional rows that the latest ones replace
_FEWEST_ROWS = 10  # that tell what is usual


@dataclass
class GrowingTorque:
    """The rows of a recording, once filters are chosen."""

    regular: GrowingRows  # rows of the fit
    # rows of shorter filters, where those of the fit lie too far back
    provisional: GrowingRows | None
    resting: RestingJoints  # joints that have not moved so far
    merged: MergedColumns | None  # the columns that are needed, where they are known beforehand
    # the body that is declared as what is held, whose weight has columns of its own, the last ones;
    # ``None`` without any
    held: int | None = None
    latest: list[Block] = field(default_factory=list)  # the provisional ones that still count
    # their squared residuals and their number, of each kind of rows, (2, kinds)
    spread: FloatArray | None = None
    # the instant before which rows are not compared with what was known, s: nothing was, of joints
    # that have begun to move
    strange: float = -math.inf

    def joints_begun(self, problem: TorqueProblem) -> bool:
        """Return whether joints move for the first time, whose parameters count from now on."""
        if not self.resting.begun(self.regular.latest):
            return False
        self.merged = _merged(problem, self.resting.joints)
        self.strange = self.regular.done + FEWEST * LENGTH
        return True

    def begin_anew(self) -> None:
        """Await a recording on another time axis."""
        self.latest.clear()
        if not math.isnan(self.regular.done):
            self.strange -= self.regular.done
        for rows in filter(None, (self.regular, self.provisional)):
            rows.done = math.nan

    def weighted(self, new: Block, found: TorqueEstimate) -> Block:
        """Provisional rows with the weight that their own noise leaves them."""
        squares = new.grams.squares(self.theta(found), found.gains).sum(axis=0)
        counts = new.grams.counts.sum(axis=0).astype(np.float64)
        if self.spread is None:
            self.spread = np.stack([squares, counts])
        usual = self.spread[0] / np.maximum(self.spread[1], 1.0)
        known = self.spread[1] >= _FEWEST_ROWS
        capped = np.where(known, np.minimum(squares, EXCESS**2 * usual * counts), squares)
        self.spread = (1.0 - _FOLLOWED) * self.spread + np.stack([capped, counts])
        usual = self.spread[0] / np.maximum(self.spread[1], 1e-9)
        return new.quieter(1.0 / np.maximum(found.weights * usual, 1.0))

    def explains(self, new: Block, found: TorqueEstimate) -> bool:
        """Return whether an estimate explains rows as well as those before."""
        if new.begin < self.strange:
            return True  # there is nothing yet to compare with
        squares = new.grams.squares(self.theta(found), found.gains).sum(axis=0) * found.weights
        count = int(new.grams.counts[:, found.weights > 0.0].sum())
        return float(squares.sum()) <= EXCESS**2 * max(count, 1)

    def free(self, problem: TorqueProblem, params: ParameterDict) -> FreeParameters:
        """The parameters to estimate, with these columns."""
        if self.merged is None:
            return problem.declared.free(params.as_vector(), self.resting.joints)
        return self.merged.free

    def theta(self, found: TorqueEstimate) -> FloatArray:
        """Factors of these columns."""
        (theta,) = found.theta.values()
        return theta if self.merged is None else self.merged.theta(theta)


def chosen_rows(
    problem: TorqueProblem, settings: TorqueSettings, recording: Recording
) -> GrowingTorque | None:
    """Begin rows whose filters are chosen from motion; ``None`` without samples."""
    model = problem.regressor.model
    stretches = stretches_of(model, recording)
    if not stretches:
        return None
    filters = choose_filters(model, stretches, settings.motion_cutoff, settings.row_cutoff)
    still = still_joints(problem.declared, filters)
    filters = followed_from_rest(model, filters, still)
    return filtered_rows(problem, settings, recording, filters, still)


def filtered_rows(
    problem: TorqueProblem,
    settings: TorqueSettings,
    recording: Recording,
    filters: Filters,
    still: list[int],
) -> GrowingTorque | None:
    """Begin rows of some filters; ``None`` without samples."""
    stretches = stretches_of(problem.regressor.model, recording)
    if not stretches:
        return None
    short = shortest_filters(filters, 1.0 / stretches[0].step)
    apart = regression_settings(problem.declared, settings).reversals_apart
    merged = _merged(problem, still)
    merge = None if merged is None else merged.matrix
    held = None if merged is None else _payload(problem, merged.free)
    weight = None if held is None else _alone(problem, held)
    rows_of = partial(GrowingRows, problem.regressor, apart=apart, merge=merge, weight=weight)
    resting = RestingJoints(problem.regressor.model, still, filters)
    ahead = None if short is None else rows_of(short)
    return GrowingTorque(rows_of(filters), ahead, resting, merged, held)


def _payload(problem: TorqueProblem, free: FreeParameters) -> int | None:
    """The body that is declared as what is held, if its inertia is estimated."""
    model = problem.declared.model
    own = [body for _, body in free.bodies() if model.body(body).name == PAYLOAD]
    return own[0] if own else None


def _merged(problem: TorqueProblem, still: list[int]) -> MergedColumns | None:
    """The columns that are needed, where they are known beforehand."""
    found = merged_columns(problem.declared, still)
    held = None if found is None else _payload(problem, found.free)
    return found if found is None or held is None else found.weighed(held)


def _alone(problem: TorqueProblem, body: int) -> Regressor:
    """Make the rows of a single body."""
    model = problem.regressor.model
    return Regressor(model, kinds=(), known=set(range(model.nbody)) - {body})
