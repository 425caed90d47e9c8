# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that torques tell: of single signals, of the mounting, and of the unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.diagnosis.dynamics import Dynamics
from sysid_ros.diagnosis.evidence import (
    DECISIVE,
    Explanation,
    Finding,
    FindingKind,
    Turned,
    moves,
    percent,
    torque_grounds,
)
from sysid_ros.diagnosis.fits import other_gravity
from sysid_ros.diagnosis.torque_mistakes import rival_of_mounting, torque_explanations, torque_unit

MOST = 8  # mistakes of one kind of test; beyond that, something else is wrong
_VISIBLE = 0.1  # share of the torques that is unexplained where another gravity is looked for
_SETTLED = 0.05  # of the power, that another gravity leaves if it is all


def torque_findings(state: CheckedState) -> list[Finding]:
    """Find motion that no robot with the model's kinematics could have done."""
    found: list[Finding] = []
    while len(found) < MOST:
        test = Dynamics.of(state.recorded)
        if test is None:
            break
        mounted = state.recorded.is_open_chain  # what is free shows how it is turned
        turned = _other_gravity(state, test) if mounted and not found else None
        rival = 1.0 if turned is None else rival_of_mounting(state.recorded, test)
        # What another gravity leaves no room for is not looked for, as that takes long.
        settled = turned is not None and turned.after**2 <= _SETTLED and turned.beats(rival)
        explanations = [] if settled else torque_explanations(state.recorded, test)
        if turned is not None and turned.beats(
            min(rival, *(one.after for one in explanations), 1.0)
        ):
            found.append(state.mounting(turned, torque_grounds(turned)))
            continue
        if not explanations:
            break
        for best in explanations:
            state.repair(best.change)
            if not state.declared.explains(best.change, best.size):
                found.append(_beside(state.finding(best, torque_grounds(best)), best, turned))
    return found + unit_of_torques(state)


def _other_gravity(state: CheckedState, test: Dynamics) -> Turned | None:
    """Gravity with which some robot explains the torques, where none does with the model's."""
    before = test.misfit()
    if before.share < _VISIBLE:
        return None
    own = np.array(state.recorded.model.opt.gravity)
    seen = other_gravity(
        lambda one: test.under(one).glance(), lambda one: test.under(one).misfit(), own
    )
    return None if seen is None else Turned(seen[0], before.share, seen[1].share)


def _beside(finding: Finding, best: Explanation, turned: Turned | None) -> Finding:
    """Name the mounting beside an offset that explains as much.

    A zero of a joint's sensor turns what hangs on it, which can look alike.
    """
    if turned is None or best.change.kind is not FindingKind.OFFSET:
        return finding
    if DECISIVE * turned.after**2 > best.after**2:
        return finding
    claim, _, grounds = finding.sentence.partition(". ")
    told = f"{claim}, or the robot is not mounted as the model is: {turned.words}. {grounds}"
    return replace(finding, sentence=told)


def unit_of_torques(state: CheckedState) -> list[Finding]:
    """Torques that are all much too large or too small for the model."""
    moving = state.recorded.is_open_chain and all(
        moves(state.recorded, joint) for joint in state.recorded.positions
    )
    test = Dynamics.of(state.recorded) if moving else None
    unit = None if test is None else torque_unit(state.recorded, test)
    if unit is None or state.declared.explains(unit.change, unit.size):
        return []
    currents = (
        " Motor currents look like that. The factors are then estimates, by the model's masses, of "
        "newton metres per ampere; the maker's are better, as masses are found in proportion."
        if len({*unit.change.scale.values()}) > 1
        else ""
    )
    return [
        state.finding(
            unit,
            "Masses six times the model's, or a sixth of them, with whatever friction, leave "
            f"{percent(unit.before**2)} of the torques' power unexplained; in another unit it is "
            f"{percent(unit.after**2)}.{currents}",
        )
    ]
