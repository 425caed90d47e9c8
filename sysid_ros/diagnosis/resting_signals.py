# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals that rest, repeat others or jump, beside which the rest may look like anything."""

from __future__ import annotations

from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.diagnosis.constant_commands import constant_command_findings
from sysid_ros.diagnosis.evidence import Finding, slip_findings
from sysid_ros.diagnosis.repeated_commands import repeated_command_findings
from sysid_ros.diagnosis.standstills import standstill_findings
from sysid_ros.diagnosis.unfollowed_commands import unfollowed_command_findings


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
