# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Findings of signals before they are tested together: they rest, repeat, jump or contradict."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.diagnosis.constant_commands import constant_command_findings
from sysid_ros.diagnosis.evidence import (
    DECISIVE,
    Change,
    Finding,
    FindingKind,
    Recorded,
    finding_of,
    slip_findings,
)
from sysid_ros.diagnosis.position_consistency import disagreement, other_units
from sysid_ros.diagnosis.range_violations import in_percent, in_pulses, turns_away
from sysid_ros.diagnosis.repeated_commands import repeated_command_findings
from sysid_ros.diagnosis.standstills import standstill_findings
from sysid_ros.diagnosis.torque import Dynamics
from sysid_ros.diagnosis.torque_checks import MOST
from sysid_ros.diagnosis.unfollowed_commands import unfollowed_command_findings
from sysid_ros.experiment import SignalConfig


def at_rest(state: CheckedState) -> list[Finding]:
    """Signals that rest, repeat commands or jump while joints move; as if not mapped beside them.

    Args:
      state: The recordings; these signals are taken away.
    """
    stood = repeated_command_findings(state.recorded, state.lines)
    stood = stood or standstill_findings(state.recorded)
    stood = stood or slip_findings(state.recorded)
    stood = stood or constant_command_findings(state.recorded, state.lines)
    stood = stood or unfollowed_command_findings(state.recorded)
    state.recorded = state.recorded.without({label for one in stood for label in one.signals})
    return stood


def held_out_at_rest(state: CheckedState) -> list[Finding]:
    """Reasons that a fit cannot be judged by what is held out, though its own recordings are right.

    Args:
      state: The recordings.
    """
    if state.held_out is None:
        return []
    held_out = slip_findings(state.held_out)
    return held_out or unfollowed_command_findings(state.recorded, state.held_out)


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


def percent_findings(state: CheckedState, found: Sequence[Finding]) -> list[Finding]:
    """Commands in percent or in pulses, as their size has it: torques tell the factor itself."""
    scaled = {label for one in found if one.kind is FindingKind.SCALE for label in one.signals}
    rest = state.recorded.without(scaled)
    told = [*in_percent(rest), *in_pulses(rest, state.lines.config)]
    for change, _, _ in told:
        state.repair(change)
    return [finding_of(one, state.lines, {}, why, claim=claim) for one, claim, why in told]


def unit_findings(state: CheckedState) -> list[Finding]:
    """Signals far beyond the ranges of their joints, which another unit explains."""
    known = {label for change in state.repairs for label in change.signals}
    turned = {label: turn for label, turn in state.turned.items() if label not in known}
    told = {label for label in state.lines.topics if _is_converted(state.lines.config(label))}
    units = other_units(state.recorded, state.lines.topics, turned, told)
    for change, _ in units:
        state.repair(change)
    turns = turns_away(state.recorded)
    for change, _, _ in turns:
        state.repair(change)
    found = [*((change, "", why) for change, why in units), *turns]
    return [finding_of(one, state.lines, {}, why, claim=claim) for one, claim, why in found]


def _is_converted(config: SignalConfig) -> bool:
    """Return whether a signal's unit is known and not the model's, its scale included."""
    return config.unit is not None and not math.isclose(abs(config.factor), 1.0)
