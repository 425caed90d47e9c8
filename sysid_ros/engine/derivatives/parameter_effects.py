# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Effects of parameters on the model, told by as few compiled models as can tell them.

At first all parameters move in two models, by other shares of their steps in the second: a number
of the tables that one parameter changes shows which by how much of its change is left. Parameters
that change the same number are moved one by one. What a parameter changes is then followed from
point to point as long as the tables go where the derivatives lead to.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.directions import ChangingTables, ModelChanges
from sysid_ros.engine.derivatives.followed_model import FollowedModel
from sysid_ros.engine.derivatives.model_changes import (
    KnownChanges,
    SharedMoves,
    merged,
    model_derivative,
)
from sysid_ros.engine.simulation import (
    Candidate,
    CandidateBuilder,
    Perturbation,
    inward,
    perturbed,
)

TABLE_STEP = 1e-6  # relative, for differences of compiled models, which are smooth
FEWEST = 3  # parameters that two models tell apart; of fewer each is moved alone
SURE = 2.5e-4  # of the mean distance of shares: what is as near to one is that one
# Of a parameter's scale: over such a way nothing but a straight line keeps to its derivative.
LONG = 1e-3

Part = tuple[Sequence[int], ModelChanges]


@dataclass(frozen=True)
class Effects:
    """The effects of the parameters at one point."""

    # all parameters, moved; those that change the model like others have no model of their own
    moved: tuple[Perturbation, ...]
    followed: tuple[int, ...]  # those that change the model in ways that the pass has tables for
    reading: tuple[int, ...]  # those that change only how sensors are read
    tables: ChangingTables  # the model's
    changes: ModelChanges  # of the tables, by the followed ones


