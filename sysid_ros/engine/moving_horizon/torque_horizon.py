# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters estimated from measured torque as a recording grows.

The rows are those of the fit by inverse dynamics, filtered alike and summed once when they are new.
They are linear in the parameters, so that nothing has to be computed anew: the estimate is that of
the fit from the sums that count. The latest moments count by rows of shorter filters. Rows that
the estimate does not explain are set apart. If other values of the parameters explain them, a load
was taken up or put down, and what was before counts no more; otherwise they are due to a force from
outside, and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import Recording
from sysid_ros.engine.measured_torque import (
    TorqueEstimate,
    TorqueProblem,
    estimate_from,
    later_recording,
    merged_columns,
    regression_settings,
    still_joints,
    torque_problem,
)
from sysid_ros.engine.moving_horizon.growing_rows import (
    FEWEST_SAMPLES,
    GrowingRows,
    shortest_filters,
)
from sysid_ros.engine.moving_horizon.growing_torque import EXCESS, FEWEST, GrowingTorque
from sysid_ros.engine.moving_horizon.horizon_memory import refuse_others
from sysid_ros.engine.moving_horizon.horizon_settings import HorizonEstimate, HorizonSettings
from sysid_ros.engine.moving_horizon.resting_joints import RestingJoints, followed_from_rest
from sysid_ros.engine.moving_horizon.signal_trace import SignalTrace, TorqueTraces
from sysid_ros.engine.moving_horizon.torque_blocks import (
    LENGTH,
    Block,
    TorqueBlocks,
    explained_share,
    joined,
)
from sysid_ros.engine.moving_horizon.torque_memory import OTHER_MODEL, TorqueMemory
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.regressor import Filters, choose_filters, stretches_of
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import single_blas_thread
from sysid_ros.errors import DataError

