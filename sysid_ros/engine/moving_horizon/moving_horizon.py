# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters estimated from a recording as it grows, by simulating its latest windows.

The objective is that of the windowed fit. Only the windows of a horizon are simulated; what lies
before is a quadratic function (:mod:`.arrival_cost`). A window is simulated when it is new, and all
are when the estimate has moved so far that their Gauss-Newton models no longer hold (as iSAM2 does;
Kaess et al. 2012). The window that grows counts too: an estimate contains the latest sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.least_squares import Point, SolverSettings
from sysid_ros.engine.moving_horizon.arrival_cost import ArrivalCost, Share, gram_of
from sysid_ros.engine.moving_horizon.growing_windows import Cut, GrowingWindows
from sysid_ros.engine.moving_horizon.held_estimate import HeldEstimate
from sysid_ros.engine.moving_horizon.horizon_memory import Memory, refuse_others
from sysid_ros.engine.moving_horizon.horizon_search import HorizonProblem, HorizonSearch
from sysid_ros.engine.moving_horizon.horizon_settings import HorizonEstimate, HorizonSettings
from sysid_ros.engine.moving_horizon.information import (
    KeptSpread,
    apart,
    noise_levels,
    optimum,
    pull,
    settled_covariance,
    unexplained,
)
from sysid_ros.engine.moving_horizon.signal_trace import SignalTrace, simulated_traces
from sysid_ros.engine.moving_horizon.simulated_window import (
    SimulatedWindow,
    Simulator,
    shares_of_blocks,
)
from sysid_ros.engine.parameters import ParameterDict, minimum_change, priors
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.engine.uncertainty import (
    describe_open_directions,
    enough_clusters,
    estimates,
    is_known,
    wanted_blocks,
)

BEFORE = 2.0  # s before the first window that is still needed, for filters and delays
# Changes of a parameter, in magnitudes and in errors, after which windows are simulated anew, and
# from which on a search takes the place of a step.
NEAR = 0.02, 0.3
FAR = 0.2, 3.0
ROUNDS = 3  # in which windows are simulated anew, in one update
SEARCH = SolverSettings(max_iterations=20, cost_tolerance=1e-4)
# Where models did not hold, the longest steps fail, and twice as many windows will tell more.
AGAIN = replace(SEARCH, max_iterations=5, damping=0.1)
NOISE_MOVED = 0.01  # relative change of a noise level that counts
LEAST_NOISE = 1e-5  # of a signal's first level


