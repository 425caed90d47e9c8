# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals that carry each other's names: the mistake that a fit can hide, looked for after one."""

from __future__ import annotations

from collections.abc import Sequence

from sysid_ros.diagnosis.dynamics import Dynamics, can_be_tested
from sysid_ros.diagnosis.explanation import best_explanation
from sysid_ros.diagnosis.finding import FindingKind
from sysid_ros.diagnosis.hypotheses import discrete
from sysid_ros.diagnosis.recorded import Recorded, recorded
from sysid_ros.diagnosis.servo_exchanges import exchanged
from sysid_ros.diagnosis.tracking import Tracking, tracked
from sysid_ros.diagnosis.velocity_consistency import disagreement
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import single_blas_thread

_SUSPECT = 0.3  # share of the torques that some robot leaves, below which no names are doubted
_LEFT = 0.7  # share that the exchange may leave


def exchanged_signals(groups: Sequence[ModelSequences]) -> tuple[tuple[str, str], ...]:
    """Find pairs of signals that carry each other's names.

    Args:
      groups: Sequences by model, at least one.

    Returns:
      The labels of each pair; none where the names are right or nothing can tell.
    """
    seen = recorded(groups)
    with single_blas_thread():
        contradiction = disagreement(seen)
        if contradiction is not None and contradiction.candidates[0].exchange:
            return contradiction.candidates[0].exchange
        return _by_servos(seen) or _by_dynamics(seen)


def _by_servos(seen: Recorded) -> tuple[tuple[str, str], ...]:
    """Find servos that do what others are asked for."""
    servos = tracked(seen)
    test = Tracking(seen, servos) if servos else None
    if test is None or not test.usable:
        return ()
    return tuple(
        pair
        for explanations, _ in exchanged(seen, test, servos)
        for explanation in explanations
        for pair in explanation.change.exchange
    )


def _by_dynamics(seen: Recorded) -> tuple[tuple[str, str], ...]:
    """Find the exchange after which some robot explains the torques, where none did before."""
    if not can_be_tested(seen):
        return ()
    test = Dynamics(seen)
    if not test.usable or test.misfit().share < _SUSPECT:
        return ()
    swaps = (change for change in discrete(seen) if change.kind is FindingKind.SWAP)
    best = best_explanation(test, swaps, (), seen, unexplained=_LEFT)
    return () if best is None else best.change.exchange
