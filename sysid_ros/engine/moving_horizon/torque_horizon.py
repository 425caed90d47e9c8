# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters estimated from measured torque as a recording grows.

The rows are those of the fit by inverse dynamics, filtered alike and summed once when they are new.
They are linear in the parameters, so that nothing has to be computed anew: the estimate is that of
the fit from the sums that count. The latest moments count by rows of shorter filters. Rows that
the estimate does not explain are set apart. If another load explains them, it was taken up or put
down, and is weighed by rows from then on, unless what was known before explains rows again;
otherwise they are due to a force from outside, and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import Recording
from sysid_ros.engine.measured_torque import (
    TorqueEstimate,
    TorqueProblem,
    estimate_from,
    later_recording,
    regression_settings,
    torque_problem,
)
from sysid_ros.engine.moving_horizon.growing_rows import FEWEST_SAMPLES
from sysid_ros.engine.moving_horizon.growing_torque import (
    FEWEST,
    GrowingTorque,
    chosen_rows,
    filtered_rows,
)
from sysid_ros.engine.moving_horizon.held_force import EITHER, Cause
from sysid_ros.engine.moving_horizon.horizon_memory import refuse_others
from sysid_ros.engine.moving_horizon.horizon_settings import HorizonEstimate, HorizonSettings
from sysid_ros.engine.moving_horizon.load_change import Before, LoadChange
from sysid_ros.engine.moving_horizon.model_misfit import ModelDoubt
from sysid_ros.engine.moving_horizon.resting_joints import at_rest
from sysid_ros.engine.moving_horizon.signal_trace import SignalTrace, TorqueTraces
from sysid_ros.engine.moving_horizon.torque_blocks import LENGTH, Block, TorqueBlocks, joined
from sysid_ros.engine.moving_horizon.torque_memory import OTHER_MODEL, TorqueMemory
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import single_blas_thread
from sysid_ros.errors import DataError

BEFORE = 0.2  # s before the first sample in a row that is still to come, for delays
LISTENED = 2.0  # s of motion from which filters are chosen
SETTLED = 6  # blocks after which little changes from one estimate to the next
# Rows by update that are not explained: left out at the beginning, where a filter has seen both
# loads; needed to tell what they are; kept.
AT_EDGE, TELLING, KEPT = 2, 3, 8
NO_LOAD = "torque differed from what is expected as by no load that stays: a contact or a push"