class ParameterEffects:
    """The known effects of the parameters of one model.

    Attributes:
      unfollowed: By parameter, what it changes that the pass has no table for.
      touching: Whether geoms touch, other than as feet: then parameters change contacts, too.

    Args:
      upper: Upper bounds of the parameters, (p,).
    """

    def __init__(self, upper: FloatArray) -> None:
        self.unfollowed: dict[int, str] = {}
        self.touching = False
        self._upper = upper
        self._forget()

    def _forget(self) -> None:
        self._followed: set[int] = set()
        self._proved: set[int] = set()  # those whose effect is known to be a straight line
        self._shared = SharedMoves()
        self._known: KnownChanges | None = None

    def touch(self) -> None:
        """Know from now on that geoms touch."""
        self.touching = True
        self._forget()

    def learn_from(self, other: ParameterEffects) -> None:
        """Take over what was found out about the same model."""
        self.unfollowed.update(other.unfollowed)
        if other.touching and not self.touching:
            self.touch()
        if self.touching and not other.touching:
            return
        self._followed |= other._followed
        self._proved |= other._proved
        self._shared = other._shared
        self._known = other._known or self._known

    def at(
        self,
        builder: CandidateBuilder,
        base: Candidate,
        theta: FloatArray,
        scale: FloatArray,
        sensors: Collection[str],
    ) -> Effects:
        """The effects at a point, from which on they are followed.

        Args:
          builder: Makes candidates.
          base: The candidate at the point.
          theta: The point, (p,).
          scale: Magnitudes of the parameters, (p,).
          sensors: Those that starts are read from.
        """
        known = self._known
        before = None if known is None else known.base
        here = ChangingTables.of(base.model, before, self.touching)
        steps = list(map(inward, theta, TABLE_STEP * scale, self._upper))
        parts, taught = self._together(builder, base, here, theta, steps, scale)
        told = {j for own, _ in parts for j in own}
        alone = [j for j in range(theta.size) if j not in told]
        moved = self._moved_alone(builder, base, theta, steps, scale, alone)
        still = [j for j in alone if moved[j].candidate.model_key == base.model_key]
        key = base.rollout_key(sensors) if still else ()
        reading = [j for j in still if moved[j].candidate.rollout_key(sensors) == key]
        acting = {j: moved[j] for j in alone if j not in reading}
        self._find_followed(builder, base, theta, acting)
        followed = [j for j in acting if j in self._followed]
        if followed or not parts:
            models = [moved[j].candidate.model for j in followed]
            changes = model_derivative(here, models, [moved[j].step for j in followed])
            parts.append((followed, changes))
        parameters, changes = merged(parts)
        if not taught:
            self._shared.learn(builder, base, {j: moved[j] for j in parameters}, changes)
        self._known = KnownChanges(theta, here, parameters, changes)
        return Effects(tuple(moved), parameters, tuple(reading), here, changes)

    def _together(
        self,
        builder: CandidateBuilder,
        base: Candidate,
        here: ChangingTables,
        theta: FloatArray,
        steps: Sequence[float],
        scale: FloatArray,
    ) -> tuple[list[Part], bool]:
        """Effects that need no model for each, and whether any was known before."""
        lasting = self._lasting(builder, here, theta, scale)
        sharing = self._shared.without(lasting)
        shared = sharing.changes(builder, base, here, theta, steps)
        parts: list[Part] = []
        if self._known is None and shared is None:
            first = self._told_apart(builder, base, here, theta, steps)
            return ([] if first is None else [first]), False
        if shared is not None:
            parts.append((sharing.components, shared))
        if self._known is not None and lasting:
            parts.append((lasting, self._known.of(lasting)))
        return parts, bool(parts)

    def _moved_alone(
        self,
        builder: CandidateBuilder,
        base: Candidate,
        theta: FloatArray,
        steps: Sequence[float],
        scale: FloatArray,
        alone: Sequence[int],
    ) -> list[Perturbation]:
        """All parameters moved, some with a model of their own."""
        moved = [Perturbation(base, step) for step in steps]
        if alone:
            columns = perturbed(
                builder, theta, self._upper, scale,
                step=TABLE_STEP, base=base, components=alone,
            )  # fmt: skip
            for j, column in zip(alone, columns.moved, strict=True):
                moved[j] = column
        return moved

    def _lasting(
        self,
        builder: CandidateBuilder,
        here: ChangingTables,
        theta: FloatArray,
        scale: FloatArray,
    ) -> list[int]:
        """The parameters whose effect on the model is what it was, as one compiled model shows.

        A long way that went straight is proof enough for all that follow.
        """
        known = self._known
        lasting = [] if known is None else known.lasting(theta, here)
        self._proved.intersection_update(lasting)
        if known is None or len(lasting) < 2:
            return []
        if self._proved.issuperset(lasting):
            return lasting
        change = np.zeros(theta.size)
        # Each by another share of its scale, so that two of them hardly make up for each other.
        change[lasting] = TABLE_STEP * scale[lasting] * np.linspace(1.0, 2.0, len(lasting))
        change[theta + change > self._upper] *= -1.0
        if not known.hold(here, builder.build(theta + change).model, change):
            self._proved.clear()
            return []
        long = np.abs(theta - known.theta) >= LONG * scale
        self._proved.update(j for j in lasting if long[j])
        return lasting

    def _told_apart(
        self,
        builder: CandidateBuilder,
        base: Candidate,
        here: ChangingTables,
        theta: FloatArray,
        steps: Sequence[float],
    ) -> Part | None:
        """The effects of all scalars of the model, from two models; ``None`` where these cannot."""
        values = dict(enumerate(theta + steps))
        partly = builder.try_together(base, values)
        if partly is None:
            return None
        single = [j for j in partly.shares if builder.is_scalar(j)]
        if len(single) < FEWEST:
            return None
        whole = builder.together(base, {j: values[j] for j in single})
        if (
            whole is None
            or FollowedModel(base.model, self.touching).unfollowed_change(whole) is not None
            # What filters is an input of the simulation, for which models are compared.
            or not np.array_equal(whole.actuator_dynprm, base.model.actuator_dynprm)
        ):
            return None
        shares, own = [partly.shares[j] for j in single], [steps[j] for j in single]
        moved = here.of_moved(whole), here.of_moved(partly.model)
        changes = told_apart(here.tables, moved, np.array(shares), np.array(own))
        if changes is None:
            return None
        self._followed.update(single)
        return single, changes

    def _find_followed(
        self,
        builder: CandidateBuilder,
        base: Candidate,
        theta: FloatArray,
        moved: Mapping[int, Perturbation],
    ) -> None:
        """Find out once whether the pass has tables for all that each parameter changes."""
        table = FollowedModel(base.model, self.touching)
        new = {j: c for j, c in moved.items() if j not in self._followed | self.unfollowed.keys()}
        several = [j for j in new if builder.is_scalar(j) and builder.independent(j)]
        if len(several) > 1:  # one model often answers for all
            model = builder.together(base, {j: theta[j] + new[j].step for j in several})
            if model is not None and table.unfollowed_change(model) is None:
                self._followed.update(several)
                new = {j: c for j, c in new.items() if j not in self._followed}
        for j, column in new.items():
            changed = table.unfollowed_change(column.candidate.model)
            if changed is None:
                self._followed.add(j)
            else:
                self.unfollowed[j] = changed


def told_apart(
    tables: Sequence[FloatArray],
    moved: tuple[Sequence[FloatArray], Sequence[FloatArray]],
    shares: FloatArray,
    steps: FloatArray,
) -> ModelChanges | None:
    """Difference quotients of tables in which each number is changed by one parameter at most.

    Args:
      tables: Before the parameters moved.
      moved: After all of them did, and after each did by its own share of its step.
      shares: These, all different, (n,).
      steps: Of the parameters, (n,).

    Returns:
      ``None`` where a number changes by none of the shares.
    """
    near = SURE / len(shares)
    result = []
    for old, whole, partly in zip(tables, *moved, strict=True):
        places = np.nonzero(whole != old)
        change = whole[places] - old[places]
        distance = np.abs((partly[places] - old[places])[:, np.newaxis] / change[:, None] - shares)
        if not np.all(distance.min(axis=1, initial=np.inf) <= near):
            return None
        by = np.argmin(distance, axis=1)
        quotients = np.zeros((*old.shape, len(shares)))
        own = (*places, by)
        quotients[own] = change / steps[by]
        result.append(quotients)
    return ModelChanges(*result)
