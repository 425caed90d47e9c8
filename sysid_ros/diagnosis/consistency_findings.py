# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Findings of measured positions and velocities that contradict each other."""

from __future__ import annotations

from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.diagnosis.dynamics import Dynamics
from sysid_ros.diagnosis.evidence import DECISIVE, Change, Finding, Recorded, finding_of
from sysid_ros.diagnosis.position_consistency import disagreement
from sysid_ros.diagnosis.torque_checks import MOST


def consistency_findings(state: CheckedState) -> list[Finding]:
    """Contradictions between measured positions and velocities."""
    found: list[Finding] = []
    while len(found) < MOST:
        contradiction = disagreement(state.recorded)
        if contradiction is None:
            break
        change, others = _decided(state.recorded, contradiction.candidates)
        found.append(
            finding_of(
                change,
                state.lines,
                {
                    "correlation": contradiction.correlation,
                    "velocity_per_derivative": contradiction.slope,
                },
                contradiction.sentence(change),
                alternatives=others,
            )
        )
        state.repair(change)
    return found


def _decided(
    recorded: Recorded, candidates: tuple[Change, ...]
) -> tuple[Change, tuple[Change, ...]]:
    """The candidate that inverse dynamics prefers, and those it cannot rule out."""
    dynamics = Dynamics.of(recorded) if len(candidates) > 1 else None
    if dynamics is not None:
        misfits = [dynamics.misfit(candidate) for candidate in candidates]
        order = sorted(range(len(candidates)), key=lambda i: misfits[i].share)
        best, second = order[0], order[1]
        if misfits[best].ratio(misfits[second]) < DECISIVE:
            return candidates[best], ()
    return candidates[0], candidates[1:]