class MovingHorizon:
    """The estimate of one recording's parameters by simulation."""

    def __init__(
        self,
        params: ParameterDict,
        settings: FitSettings,
        horizon: HorizonSettings,
        known: Mapping[str, float],
        *,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """Begin without data.

        Args:
          params: Start, bounds and priors.
          settings: Of the fit: windows, starts, engine, threads.
          horizon: How far to look back.
          known: Noise levels by sensor name, in the sensor's unit.
          should_stop: Asked between native calls; true ends an update with StopRequestedError.
        """
        self._settings = settings
        self._horizon = horizon
        self._known = dict(known)
        self._params, self._bounds = params, params.bounds
        self._theta = params.as_vector()
        self._anchor = params.as_nominal_vector()
        self._growing = GrowingWindows(params, settings)
        self._past = ArrivalCost(horizon.forgetting)
        self._windows: list[SimulatedWindow] = []
        self._noise: dict[str, float] = {}
        self._least: dict[str, float] = {}
        self._left = 0  # windows that left the horizon
        self._thinned = 0.0  # windows that were left out
        self._simulated = 0  # windows in this update
        self._errors = np.zeros_like(self._theta)  # standard errors by noise alone
        self._learned: list[Any] = []  # of derivatives, from one update to the next
        self._spread = KeptSpread()
        self._searches = 0
        self._search: HorizonSearch | None = None
        self._rollouts = RolloutPool(settings.threads, should_stop=should_stop)
        self._held = HeldEstimate()

    @property
    def needed_from(self) -> float:
        """The first instant whose samples an update still needs, s; NaN before the first."""
        return self._growing.done - BEFORE

    def begin_anew(self) -> None:
        """Keep what is known, and await a recording on another time axis."""
        if self._search is not None:  # models hold where it began, not where it would have led
            self._thinned, self._windows = self._thinned + len(self._windows), []
        self._leave_until(math.inf)
        self._search = None
        self._held.end()
        self._past.begin_anew()
        self._growing.begin_anew()

    def skip_to(self, time: float) -> None:
        """Leave out what lies before an instant, s, and count the windows that were lost."""
        if self._windows and time > self._growing.done:
            self._growing.end_at(self._windows[-1].end)  # or its samples would count twice
        self._thinned += self._growing.skip_to(time)

    def update(
        self,
        sequences: ModelSequences,
        until: float = math.inf,
        *,
        ended: bool = False,
    ) -> HorizonEstimate | None:
        """Account for what the recording has gained since the last call.

        Args:
          sequences: The recording, as the only sequence of its model; what lies well before
            :attr:`needed_from` may be left out.
          until: The instant up to which all signals have arrived, s.
          ended: Whether nothing follows.

        Returns:
          The estimate; ``None`` while there is not a whole window.

        Raises:
          DataError: A signal is not in the model.
          StopRequestedError: As asked for.
        """
        self._simulated = 0
        grown_from = self._growing.done
        new = self._growing.cut(sequences, until, ended=ended)
        builder = self._growing.builder(sequences)
        with single_blas_thread():
            simulator = Simulator(
                self._params, self._settings.engine, builder, self._rollouts,
                self._blocks(len(new)), self._learned,
            )  # fmt: skip
            self._take(new, grown_from, simulator)
            if not self._windows or self._windows[0].begin >= self._growing.done:
                return None
            self._move(simulator, ended=ended)
        found = self._estimate(ended=ended)
        if self._search is None:  # which is to simulate them anew where it ends
            self._leave_until(min(self._now - self._horizon.length, self._growing.done))
        return found

    def _take(self, new: Sequence[Cut], grown_from: float, simulator: Simulator) -> None:
        """Simulate new windows, one of them in the place of what it was when it was shorter."""
        before = {window.begin: window for window in self._windows}
        self._windows = [each for each in self._windows if not each.begin >= grown_from]
        if not new:
            return
        for name, level in simulator.first_noise(new, self._known).items():
            self._noise.setdefault(name, level)
            self._least.setdefault(name, LEAST_NOISE * level)
        theta = self._point_of_new()
        starts = [
            before[window.window.start].start_at(theta, self._noise)
            if window.window.start in before
            else np.zeros(window.n_start)
            for window, _ in new
        ]
        self._windows += simulator.simulated(new, Point(theta, tuple(starts)))
        self._simulated += len(new)

    def _point_of_new(self) -> FloatArray:
        """The point for new windows: that of those before as long as models hold there."""
        if self._held.at is not None:
            return self._bounds.inset(self._held.at)
        theta = self._bounds.inset(self._theta)
        latest = self._windows[-1].theta if self._windows else theta
        return theta if apart(self._bounds, latest, theta, self._errors, NEAR) else latest

    def _move(self, simulator: Simulator, *, ended: bool) -> None:
        """Go to the optimum; simulate windows anew where their models do not hold there."""
        count = self._left + len(self._windows)
        searched = self._search is not None
        if not self._goes_on(simulator, ended=ended) or (self._held.rests(count) and not ended):
            self._rest()
            return
        for _ in range(ROUNDS):
            self._held.end()
            self._update_noise()
            found, errors = self._optimum()
            self._errors = errors
            if not self._searches or apart(self._bounds, self._theta, found, errors, FAR):
                if searched and not ended:
                    break
                self._begin_search(simulator)
                searched = True
                if not self._goes_on(simulator, ended=ended):
                    break
                continue
            point = self._bounds.inset(found)
            stale = [
                k
                for k, w in enumerate(self._windows)
                if apart(self._bounds, w.theta, point, errors, NEAR)
            ]
            self._theta = found
            if not stale:
                return
            self._simulate_anew(stale, point, simulator)
        if self._held.at is None:
            self._held.begin(self._theta, count)
        self._rest()

    def _rest(self) -> None:
        """Go to the optimum of the models as they are."""
        self._update_noise()
        self._theta, _ = self._optimum()

    def _simulate_anew(
        self,
        chosen: Sequence[int],
        theta: FloatArray,
        simulator: Simulator,
        known: Mapping[float, FloatArray] | None = None,
    ) -> None:
        """Simulate some windows elsewhere, from starts that are known by their first instants."""
        old = [self._windows[k] for k in chosen]
        # Where a search has led, models of windows that are not among its do not hold.
        starts = [w.start_at(theta, self._noise) if known is None
                  else known.get(w.begin, np.zeros_like(w.start)) for w in old]  # fmt: skip
        found = simulator.simulated([(w.window, w.end) for w in old], Point(theta, tuple(starts)))
        for k, window in zip(chosen, found, strict=True):
            self._windows[k] = window
        self._simulated += len(found)

    def _begin_search(self, simulator: Simulator) -> None:
        """Look for the optimum of the horizon step by step, while the estimate rests."""
        self._held.wait(self._theta)
        theta = self._bounds.inset(self._theta)
        starts = tuple(window.start_at(theta, self._noise) for window in self._windows)
        cuts = [(w.window, w.end) for w in self._windows]
        own = HorizonProblem(simulator.problem(cuts, self._noise), self._before(theta), theta)
        first = self._bounds.inset(self._params.as_nominal_vector())
        points = [Point(theta, starts)]
        if apart(self._bounds, theta, first, self._errors, NEAR):
            points.append(Point(first, tuple(np.zeros_like(start) for start in starts)))
        how = AGAIN if self._searches else SEARCH
        self._search = HorizonSearch(own, points, how, self._windows)

    def _goes_on(self, simulator: Simulator, *, ended: bool) -> bool:
        """Go on with a search under way; return whether there is none any more."""
        if self._search is None:
            return True
        if (found := self._search.go_on(math.inf if ended else self._horizon.search_time)) is None:
            return False
        self._theta = found.point.theta
        self._searches += 1
        theta = self._bounds.inset(self._theta)
        known = self._search.starts(found)
        self._simulate_anew(range(len(self._windows)), theta, simulator, known)
        self._simulated += len(known) * (found.iterations + 1)
        self._search = None
        return True

    def _before(self, theta: FloatArray) -> FloatArray:
        """``[J r]^T [J r]`` of what lies before, and of the hold on what nothing determines."""
        mean, held = minimum_change(self._anchor, self._bounds.lower, self._bounds.upper)
        held[priors(self._params)[1] > 0.0] = 0.0
        return gram_of(self._past.at(self._now), theta) + pull(mean, held, theta)

    def _optimum(self) -> tuple[FloatArray, FloatArray]:
        """The optimum within the bounds, and its standard errors by noise alone, (p,) each."""
        theta = self._windows[-1].theta if self._held.at is None else self._held.at
        shares = [each.share(self._noise) for each in self._windows]
        gram = self._before(theta) + gram_of(shares, theta) + pull(*priors(self._params), theta)
        found = optimum(self._bounds, gram, theta)
        scale = self._bounds.scale_at(found)
        errors = np.sqrt(np.diag(np.linalg.pinv(gram[:-1, :-1] * np.outer(scale, scale)))) * scale
        return self._held.near(self._bounds, gram, found, errors), errors

    def _update_noise(self) -> None:
        """Take the levels that are not known beforehand from the residuals."""
        found = noise_levels(self._shares(), self._theta.size, self._least)
        for name, level in found.items():
            moved = abs(level / self._noise[name] - 1.0) > NOISE_MOVED
            if moved and not is_known(name, self._known):
                self._noise[name] = level

    @property
    def _now(self) -> float:
        """The instant of the latest sample, s."""
        return self._windows[-1].end

    def _shares(self) -> list[Share]:
        return [*self._past.at(self._now), *(window.share(self._noise) for window in self._windows)]

    def _enough(self) -> bool:
        """Return whether there are enough windows to see how they scatter."""
        by_window = self._settings.intervals == "clustered"
        return not by_window or enough_clusters(len(self._shares()), self._theta.size)

    def _blocks(self, new: int) -> int:
        """Return how many blocks of time each of some new windows is summed by."""
        if self._windows and self._enough():
            return 1
        return math.ceil(wanted_blocks(self._theta.size) / (len(self._windows) + max(new, 1)))

    def _clusters(self) -> list[Share]:
        """Shares that are independent; blocks of windows where these are few, as in the fit."""
        if self._enough():
            return self._shares()
        blocks = shares_of_blocks(self._windows, self._noise, wanted_blocks(self._theta.size))
        return [*self._past.at(self._now), *blocks]

    def _estimate(self, *, ended: bool) -> HorizonEstimate:
        theta = self._theta
        spread, settled = self._spread.at(
            self._now,
            self._searches,
            lambda: settled_covariance(
                self._params, theta, self._clusters(), self._shares(),
                self._settings.intervals, self._noise, enough=self._enough(),
            ),
            anew=ended,
        )  # fmt: skip
        found = self._held.widened(spread)
        recent = noise_levels(
            [w.share(self._noise) for w in self._windows], theta.size, self._least
        )
        known = {name: level for name, level in self._noise.items() if is_known(name, self._known)}
        names = tuple(self._params.scalar_names())
        if self._horizon.forgetting is not None:
            self._anchor = np.where(np.isfinite(found.errors), theta, self._anchor)
        return HorizonEstimate(
            time=self._now,
            parameters=estimates(self._params, theta, found),
            covariance=found.matrix,
            scales=self._bounds.scale_at(theta),
            settled=settled and self._held.at is None,
            undetermined=describe_open_directions(found, names, theta, self._bounds.width),
            unexplained=unexplained(recent, known) + self._held.sentences,
            windows=self._left + len(self._windows),
            noise=dict(self._noise),
            simulated=self._simulated,
            thinned=self._thinned,
            searching=self._search is not None,
        )

    def traces(self) -> tuple[SignalTrace, ...]:
        """The signals of the horizon as they were simulated last."""
        return simulated_traces(self._windows)

    @property
    def memory(self) -> Memory:
        """All that is known, in one piece that outlives the process."""
        shares = self._shares() if self._windows else self._past.at(0.0)
        return Memory.of(self._params.scalar_names(), shares, self._noise)

    def recall(self, memory: Memory) -> None:
        """Go on from what another run knew; call it before the first update.

        Raises:
          DataError: It is of other parameters.
        """
        refuse_others(memory.names, self._params.scalar_names())
        self._noise = dict(memory.noise)
        self._least = {name: LEAST_NOISE * level for name, level in self._noise.items()}
        for share in memory.known:
            self._theta, self._searches = share.theta, 1
            self._past.add(share)
        self._past.begin_anew()

    def _leave_until(self, time: float) -> None:
        """Hand windows that the horizon has left behind to the past."""
        while self._windows and self._windows[0].end <= time:
            self._past.add(self._windows.pop(0).share(self._noise))
            self._left += 1
