# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model that is wrong all the time: what torque differs by from the beginning is in its noise.

No block of time differs then from those before. That the residuals of all of them ask for another
mass is tested whenever there is a new block (:mod:`..inverse_dynamics.wrong_masses`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sysid_ros.engine.inverse_dynamics import Suspects, are_factors, clauses_of, wrong_masses
from sysid_ros.engine.measured_torque import TorqueEstimate, TorqueProblem
from sysid_ros.engine.moving_horizon.growing_torque import GrowingTorque
from sysid_ros.engine.moving_horizon.torque_blocks import LENGTH, Block, joined
from sysid_ros.engine.parameters import ParameterDict


class ModelDoubt:
    """Sentences on what of a model torque contradicts, as two tests in a row say it.

    Attributes:
      said: Sentences.
    """

    def __init__(self) -> None:
        self.said: tuple[str, ...] = ()
        self._latest: frozenset[str] = frozenset()
        self._due = -math.inf

    def begin_anew(self) -> None:
        """Await another time axis."""
        self._due = -math.inf

    def consider(
        self,
        problem: TorqueProblem,
        params: ParameterDict,
        rows: GrowingTorque,
        blocks: Sequence[Block],
        estimate: TorqueEstimate,
    ) -> None:
        """Test whether there is a new block; not where torque has gains that are estimated."""
        if rows.regular.done < self._due or problem.declared.gains:
            return
        self._due = rows.regular.done + LENGTH
        free, merged = rows.free(problem, params), rows.merged
        suspects = Suspects.of(free) if merged is None else merged.suspects
        (condition,) = free.conditions
        model, x = problem.declared.model, estimate.regression.x
        found = wrong_masses(model, {condition: joined(blocks)}, free, suspects, x)
        # Which of several joints' factors are surely off changes from one test to the next.
        joints = {""} if are_factors(found) else {one.body or one.joint for one in found}
        if joints == self._latest:
            self.said = tuple(f"the model is wrong: {clause}" for clause in clauses_of(found))
        self._latest = frozenset(joints)
