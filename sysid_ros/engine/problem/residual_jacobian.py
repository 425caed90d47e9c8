# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact Jacobians for residual functions of the library: whole recordings, fixed starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives import KnownPoint, Sensitivities
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem.parameter_priors import ParameterPriors
from sysid_ros.engine.simulation import (
    ModelGroup,
    RecordedBatch,
    RecordedRun,
    RolloutPool,
    joined_rollouts,
    recorded_batches,
)

SMALLEST_SCALE = 1e-3  # of a parameter, for differences of compiled models


class ResidualJacobian:
    """Derivative of one residual function, kept honest by the checks of the pass.

    Once it has met something that it does not know, it says so for good.

    Args:
      pool: Where simulations run.
      of_part: The derivative of a part of the recordings, which found things out, if any.
    """

    def __init__(self, pool: RolloutPool, of_part: ResidualJacobian | None = None) -> None:
        self._pool = pool
        self._of_part = of_part
        self._gave_up = False
        self._groups: list[Sensitivities] = []
        self._batches: list[tuple[RecordedBatch, ...]] = []
        self._known: tuple[list[str], list[float]] | None = None  # the parameters' names and bounds

    def __call__(
        self,
        x: FloatArray,
        params: ParameterDict,
        groups: Sequence[ModelGroup[RecordedRun]],
        known: Sequence[KnownPoint],
    ) -> FloatArray | None:
        """The Jacobian of the concatenated residuals, (m, p); ``None`` where it is not known.

        Args:
          x: Values of the free parameters, (p,).
          params: The parameters.
          groups: The recordings, and how candidates are made.
          known: The candidate at ``x`` and its simulations, of every group.
        """
        linear = all(run.is_linear for group in groups for run in group.batches)
        self._gave_up |= not linear
        if self._gave_up:
            return None
        unchecked = self._prepare(x, params, groups)
        blocks = []
        for exact, group, own, point in zip(
            self._groups, groups, self._batches, known, strict=True
        ):
            starts = np.zeros((len(group.batches), 0))  # a start's deviation is a parameter
            if exact.gave_up:
                break
            together = point[0], list(joined_rollouts(own, point[1]))
            found = list(exact.derivatives(x, starts, together))
            blocks += [each.jacobian for each in found]
            if unchecked and not exact.gave_up:
                exact.check(x, starts, found)
        self._gave_up = any(exact.gave_up for exact in self._groups)
        if self._gave_up:
            return None
        prior = ParameterPriors(params, hold=False).given_rows(x)[:, :-1]
        # A copy of a long recording's takes as long as the steps of an optimizer.
        return blocks[0] if len(blocks) == 1 and not len(prior) else np.vstack([*blocks, prior])

    def _prepare(
        self, x: FloatArray, params: ParameterDict, groups: Sequence[ModelGroup[RecordedRun]]
    ) -> bool:
        """Go on with the groups; return whether they are about other parameters than before."""
        scale, upper = np.maximum(SMALLEST_SCALE, np.abs(x)), params.get_bounds()[1]
        known, self._known = self._known, (params.scalar_names(), upper.tolist())
        if known != self._known:
            self._batches = [recorded_batches(group.batches, len(x)) for group in groups]
            self._groups = [
                Sensitivities(ModelGroup(group.builder, own), self._pool, upper, scale)
                for group, own in zip(groups, self._batches, strict=True)
            ]
            part = self._of_part
            if part is None or part._gave_up or part._known != self._known:
                return True
            for exact, other in zip(self._groups, part._groups, strict=True):
                exact.learn_from(other)
            return False
        for exact, group, own in zip(self._groups, groups, self._batches, strict=True):
            exact.renew(ModelGroup(group.builder, own), scale)
        return False
