# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals that carry each other's names: the mistake that a fit can hide, looked for after one."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence

from sysid_ros.diagnosis.evidence import (
    Change,
    Declared,
    FindingKind,
    Recorded,
    joint_pairs,
    recorded,
    under_gravity,
)
from sysid_ros.diagnosis.position_consistency import disagreement
from sysid_ros.diagnosis.servo_mistakes import servo_explanations
from sysid_ros.diagnosis.torque import Dynamics
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import single_blas_thread

_DOUBTED = 0.1  # share of the torques that some robot leaves, below which no names are doubted
_SUSPECT = 0.3  # the same, below which an exchange must leave hardly anything
_HARDLY = 0.1  # of the power left without it
_LEFT = 0.32  # share that the exchange may leave: a tenth of the power, as of other repairs
_BETTER = 0.5  # of the power left without it, that it may leave
_PROMISING = 0.8  # of the power left without it, that it may leave at a glance
_BETTER_BLOCKS = 0.75  # of the stretches of time, in which it must be better

Pairs = tuple[tuple[str, str], ...]


def exchanged_signals(
    groups: Sequence[ModelSequences],
    params: ParameterDict,
    *,
    guessed: Collection[str] = (),
    explained: bool = False,
) -> Pairs:
    """Find pairs of signals that carry each other's names.

    Args:
      groups: Sequences by model, at least one.
      params: The experiment's, which may say how the robot is mounted.
      guessed: Names of servos that the model lacks, whose gains nobody knows.
      explained: Whether a robot is known that explains the torques as they are named.

    Returns:
      The labels of each pair; none where the names are right or nothing can tell.
    """
    seen, gravity = recorded(groups, guessed), Declared(params).gravity()
    if gravity is not None:
        seen = under_gravity(seen, gravity)
    with single_blas_thread():
        contradiction = disagreement(seen)
        if contradiction is not None and contradiction.candidates[0].exchange:
            return contradiction.candidates[0].exchange
        if len(seen.positions) < 2 and len(seen.efforts) < 2:
            return ()  # nothing to exchange it with
        servos = [one.change.exchange for one in servo_explanations(seen) if one.change.exchange]
        if servos or explained:
            return servos[0] if servos else ()
        return _by_dynamics(seen)


def _by_dynamics(seen: Recorded) -> Pairs:
    """Find the exchange after which some robot explains the torques, where none did before."""
    test = Dynamics.of(seen) if seen.is_open_chain else None
    if test is None or (before := test.misfit()).share < _DOUBTED:
        return ()
    most = _BETTER if before.share >= _SUSPECT else _HARDLY
    found: list[tuple[float, Pairs]] = []
    glance = test.glance()
    for pairs in _candidates(seen):
        change = Change(FindingKind.SWAP, exchange=pairs)
        if test.glance(change).ratio(glance) >= _PROMISING:
            continue
        after = test.misfit(change)
        better = after.share < _LEFT and after.ratio(before) < most
        if better and after.better_share(before) >= _BETTER_BLOCKS:
            found.append((after.share, pairs))
    return min(found)[1] if found else ()


def _candidates(seen: Recorded) -> Iterator[Pairs]:
    """Two torques exchanged, or two joints' measurements, or both."""
    efforts = {seen.joint_of(actuator): label for actuator, label in seen.efforts.items()}
    for one, other in itertools.combinations(efforts.values(), 2):
        yield ((one, other),)
    for first, second in itertools.combinations(seen.positions, 2):
        if seen.is_hinge(first) == seen.is_hinge(second):
            measured = joint_pairs(seen, first, second)
            yield measured
            if first in efforts and second in efforts:
                yield (*measured, (efforts[first], efforts[second]))
