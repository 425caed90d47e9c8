# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives and compiled rollouts of windows, where numba is there to compute them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.simulation import BatchRollout, BatchSimulation, RolloutPool
from sysid_ros.engine.windows import WindowGroup

if TYPE_CHECKING:
    from sysid_ros.engine.derivatives import Sensitivities


def exact_derivatives(
    groups: Sequence[WindowGroup],
    rollouts: RolloutPool,
    upper: FloatArray,
    scale: FloatArray,
    learned: Sequence[Sensitivities | None],
) -> list[Sensitivities | None]:
    """The derivatives of groups; none where numba is not there.

    Args:
      groups: Windows of one model each.
      rollouts: Where simulations run.
      upper: Upper bounds of the parameters, (p,).
      scale: Their magnitudes, (p,).
      learned: Those of the first groups' models on other windows.
    """
    if not groups:
        return []
    try:  # numba takes half a second to load, and does not run everywhere
        from sysid_ros.engine.derivatives import Sensitivities
    except ImportError:
        return []
    made = [Sensitivities(group, rollouts, upper, scale) for group in groups]
    for exact, known in zip(made, learned, strict=False):
        if known is not None:
            exact.learn_from(known)
    return list(made)


class Simulator:
    """Simulates batches of windows by the pass's own equation where MuJoCo agrees with it.

    Args:
      exact: What makes the derivatives of each group; ``None`` for finite differences.
      rollouts: Where simulations run.
    """

    def __init__(self, exact: Sequence[Sensitivities | None], rollouts: RolloutPool) -> None:
        self._exact, self._rollouts = exact, rollouts

    @property
    def used(self) -> str:
        """``compiled`` where all groups' latest rollouts are the pass's own, else ``mujoco``."""
        own = [each is not None and not each.gave_up and each.runs.used for each in self._exact]
        return "compiled" if own and all(own) else "mujoco"

    def run_group(self, group: int, jobs: Sequence[BatchSimulation]) -> list[BatchRollout]:
        """Simulate batches of the group of that number.

        Raises:
          StopRequestedError: As :meth:`RolloutPool.run`.
        """
        exact = self._exact[group]
        if exact is None or exact.gave_up:
            return self._rollouts.run_batches(jobs)
        return exact.runs.run_batches(jobs)

    def run_batches(
        self, jobs: Sequence[BatchSimulation], of_group: Sequence[int]
    ) -> list[BatchRollout]:
        """The same of batches of several groups, given the number of each."""
        found: dict[int, BatchRollout] = {}
        for group in sorted(set(of_group)):
            own = [k for k, number in enumerate(of_group) if number == group]
            found.update(zip(own, self.run_group(group, [jobs[k] for k in own]), strict=True))
        return [found[k] for k in range(len(jobs))]
