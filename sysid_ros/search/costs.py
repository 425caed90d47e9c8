# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Costs of many candidates at once, in batched rollouts."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.closing import Closing
from sysid_ros.engine.estimation import FitSettings, SignalNoise
from sysid_ros.engine.least_squares import loss_named
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import Candidate, RolloutPool, simulation_of
from sysid_ros.engine.uncertainty import first_noise
from sysid_ros.engine.windows import WindowBatch, model_group
from sysid_ros.errors import ExperimentError, ModelError, unknown_name

_MAX_BYTES = 256 << 20  # of sensor data and states that are kept at once


class CandidateCosts(Closing):
    """The cost of parameter values, with windows that start where they were measured to.

    A search has no use for estimated starts: they would have to be found anew for every candidate.

    Args:
      models_sequences: Models with their sequences.
      params: The parameters.
      settings: Windows, loss and threads.
      known: Noise levels and gaps.
      groups: Patterns of signal names; there is one cost for each, over the signals that it
        matches. Empty: one cost, over all signals.
      should_stop: Asked between native calls.

    Raises:
      ExperimentError: A pattern matches no signal.
    """

    def __init__(
        self,
        models_sequences: Sequence[ModelSequences],
        params: ParameterDict,
        settings: FitSettings,
        known: SignalNoise,
        groups: Sequence[str] = (),
        *,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self._rollouts = RolloutPool(settings.threads, should_stop=should_stop)
        models = [
            model_group(
                sequences,
                params,
                window_length=settings.window_length,
                estimate_starts=False,
                velocity_filter=settings.velocity_filter,
            )
            for sequences in models_sequences
        ]
        self._problem = WindowedProblem(
            models,
            params,
            self._rollouts,
            loss=loss_named(settings.loss),
            noise=first_noise(models, known.levels),
            engine="reference",
        )
        self._groups = _resolved(groups, tuple(self._problem.noise))

    def close(self) -> None:
        """End the simulations' threads."""
        self._rollouts.close()

    def __call__(self, thetas: FloatArray) -> FloatArray:
        """Costs of parameter values, (n, p).

        Returns:
          Shape (n, number of costs); infinite where the model does not compile or diverges.

        Raises:
          StopRequestedError: ``should_stop`` asked for it.
        """
        one = sum(
            8 * w.window.steps * (w.model.nsensordata + w.model.nq + w.model.nv + w.model.na + 1)
            for w in self._problem.windows
        )
        size = max(1, _MAX_BYTES // max(1, one))
        blocks = [self._block(thetas[i : i + size]) for i in range(0, len(thetas), size)]
        return np.concatenate(blocks) if blocks else np.zeros((0, len(self._groups)))

    def _block(self, thetas: FloatArray) -> FloatArray:
        """Costs of as many candidates as are simulated together."""
        runs: list[tuple[int, WindowBatch, Candidate]] = []
        costs = np.full((len(thetas), len(self._groups)), np.inf)
        for i, theta in enumerate(thetas):
            try:
                built = [group.builder.build(theta) for group in self._problem.groups]
            except ModelError:
                continue
            costs[i] = self._prior_cost(theta)
            for group, candidate in zip(self._problem.groups, built, strict=True):
                runs += [(i, batch, candidate) for batch in group.batches]
        jobs = [simulation_of(batch, candidate, batch.spread) for _, batch, candidate in runs]
        for (i, batch, candidate), done in zip(runs, self._rollouts.run_batches(jobs), strict=True):
            costs[i] += self._batch_costs(batch, batch.residual(candidate, done.sensordata))
        return costs

    def _batch_costs(self, batch: WindowBatch, residual: FloatArray) -> FloatArray:
        """The share of some windows in each cost."""
        scaled = residual / batch.sigma(self._problem.noise)
        loss = self._problem.loss
        return np.array([loss.cost(scaled[batch.samples_of(group)]) for group in self._groups])

    def _prior_cost(self, theta: FloatArray) -> float:
        return 0.5 * float(np.sum(self._problem.prior_rows(theta)[:, -1] ** 2))


def _resolved(groups: Sequence[str], signals: Sequence[str]) -> list[frozenset[str]]:
    """The signals of each group."""
    if not groups:
        return [frozenset(signals)]
    found = [frozenset(fnmatch.filter(signals, pattern)) for pattern in groups]
    for pattern, matches in zip(groups, found, strict=True):
        if not matches:
            raise ExperimentError(unknown_name("signal", pattern, signals, where="search.costs"))
    return found
