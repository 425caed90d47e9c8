# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters estimated from measured torque as a recording grows.

The rows are those of the fit by inverse dynamics, filtered alike and summed once when they are new.
They are linear in the parameters, so that nothing has to be computed anew: the estimate is that of
the fit from the sums that count. Rows of the last second that the estimate does not explain tell of
a change, if other values of the parameters explain them, or of a force from outside.
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
from sysid_ros.engine.problem import parameter_scale
from sysid_ros.engine.regressor import Filters, choose_filters, smooth, stretches_of, sum_grams
from sysid_ros.engine.signals import ModelSequences

LISTENED = 2.0  # s of motion from which filters are chosen
FEWEST = 3  # blocks before the first estimate
EXCESS = 3.0  # times the usual residual: the last second is not explained
SAME_CAUSE = 0.8  # share of that which other values explain, where they have changed


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
            unexplained = self._judge(self._problem, new)
            self._blocks.add(new)
            if len(self._blocks) < FEWEST:
                return None
            self._latest = self._estimate(self._problem)
        return self._answer(self._problem, self._latest, unexplained)

    def _new_rows(
        self, problem: TorqueProblem, sequences: ModelSequences, gaps: Sequence[tuple[float, float]]
    ) -> Block | None:
        """Sum the rows that have come since the last call."""
        model = problem.regressor.model
        recording = later_recording(problem, sequences, gaps)
        stretches = stretches_of(model, recording)
        if not stretches:
            return None
        if self._filters is None:
            last = stretches[-1]
            if last.step * len(last.qpos) < LISTENED:
                return None
            given = self._settings
            self._filters = choose_filters(model, stretches, given.motion_cutoff, given.row_cutoff)
        found = [s for one in stretches if (s := smooth(model, one, self._filters)) is not None]
        new = [
            replace(s, torque=np.where((s.times > self._done)[:, None], s.torque, np.nan))
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

    def _judge(self, problem: TorqueProblem, new: Block) -> tuple[str, ...]:
        """Compare the last second with what is known; begin anew where a load has changed."""
        latest = self._latest
        if latest is None:
            return ()
        recent = [b for b in self._blocks.at(new.time) if b.begin > new.time - LENGTH]
        grams = joined([*recent, new])
        (robot, theta), *_ = latest.theta.items()
        squares = grams.squares(theta, latest.gains).sum(axis=0) * latest.weights
        rows = grams.counts.sum(axis=0)[latest.weights > 0.0].sum()
        if squares.sum() <= EXCESS**2 * max(int(rows), 1):
            return ()
        free = problem.declared.free(latest.values)
        share = explained_share(grams, free.matrix[robot], theta, latest.weights)
        if share >= SAME_CAUSE:
            self._changed = new.begin
            self._blocks.drop_before(new.begin)
            return ()
        loud = int(np.argmax(squares / np.maximum(grams.counts.sum(axis=0), 1)))
        joint = problem.declared.model.joint(int(problem.declared.model.dof_jntid[loud])).name
        return (
            f"{joint}: torque of the last second is {_root(squares.sum() / rows):.2g} times as far "
            f"off as usual, of which no values of the parameters explain {1.0 - share:.0%}: a "
            "contact or a push",
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
        lower, upper = self._params.get_bounds()
        spread: FloatArray = 1.0 / np.sqrt(np.maximum(found.weights, 1e-300))
        return HorizonEstimate(
            time=self._done,
            parameters=found.parameters,
            covariance=found.covariance,
            scales=parameter_scale(lower, upper, found.values),
            settled=len(self._blocks) > 2 * FEWEST,
            undetermined=(),
            unexplained=unexplained,
            windows=len(self._blocks),
            noise={name: float(spread[dof]) for dof, name in problem.sources.known.items()},
            simulated=0,
            thinned=self._thinned,
            bodies=found.bodies,
            changed=self._changed,
        )


def _root(value: float) -> float:
    return math.sqrt(max(float(value), 0.0))