class TorqueHorizon:
    """The estimate of one recording's parameters from measured torque."""

    def __init__(
        self, params: ParameterDict, settings: FitSettings, horizon: HorizonSettings
    ) -> None:
        self._params = params
        self._settings = settings.torque
        self._blocks = TorqueBlocks(horizon.forgetting)
        self._problem: TorqueProblem | None = None
        self._rows: GrowingTorque | None = None
        self._latest: TorqueEstimate | None = None
        self._changed: float | None = None
        self._before: Before | None = None  # the load changed
        self._either = False  # the load changed, or a force presses
        self._returning: list[Block] = []  # rows that what was known before explains
        self._thinned = 0.0
        self._apart: list[Block] = []  # rows that are not explained
        self._remembered: TorqueMemory | None = None  # until rows tell that it fits the model
        self._traces = TorqueTraces() if horizon.traced else None
        self._doubt = ModelDoubt()

    @property
    def needed_from(self) -> float:
        """The first instant whose samples an update still needs, s; NaN before the first."""
        return math.nan if self._rows is None else self._rows.regular.needed_from - BEFORE

    def begin_anew(self) -> None:
        """Keep what is known, and await a recording on another time axis."""
        if self._before is not None and self._is_unknown:
            self._return_to(self._before)
        self._blocks.begin_anew()
        self._changed, self._before, self._either = None, None, False
        self._returning.clear()
        self._apart.clear()
        self._doubt.begin_anew()
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
        *,
        ended: bool = False,
    ) -> HorizonEstimate | None:
        """Account for what the recording has gained since the last call.

        Args:
          sequences: The recording, as the only sequence of its model.
          until: The instant up to which all signals have arrived, s.
          ended: Whether nothing follows; rows end half a filter before the data does.

        Returns:
          The estimate; ``None`` while there are fewer than three seconds.

        Raises:
          SysidError: Torque or positions are missing, nothing moves, or a parameter cannot be
            estimated in this way.
        """
        with single_blas_thread():
            if self._problem is None:
                self._problem = torque_problem([sequences], self._params)
            recording = later_recording(self._problem, sequences)
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
            if len(self._blocks) >= FEWEST and not said and not self._is_unknown:
                self._latest = self._estimate(self._problem, rows, ended=ended)
            elif self._latest is None:
                return None
            elif self._is_unknown and not said:
                said = (f"the load has changed at {self._changed:.1f} s; it is not known yet",)
            said = (*said, EITHER) if self._either else said
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
            still = list(known.still)
            return filtered_rows(problem, self._settings, recording, known.filters, still)
        if recording.times[-1] - recording.times[0] < LISTENED:
            return None
        return chosen_rows(problem, self._settings, recording)

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
        if self._latest is None:
            self._blocks.add(new)
            return ()
        unknown = self._is_unknown
        if self._as_before(rows, new):
            return (NO_LOAD,) if unknown else ()
        if self._is_unknown or rows.explains(new, self._latest):
            self._apart.clear()
            if at_rest(problem.regressor.model, rows.regular.latest):
                return ()  # friction may be anything: such rows would tell of nothing else
            self._blocks.add(new)
            return self._confirmed(problem, rows)
        self._apart = [*self._apart, new][-KEPT:]
        return self._judge(problem, rows, self._latest)

    @property
    def _is_unknown(self) -> bool:
        """True while the load has changed and too little was seen of it since."""
        return self._before is not None and self._latest is self._before.latest

    @property
    def _since(self) -> list[Block]:
        """The blocks since the load changed, or all."""
        return self._blocks.since(-math.inf if self._changed is None else self._changed)

    def _as_before(self, rows: GrowingTorque, new: Block) -> bool:
        """Return to what was known before the load changed where that explains rows again."""
        before = self._before
        strange = self._latest is not None and not rows.explains(new, self._latest)
        wanted = before is not None and (strange or self._is_unknown)
        if before is None or not wanted or not rows.explains(new, before.latest):
            self._returning.clear()
            return False
        self._returning.append(new)
        if len(self._returning) < TELLING:
            return False
        changed = before.changed if self._is_unknown else self._returning[0].begin
        self._return_to(before)
        self._changed = changed
        for each in self._returning:
            self._blocks.add(each)
        self._returning.clear()
        return True

    def _return_to(self, before: Before) -> None:
        """Take what was due to another load for a push."""
        self._blocks.recall(before.blocks)
        self._latest, self._changed, self._before = before.latest, before.changed, None
        self._either = False
        self._apart.clear()

    def _confirmed(self, problem: TorqueProblem, rows: GrowingTorque) -> tuple[str, ...]:
        """Go back where what was taken for another load turns out to be none."""
        before, since = self._before, self._since
        if before is None or not (self._is_unknown or self._either):
            return ()
        change = LoadChange.of(problem, rows, self._params, before.latest)
        cause = change.cause(since) if self._either else Cause.LOAD
        self._either = cause is Cause.EITHER
        if cause is not Cause.FORCE and not (self._is_unknown and len(since) >= FEWEST):
            return ()
        found = None if cause is Cause.FORCE else change.explained(since)
        if found is not None:
            self._latest = replace(before.latest, regression=found)
            return ()
        self._return_to(before)
        return (NO_LOAD,)

    def _look_ahead(self, rows: GrowingTorque, recording: Recording, *, ended: bool) -> bool:
        """Make provisional rows up to the end, and return whether there are new ones."""
        ahead, done = rows.provisional, rows.regular.done
        rows.latest = [each for each in rows.latest if 0.5 * (each.begin + each.time) > done]
        wanted = not (ended or self._apart or self._is_unknown or math.isnan(done))
        if ahead is None or self._latest is None or not wanted:
            rows.latest.clear()
            return False
        ahead.done = done if math.isnan(ahead.done) else max(done, ahead.done)
        new = ahead.new(recording)
        if new is None or at_rest(rows.resting.model, ahead.latest):
            return False
        new = rows.weighted(new, self._latest)
        # What is not explained waits for the rows of the fit, which tell why.
        rows.latest = [*rows.latest, new] if rows.explains(new, self._latest) else []
        return bool(rows.latest)

    def _judge(
        self, problem: TorqueProblem, rows: GrowingTorque, latest: TorqueEstimate
    ) -> tuple[str, ...]:
        """Find out what the rows that were set apart are due to."""
        if len(self._apart) < AT_EDGE + TELLING or self._returning:
            return ("torque differs from what is expected; a moment tells why",)
        telling = self._apart[-TELLING:]
        change = LoadChange.of(problem, rows, self._params, latest)
        cause = change.cause(self._apart[AT_EDGE:])
        if cause is Cause.FORCE:
            return (change.contact(telling),)
        found = change.explained(telling, self._since)
        if found is not None:  # little was seen of this load so far
            self._latest = replace(latest, regression=found)
            self._add_told(telling)
            return ()
        if change.explained(telling) is not None:
            self._before = Before(self._blocks.at(telling[0].begin), latest, self._changed)
            self._changed, self._either = telling[0].begin, cause is Cause.EITHER
            self._blocks.recall(change.without_load(self._before.blocks))
            self._add_told(telling)
            return ()
        return (change.contact(telling),)

    def _add_told(self, telling: Sequence[Block]) -> None:
        """Let rows count that another load explains."""
        for block in telling:
            self._blocks.add(block)
        self._apart.clear()

    def _estimate(
        self, problem: TorqueProblem, rows: GrowingTorque, *, ended: bool
    ) -> TorqueEstimate:
        settings = regression_settings(problem.declared, self._settings)
        (robot,) = problem.declared.robots
        blocks = self._blocks.at(rows.regular.done)
        for one in rows.latest:
            blocks[-1] = blocks[-1].plus(one)
        known = len(blocks) > SETTLED and not ended and rows.regular.done > rows.strange
        found = estimate_from(
            problem.declared,
            {robot: joined(blocks)},
            settings,
            rows.resting.joints,
            rows.merged,
            self._start() if known else None,
        )
        if rows.regular.done > rows.strange:
            self._doubt.consider(problem, self._params, rows, blocks, found)
        return found

    def _start(self) -> TorqueEstimate | None:
        """The latest estimate, from which the next one is made."""
        latest, before = self._latest, self._before
        if latest is None or before is None or len(self._since) > SETTLED:
            return latest
        # Few blocks tell of the new load: to leave out one would move it far, tied or not.
        usual = before.latest.regression.inflation
        return replace(latest, regression=replace(latest.regression, inflation=usual))

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
            wrong=self._doubt.said,
            windows=len(self._blocks),
            noise={name: float(found.spread[dof]) for dof, name in problem.sources.known.items()},
            simulated=0,
            thinned=self._thinned,
            bodies=found.bodies,
            spreads=found.spreads,
            changed=self._changed,
        )
