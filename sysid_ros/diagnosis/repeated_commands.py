# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions that repeat commands: nobody measured them.

Drivers of servos without encoders, and simulated hardware that mirrors commands, publish what was
asked for as what was reached. A sensor meets a command exactly where both count the same steps and
the joint is slow; it does not where commands go on by many of these.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import BoolArray
from sysid_ros.diagnosis.evidence import ExperimentLines, Finding, FindingKind, Recorded, Samples
from sysid_ros.errors import listed
from sysid_ros.time_intervals import level_starts

_RECENT = 3  # commands, one of which a position repeats, or the next: dated by its receipt
_SHARE = 0.9  # of the samples in which a position changes
_FEWEST = 30  # of these
_SAME = 1e-6  # of the largest value: numbers of 32 bits
_STEPS = 10.0  # of the position's, by which recent commands differ: slower ones are met by chance
_NAMED = 4


def repeated_command_findings(recorded: Recorded, lines: ExperimentLines) -> list[Finding]:
    """One finding for all positions that are their servos' commands, as they were sent.

    Args:
      recorded: What was recorded.
      lines: The experiment's entries.
    """
    repeated = {
        recorded.positions[joint]: label
        for actuator, label in recorded.servos.items()
        for joint in [recorded.joint_of(actuator)]
        if {*recorded.arms(actuator)} == {joint} and joint in recorded.positions
        and _repeats(recorded, recorded.positions[joint], label)
    }  # fmt: skip
    if not repeated:
        return []
    topics = listed(dict.fromkeys(map(lines.topic, repeated)), None)
    asked = listed(dict.fromkeys(map(lines.topic, repeated.values())), None)
    several = len(repeated) > 1
    return [
        Finding(
            FindingKind.ECHO,
            tuple(repeated),
            {"signals": float(len(repeated))},
            f"{listed(map(repr, repeated), _NAMED)} {'repeat' if several else 'repeats'} what the "
            f"{'servos' if several else 'servo'} had been told, digit by digit: {topics} tells the "
            f"commands of {asked}, as drivers of servos without encoders and simulated hardware "
            "do, and no sensor. Nothing of the robot can be found from that; record what is "
            "measured.",
        )
    ]


def _repeats(recorded: Recorded, position: str, command: str) -> bool:
    """Return whether a position is one of the last commands wherever it changes."""
    same = [
        _same_as_recent(signals[position], signals[command])
        for signals in recorded.recordings
        if position in signals and command in signals
    ]
    found = np.concatenate([np.zeros(0, dtype=np.bool_), *same])
    return len(found) >= _FEWEST and float(np.mean(found)) > _SHARE


def _same_as_recent(position: Samples, command: Samples) -> BoolArray:
    """Tell of each sample that differs from the one before whether it is a recent command.

    Of those only beside which commands go on by many steps of the position.
    """
    least = _SAME * np.abs(command.values).max(initial=0.0)
    steps = np.diff(np.unique(position.values))
    step = float(steps[steps > least].min(initial=np.inf))
    changed = level_starts(position.values)[1:]
    last = np.searchsorted(command.times, position.times[changed], side="right") - 1
    changed, last = changed[last >= 0], last[last >= 0]
    recent = np.clip(last[:, None] + 1 - np.arange(_RECENT + 1), 0, len(command.times) - 1)
    told = command.values[recent]
    apart = np.abs(told - position.values[changed, None]).min(axis=1)
    return np.asarray(apart[np.ptp(told, axis=1) > _STEPS * step] <= least)
