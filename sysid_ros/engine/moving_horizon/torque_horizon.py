# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters estimated from measured torque as a recording grows.

The rows are those of the fit by inverse dynamics, filtered alike and summed once when they are new.
They are linear in the parameters, so that nothing has to be computed anew: the estimate is that of
the fit from the sums that count. Rows that the estimate does not explain are set apart. If other
values of the parameters explain them, a load was taken up or put down, and what was before counts
no more; otherwise they are due to a force from outside, and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.measured_torque import (
    TorqueEstimate,
    TorqueProblem,
    estimate_from,
    later_recording,
    regression_settings,
    still_joints,
    torque_problem,
)
from sysid_ros.engine.moving_horizon.horizon_settings import HorizonEstimate, HorizonSettings
from sysid_ros.engine.moving_horizon.torque_blocks import (
    LENGTH,
    Block,
    TorqueBlocks,
    explained_share,
    joined,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.regressor import Filters, choose_filters, smooth, stretches_of, sum_grams
from sysid_ros.engine.signals import ModelSequences

LISTENED = 2.0  # s of motion from which filters are chosen
FEWEST = 3  # blocks before the first estimate
EXCESS = 3.0  # times the usual residual: such rows are not explained
SAME_CAUSE = 0.8  # share of that which other values explain, where they have changed
# Rows by update that are not explained: left out at the beginning, where a filter has seen both
# loads; needed to tell what they are; kept.
AT_EDGE, TELLING, KEPT = 2, 3, 8


class TorqueHorizon:
    """The estimate of one recording's parameters from measured torque."""

    def __init__(
        self, params: ParameterDict, settings: FitSettings, horizon: HorizonSettings
    ) -> None:
        """Begin without data.

        Args:
          params: Start, bounds and priors.
          settings: Of the fit: filters, prior.
          horizon: How fast to forget.
        """
        self._params = params
        self._settings = settings.torque
        self._blocks = TorqueBlocks(horizon.forgetting)
        self._problem: TorqueProblem | None = None
        self._filters: Filters | None = None
        self._latest: TorqueEstimate | None = None
        self._done = math.nan
        self._changed: float | None = None
        self._thinned = 0.0
        self._apart: list[Block] = []  # rows that are not explained

    @property
    def needed_from(self) -> float:
        """The first instant whose samples an update still needs, s; NaN before the first."""
        if self._filters is None:
            return math.nan
        return self._done - 2.0 / self._filters.rows - 2.0 / float(self._filters.motion.max())

    def begin_anew(self) -> None:
        """Keep what is known, and await a recording on another time axis."""
        self._blocks.begin_anew()
        self._done, self._changed = math.nan, None

    def skip_to(self, time: float) -> None:
        """Leave out what lies before an instant, s, and count it."""
        if self._done < time:
            self._thinned += (time - self._done) / LENGTH
            self._done = time

    def update(
        self,
        sequences: ModelSequences,
        until: float = math.inf,
        gaps: Sequence[tuple[float, float]] = (),
        *,
        ended: bool = False,
    ) -> HorizonEstimate | None:
        """Account for what the recording has gained since the last call.

        Args:
          sequences: The recording, as the only sequence of its model.
          until: The instant up to which all signals have arrived, s.
          gaps: Stretches [s] in which nothing counts.
          ended: Whether nothing follows; rows end half a filter before the data does.

        Returns:
          The estimate; ``None`` while there are fewer than three seconds.

        Raises:
          SysidError: Torque or positions are missing, nothing moves, or a parameter cannot be
            estimated in this way.
        """
        with threadpool_limits(1, "blas"):
            if self._problem is None:
                (name,) = sequences.sequence_name
                self._problem = torque_problem([sequences], self._params, {name: gaps})
            new = self._new_rows(self._problem, sequences, gaps)
            if new is None:
                return None
            if self._latest is None or self._explains(new, self._latest):
                self._apart.clear()
                self._blocks.add(new)
                said: tuple[str, ...] = ()
            else:
                self._apart = [*self._apart, new][-KEPT:]
                said = self._judge(self._problem, self._latest)
            if len(self._blocks) >= FEWEST and not said:
                self._latest = self._estimate(self._problem)
            elif self._latest is None:
                return None
            elif not said:
                said = (f"the load has changed at {self._changed:.1f} s; it is not known yet",)
        return self._answer(self._problem, self._latest, said)

    def _new_rows(
        self, problem: TorqueProblem, sequences: ModelSequences, gaps: Sequence[tuple[float, float]]
    ) -> Block | None:
        """Sum the rows that have come since the last call."""
        model = problem.regressor.model
        recording = later_recording(problem, sequences, gaps)
        if self._filters is None and recording.times[-1] - recording.times[0] < LISTENED:
            return None
        stretches = stretches_of(model, recording)
        if self._filters is None and stretches:
            given = self._settings
            self._filters = choose_filters(model, stretches, given.motion_cutoff, given.row_cutoff)
        if self._filters is None:
            return None
        found = [s for one in stretches if (s := smooth(model, one, self._filters)) is not None]
        new = [
            replace(s, shifted=np.where((s.times > self._done)[:, None, None], s.shifted, np.nan))
            if s.times[0] <= self._done
            else s
            for s in found
            if not s.times[-1] <= self._done
        ]
        if not new:
            return None
        begin = float(new[0].times[0]) if math.isnan(self._done) else self._done
        self._done = float(new[-1].times[-1])
        numbers = [np.zeros(len(s.times), dtype=np.intp) for s in new]
        grams = sum_grams(problem.regressor, new, self._filters, numbers, 1)
        return Block(begin, self._done, grams)

    def _explains(self, new: Block, latest: TorqueEstimate) -> bool:
        """Return whether an estimate explains rows as well as those before."""
        if self._changed is not None and len(self._blocks) < FEWEST:
            return True  # there is nothing yet to compare with
        (theta,) = latest.theta.values()
        squares = new.grams.squares(theta, latest.gains).sum(axis=0) * latest.weights
        rows = int(new.grams.counts[:, latest.weights > 0.0].sum())
        return float(squares.sum()) <= EXCESS**2 * max(rows, 1)

    def _judge(self, problem: TorqueProblem, latest: TorqueEstimate) -> tuple[str, ...]:
        """Find out what the rows that were set apart are due to."""
        telling = self._apart[AT_EDGE:]
        if len(telling) < TELLING:
            return ("torque differs from what is expected; a moment tells why",)
        ((robot, theta),) = latest.theta.items()
        grams = joined(telling)
        matrix = problem.declared.free(self._params.as_vector()).matrix[robot]
        share = explained_share(grams, matrix, theta, latest.weights)
        if share >= SAME_CAUSE:
            self._changed = telling[0].begin
            self._blocks.clear()
            for block in telling:
                self._blocks.add(block)
            self._apart.clear()
            return ()
        squares = grams.squares(theta, latest.gains).sum(axis=0) * latest.weights
        loud = int(np.argmax(squares))
        joint = problem.declared.model.joint(int(problem.declared.model.dof_jntid[loud])).name
        return (
            f"no values of the parameters explain {1.0 - share:.0%} of the torque that differs "
            f"from what is expected, most of it at {joint}: a contact or a push",
        )

    def _estimate(self, problem: TorqueProblem) -> TorqueEstimate:
        settings = regression_settings(problem.declared, self._settings)
        (robot,) = problem.declared.robots
        still = still_joints(problem.declared, self._filters) if self._filters else []
        grams = {robot: joined(self._blocks.at(self._done))}
        return estimate_from(problem.declared, grams, settings, still)

    def _answer(
        self, problem: TorqueProblem, found: TorqueEstimate, unexplained: tuple[str, ...]
    ) -> HorizonEstimate:
        spread: FloatArray = 1.0 / np.sqrt(np.maximum(found.weights, 1e-300))
        return HorizonEstimate(
            time=self._done,
            parameters=found.parameters,
            covariance=found.covariance,
            scales=self._params.bounds.scale_at(found.values),
            settled=len(self._blocks) > 2 * FEWEST,
            undetermined=(),
            unexplained=unexplained,
            windows=len(self._blocks),
            noise={name: float(spread[dof]) for dof, name in problem.sources.known.items()},
            simulated=0,
            thinned=self._thinned,
            bodies=found.bodies,
            spreads=found.spreads,
            changed=self._changed,
        )