BEFORE = 0.2  # s before the first sample in a row that is still to come, for delays
LISTENED = 2.0  # s of motion from which filters are chosen
SETTLED = 6  # blocks after which little changes from one estimate to the next
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
        self._rows: GrowingTorque | None = None
        self._latest: TorqueEstimate | None = None
        self._changed: float | None = None
        self._usual: FloatArray | float = 0.0  # weights before the load changed, (nv,)
        self._thinned = 0.0
        self._apart: list[Block] = []  # rows that are not explained
        self._remembered: TorqueMemory | None = None  # until rows tell that it fits the model
        self._traces = TorqueTraces() if horizon.traced else None

    @property
    def needed_from(self) -> float:
        """The first instant whose samples an update still needs, s; NaN before the first."""
        return math.nan if self._rows is None else self._rows.regular.needed_from - BEFORE

    def begin_anew(self) -> None:
        """Keep what is known, and await a recording on another time axis."""
        self._blocks.begin_anew()
        self._changed = None
        self._apart.clear()
        if self._traces is not None:
            self._traces.clear()
        if self._rows is not None:
            self._rows.begin_anew()

    def skip_to(self, time: float) -> None:
        """Leave out what lies before an instant, s, and count it."""
        if self._rows is not None and self._rows.regular.done < time:
            self._thinned += (time - self._rows.regular.done) / LENGTH
            for rows in filter(None, (self._rows.regular, self._rows.provisional)):
                rows.done = max(rows.done, time)

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
        with single_blas_thread():
            if self._problem is None:
                (name,) = sequences.sequence_name
                self._problem = torque_problem([sequences], self._params, {name: gaps})
            recording = later_recording(self._problem, sequences, gaps)
            rows = self._rows = self._rows or self._listened(self._problem, recording)
            if rows is None:
                return None
            new = rows.regular.new(recording)
            if new is not None and self._remembered is not None:
                self._restore(self._problem, rows, new)
            if self._traces is not None and self._latest is not None:
                filters = rows.regular.filters
                self._traces.add(self._problem, rows.regular.latest, filters, self._latest)
            said: tuple[str, ...] = ()
            if new is not None:
                said = self._taken(self._problem, rows, new)
            ahead = self._look_ahead(rows, recording, ended=ended)
            if new is None and not ahead and not ended:
                return None
            if len(self._blocks) >= FEWEST and not said:
                self._latest = self._estimate(self._problem, rows, ended=ended)
            elif self._latest is None:
                return None
            elif not said:
                said = (f"the load has changed at {self._changed:.1f} s; it is not known yet",)
            return self._answer(self._problem, rows, self._latest, said)

    def traces(self) -> tuple[SignalTrace, ...]:
        """Measured torque beside what was expected, where it is traced."""
        if self._traces is None or self._problem is None:
            return ()
        return self._traces.traces(self._problem)

    def _listened(self, problem: TorqueProblem, recording: Recording) -> GrowingTorque | None:
        """Choose filters, once there is enough motion, or take those of another run."""
        if len(recording.times) < FEWEST_SAMPLES:
            return None
        if self._remembered is not None:
            known = self._remembered
            if len(known.motion) != problem.regressor.model.nq:
                self._remembered = None
                raise DataError(OTHER_MODEL)
            return self._filtered(problem, recording, known.filters, list(known.still))
        if recording.times[-1] - recording.times[0] < LISTENED:
            return None
        model, given = problem.regressor.model, self._settings
        stretches = stretches_of(model, recording)
        if not stretches:
            return None
        filters = choose_filters(model, stretches, given.motion_cutoff, given.row_cutoff)
        still = still_joints(problem.declared, filters)
        filters = followed_from_rest(model, filters, still)
        return self._filtered(problem, recording, filters, still)

    def _filtered(
        self, problem: TorqueProblem, recording: Recording, filters: Filters, still: list[int]
    ) -> GrowingTorque | None:
        """Begin rows of some filters, once there are samples."""
        stretches = stretches_of(problem.regressor.model, recording)
        if not stretches:
            return None
        short = shortest_filters(filters, 1.0 / stretches[0].step)
        apart = regression_settings(problem.declared, self._settings).reversals_apart
        merged = merged_columns(problem.declared, still)
        merge = None if merged is None else merged.matrix
        rows_of = partial(GrowingRows, problem.regressor, apart=apart, merge=merge)
        resting = RestingJoints(problem.regressor.model, still, filters)
        ahead = None if short is None else rows_of(short)
        return GrowingTorque(rows_of(filters), ahead, resting, merged)

    def _restore(self, problem: TorqueProblem, rows: GrowingTorque, new: Block) -> None:
        """Take over the rows of another run.

        Raises:
          DataError: They are of another model.
        """
        known, self._remembered = self._remembered, None
        if known is None:
            return
        try:
            self._blocks.recall(known.restored(new.grams))
        except DataError:
            self._rows = None
            raise
        if len(self._blocks) >= FEWEST:
            self._latest = self._estimate(problem, rows, ended=True)

    @property
    def memory(self) -> TorqueMemory | None:
        """All that is known, in one piece that outlives the process; ``None`` before it begins."""
        if self._remembered is not None or self._rows is None or not len(self._blocks):
            return self._remembered
        blocks = self._blocks.at(self._rows.regular.done)
        names, filters = self._params.scalar_names(), self._rows.regular.filters
        return TorqueMemory.of(names, filters, self._rows.resting.joints, blocks)

    def recall(self, memory: TorqueMemory) -> None:
        """Go on from what another run knew; call it before the first update.

        Raises:
          DataError: It is of other parameters.
        """
        refuse_others(memory.names, self._params.scalar_names())
        self._remembered = memory

    def _taken(self, problem: TorqueProblem, rows: GrowingTorque, new: Block) -> tuple[str, ...]:
        """Take over new rows, or set them apart and say why."""
        if rows.joints_begun(problem):
            for each in self._apart:  # what was not explained is that they began to move
                self._blocks.add(each)
        if self._latest is None or self._explains(rows, new, self._latest):
            self._apart.clear()
            self._blocks.add(new)
            return ()
        self._apart = [*self._apart, new][-KEPT:]
        return self._judge(problem, rows, self._latest)

    def _look_ahead(self, rows: GrowingTorque, recording: Recording, *, ended: bool) -> bool:
        """Make provisional rows up to the end, and return whether there are new ones."""
        ahead, done = rows.provisional, rows.regular.done
        rows.latest = [each for each in rows.latest if 0.5 * (each.begin + each.time) > done]
        if ahead is None or ended or self._latest is None or self._apart or math.isnan(done):
            rows.latest.clear()
            return False
        ahead.done = done if math.isnan(ahead.done) else max(done, ahead.done)
        new = ahead.new(recording)
        if new is None:
            return False
        new = rows.weighted(new, self._latest)
        # What is not explained waits for the rows of the fit, which tell why.
        rows.latest = [*rows.latest, new] if self._explains(rows, new, self._latest) else []
        return bool(rows.latest)

    def _explains(self, rows: GrowingTorque, new: Block, latest: TorqueEstimate) -> bool:
        """Return whether an estimate explains rows as well as those before."""
        begun_anew = self._changed is not None and len(self._blocks) < FEWEST
        if begun_anew or new.begin < rows.strange:
            return True  # there is nothing yet to compare with
        # A push that was taken for a load must not pass for noise from then on.
        weights = np.where(latest.weights > 0.0, np.maximum(latest.weights, self._usual), 0.0)
        squares = new.grams.squares(rows.theta(latest), latest.gains).sum(axis=0) * weights
        count = int(new.grams.counts[:, latest.weights > 0.0].sum())
        return float(squares.sum()) <= EXCESS**2 * max(count, 1)

    def _judge(
        self, problem: TorqueProblem, rows: GrowingTorque, latest: TorqueEstimate
    ) -> tuple[str, ...]:
        """Find out what the rows that were set apart are due to."""
        telling = self._apart[AT_EDGE:]
        if len(telling) < TELLING:
            return ("torque differs from what is expected; a moment tells why",)
        theta, grams = rows.theta(latest), joined(telling)
        (matrix,) = rows.free(problem, self._params).matrix.values()
        share = explained_share(grams, matrix, theta, latest.weights)
        if share >= SAME_CAUSE:
            self._changed = telling[0].begin
            self._usual = np.maximum(latest.weights, self._usual)
            self._blocks.clear()
            for block in telling:
                self._blocks.add(block)
            self._apart.clear()
            return ()
        squares = grams.squares(theta, latest.gains).sum(axis=0) * latest.weights
        loud = int(grams.dofs[np.argmax(squares)])
        joint = problem.declared.model.joint(int(problem.declared.model.dof_jntid[loud])).name
        return (
            f"no values of the parameters explain {1.0 - share:.0%} of the torque that differs "
            f"from what is expected, most of it at {joint}: a contact or a push",
        )

    def _estimate(
        self, problem: TorqueProblem, rows: GrowingTorque, *, ended: bool
    ) -> TorqueEstimate:
        settings = regression_settings(problem.declared, self._settings)
        (robot,) = problem.declared.robots
        blocks = self._blocks.at(rows.regular.done)
        for one in rows.latest:
            blocks[-1] = blocks[-1].plus(one)
        known = len(blocks) > SETTLED and not ended and rows.regular.done > rows.strange
        return estimate_from(
            problem.declared,
            {robot: joined(blocks)},
            settings,
            rows.resting.joints,
            rows.merged,
            self._latest if known else None,
        )

    def _answer(
        self,
        problem: TorqueProblem,
        rows: GrowingTorque,
        found: TorqueEstimate,
        unexplained: tuple[str, ...],
    ) -> HorizonEstimate:
        return HorizonEstimate(
            time=max([rows.regular.done, *(each.time for each in rows.latest)]),
            parameters=found.parameters,
            covariance=found.covariance,
            scales=self._params.bounds.scale_at(found.values),
            settled=len(self._blocks) > SETTLED,
            undetermined=(),
            unexplained=unexplained,
            windows=len(self._blocks),
            noise={name: float(found.spread[dof]) for dof, name in problem.sources.known.items()},
            simulated=0,
            thinned=self._thinned,
            bodies=found.bodies,
            spreads=found.spreads,
            changed=self._changed,
        )
