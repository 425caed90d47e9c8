# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Another load, told from a push by torque that differs from what is expected.

A load is one rigid body, physically consistent, under gravity: three forces and moments of six
while an arm hardly moves. Friction, armature and offsets stay what they were when it changes, so
that a push, which all parameters together would explain within tenths of a second, is told from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.engine.elements import INERTIAL
from sysid_ros.engine.inverse_dynamics import PAYLOAD, Estimate, FreeParameters, bodies_alone
from sysid_ros.engine.measured_torque import TorqueEstimate, TorqueProblem
from sysid_ros.engine.moving_horizon.growing_torque import EXCESS, GrowingTorque
from sysid_ros.engine.moving_horizon.held_force import Cause, cause_of
from sysid_ros.engine.moving_horizon.torque_blocks import (
    Block,
    explained_share,
    joined,
    without_columns,
)
from sysid_ros.engine.parameters import ParameterDict

_SAME_CAUSE = 0.8  # share that other values explain, where no body's inertia is estimated
_LEFT = 0.03  # share that a load may leave unexplained: friction depends on it a little


@dataclass(frozen=True)
class Before:
    """The rows and the estimate before a load was taken up or put down."""

    blocks: list[Block]  # the rows that counted
    latest: TorqueEstimate  # the estimate
    changed: float | None  # when the load had changed before, s; ``None`` for never


@dataclass(frozen=True)
class LoadChange:
    """Rows that are judged, and what they are compared with."""

    problem: TorqueProblem  # the robot
    rows: GrowingTorque  # where rows come from
    free: FreeParameters  # the parameters to estimate
    latest: TorqueEstimate  # their estimate

    @classmethod
    def of(
        cls,
        problem: TorqueProblem,
        rows: GrowingTorque,
        params: ParameterDict,
        latest: TorqueEstimate,
    ) -> LoadChange:
        """Compare with an estimate."""
        return cls(problem, rows, rows.free(problem, params), latest)

    @property
    def bodies(self) -> list[int]:
        """The payload, or where none is declared all bodies whose inertia is estimated."""
        own = [body for _, body in self.free.bodies()]
        model = self.problem.declared.model
        return [body for body in own if model.body(body).name == PAYLOAD] or own

    def explained(self, told: Sequence[Block], known: Sequence[Block] = ()) -> Estimate | None:
        """A start for the estimate with the load that explains rows; ``None`` where none does.

        Args:
          told: The rows.
          known: Others that the same load has to explain as well as it can.
        """
        latest, grams, before = self.latest, joined(told), self.latest.regression
        ((condition, matrix),) = self.free.matrix.items()
        if not self.bodies:
            share = explained_share(grams, matrix, self.rows.theta(latest), latest.weights)
            return None if known or share < _SAME_CAUSE else before
        summed = {condition: joined([*known, *told])}
        x = bodies_alone(self.free, summed, latest.weights, before, self.bodies)
        left, total = (
            float((grams.squares(theta, latest.gains).sum(axis=0) * latest.weights).sum())
            for theta in (self.free.theta(x, condition), self.rows.theta(latest))
        )
        count = int(grams.counts[:, latest.weights > 0.0].sum())
        if left > max(EXCESS**2 * max(count, 1), _LEFT * total):
            return None
        whole = np.append(x, before.solution.x[len(x) :])
        return replace(before, x=x, solution=replace(before.solution, x=whole), judged=False)

    def cause(self, told: Sequence[Block]) -> Cause:
        """Tell whether a load explains rows better than a force that has only its weight."""
        return cause_of(self.rows, self.free, self.latest, told)

    def contact(self, told: Sequence[Block]) -> str:
        """One sentence on rows that no load explains."""
        grams, latest, model = joined(told), self.latest, self.problem.declared.model
        squares = grams.squares(self.rows.theta(latest), latest.gains).sum(axis=0) * latest.weights
        loud = int(grams.dofs[np.argmax(squares)])
        joint = model.joint(int(model.dof_jntid[loud])).name
        return (
            "no load explains the torque that differs from what is expected, most of it at "
            f"{joint}: a contact or a push"
        )

    def without_load(self, blocks: Sequence[Block]) -> list[Block]:
        """Return what rows tell of everything but the load."""
        if not self.bodies or len(self.free.names) <= len(INERTIAL) * len(self.bodies):
            return []  # which is nothing
        columns = np.concatenate([self.free.columns.of_body(body) for body in self.bodies])
        return without_columns(blocks, columns)
