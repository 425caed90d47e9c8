# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes of single signals that only a robot with the model's own bodies tells.

Where any bodies are allowed, other masses make up for the factor of a torque, a joint's zero or
half a position, but for what several rows say of one body. Where the model's own bodies then leave
more, and one repair of one signal makes them explain what any bodies would, that repair is one
number in the place of many. A body that the model lacks or has otherwise is the other plain answer:
nothing is told where one, of whatever shape, explains nearly as much.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sysid_ros.diagnosis.evidence import (
    Explanation,
    Recorded,
    Suspects,
    best_of,
    discrete,
    families,
)
from sysid_ros.diagnosis.fits import Misfit, ModelledBodies
from sysid_ros.diagnosis.torque.dynamics import Dynamics
from sysid_ros.diagnosis.torque.torque_repairs import (
    PROMISING,
    Tried,
    exact,
    explanation_of,
    is_degrees,
    matters,
)
from sysid_ros.diagnosis.torque.trees import Tree

_CONTRADICTED = 1.5  # times the power that any bodies leave, that the model's leave at the least
_AS_WELL = 1.25  # times the power that any bodies leave, that the model's may leave with a repair
_MOST_LEFT = 0.05  # of what the model's bodies leave beyond any, that a repair may leave
_MOST_LEFT_OF_FLOATING = 0.15  # the same of a free base, of whose equations contacts leave few
_BY_A_BODY = 0.3  # of what one body of any shape leaves there, that a repair may leave
_SAME = 1.02  # ratio of powers up to which one body explains all that any would
_USUAL = 1.1  # the same of what any bodies leave of two trees of one robot
_MOSTLY = 0.75  # of the stretches, in which a repair must be better


def modelled_explanation(recorded: Recorded, test: Dynamics) -> Explanation | None:
    """The repair that makes the model's own bodies explain as much as bodies of any shape.

    Args:
      recorded: What was recorded.
      test: Its test.

    Returns:
      The plainest; ``None`` where there is none, or where several trees contradict the model, whose
      masses are then others, and where all agree with it.
    """
    doubted = [
        tree for tree in test.trees
        if tree.floats or _own(test, tree).misfit().ratio(test.of_tree(tree).misfit())
        >= _CONTRADICTED
    ]  # fmt: skip
    return _of_tree(recorded, test, doubted[0]) if len(doubted) == 1 else None


def _of_tree(recorded: Recorded, test: Dynamics, tree: Tree) -> Explanation | None:
    any_bodies, own = test.of_tree(tree), _own(test, tree)
    before, least = own.misfit(), any_bodies.misfit()
    by_a_body = _left_by_a_body(test, tree)
    labels = tree.labels
    if tree.floats or (by_a_body.ratio(least) <= _SAME and _as_usual(test, tree, least)):
        labels = labels & {*recorded.efforts.values()}
    seen = list(_tried(recorded, own, tree, labels))
    tried = [
        one for one in exact(own, before, own.glance(), seen)
        if matters(one, recorded) and one.misfit.better_share(before) >= _MOSTLY
    ]  # fmt: skip
    share = _MOST_LEFT_OF_FLOATING if tree.floats else _MOST_LEFT

    def told(one: Tried) -> bool:
        floor = min(any_bodies.misfit(one.change), least, key=lambda left: left.share)
        most = min(share * _beyond(before, floor), _BY_A_BODY * _beyond(by_a_body, floor))
        contradicted = before.ratio(floor) >= _CONTRADICTED
        as_well = one.misfit.ratio(floor) <= _AS_WELL
        return contradicted and as_well and _beyond(one.misfit, floor) <= most

    found = [one for one in tried if told(one)]
    return explanation_of(recorded, own, before, found) if found else None


def _own(test: Dynamics, tree: Tree) -> Dynamics:
    """The test of a tree's bodies as the model has them."""
    return test.of_tree(tree, ModelledBodies(tree.dofs))


def _as_usual(test: Dynamics, tree: Tree, least: Misfit) -> bool:
    """Return whether any bodies leave of a tree no more than of another."""
    others = [test.of_tree(one).misfit() for one in test.trees if one is not tree]
    return min(map(least.ratio, others), default=0.0) <= _USUAL


def _tried(
    recorded: Recorded, own: Dynamics, tree: Tree, labels: Collection[str]
) -> Iterator[Tried]:
    """Repairs of some of a tree's signals, as they seem at a glance.

    Positions take long. They are left out where one body explains as much as of other trees, and of
    free bases: what moves their legs moves their contacts.
    """
    suspects, glance = _suspects(recorded, own, tree), own.glance()
    for change in discrete(recorded, suspects):
        if {*labels}.issuperset(change.signals):
            yield Tried(change, 0.0, own.glance(change))
    for family in families(recorded, suspects):
        if not {*labels}.issuperset(family.labels):
            continue
        if own.left_by_others(family.labels).ratio(glance) >= PROMISING:
            continue
        size, misfit = best_of(family, own.glance, glance, own.peek)
        one = Tried(family.change(size), size, misfit)
        if not is_degrees(recorded, one):
            yield one


def _suspects(recorded: Recorded, own: Dynamics, tree: Tree) -> Suspects:
    """A tree's joints, all of them, and no others."""
    mine = {int(recorded.model.dof_jntid[dof]) for dof in tree.dofs}
    shares = {joint: float(joint in mine) for joint in range(recorded.model.njnt)}
    return Suspects(tuple(sorted(mine - own.silent)), shares, own.silent)


def _left_by_a_body(test: Dynamics, tree: Tree) -> Misfit:
    """The least that is left if one body, of any shape, is another than the model's."""
    points = test.any_bodies(tree)
    bodies = (ModelledBodies(tree.dofs, points.only(body)) for body in points.moments)
    return min((test.of_tree(tree, one).misfit() for one in bodies), key=lambda left: left.share)


def _beyond(left: Misfit, least: Misfit) -> float:
    """Power that is left beyond the least."""
    return left.share**2 - least.share**2
