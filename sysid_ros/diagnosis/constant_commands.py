# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands that stay as they are beside joints that move: no servo gives way so far.

Either something else drives the joint, or the topic is not what its servo was told, or the commands
were not recorded to the end. A joint on its way to a goal moves one way, under a drive that makes a
course of its own; it has to go to and fro.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.diagnosis.evidence import (
    ExperimentLines,
    Finding,
    FindingKind,
    Recorded,
    Samples,
    Stretch,
    motion_range,
    moves,
    to_and_fro,
)
from sysid_ros.diagnosis.fits import left_by_any
from sysid_ros.diagnosis.tracking import Tracking
from sysid_ros.engine.signals import place_unit
from sysid_ros.time_intervals import level_starts

_UNEXPLAINED = 0.7  # of a motion, that a servo does not give way by whatever pulls at it
_SHORTEST = 3.0  # s
_FEWEST = 10  # samples of each position
_SETTLED = 0.5  # s after a command, that a joint takes to obey it
_RETURNS = 0.25  # of a joint's span in all recordings, that it goes up and down by


@dataclass(frozen=True)
class _Constant(Stretch):
    """A stretch in which a servo's command stays as it is, and what was recorded in that."""

    servo: int
    value: float  # of the command
    part: Recorded
    is_whole: bool  # whether the command never changes in any recording


def constant_command_findings(recorded: Recorded, lines: ExperimentLines) -> list[Finding]:
    """One finding for each command that stays as it is while its joint is driven.

    Only of robots all of whose joints are measured and that nothing ties or pushes: elsewhere a
    joint may be driven by another one.

    Args:
      recorded: What was recorded.
      lines: The experiment's entries.
    """
    if not recorded.is_open_chain:
        return []
    found: dict[int, Finding] = {}
    for one in _constants(recorded):
        test = Tracking.of(one.part, constant=True) if one.servo not in found else None
        if test is None or one.servo not in test.servos:
            continue
        equation = test.equation(one.servo)
        share = left_by_any(equation.columns, equation.position)
        if share > _UNEXPLAINED:
            found[one.servo] = _finding(recorded, lines, one, share)
    return list(found.values())


def _constants(recorded: Recorded) -> Iterator[_Constant]:
    """The longest stretch of each command and recording in which its joint goes to and fro."""
    for servo, label in recorded.commands.items():
        joint = recorded.joint_of(servo)
        if len(recorded.arms(servo)) > 1 or joint not in recorded.positions:
            continue
        position = recorded.positions[joint]
        values = [part.values for part in recorded.pooled(label)]
        whole = len({*np.concatenate(values).tolist()}) == 1
        least = _RETURNS * motion_range(recorded, joint)[0]
        for number, signals in enumerate(recorded.recordings):
            if label not in signals or position not in signals:
                continue
            begin, end, value = _longest(signals[label], float(signals[position].times[-1]))
            begin += 0.0 if whole else _SETTLED
            if end - begin < _SHORTEST:
                continue
            beside = signals.keys() - {*recorded.positions.values(), label}
            part = recorded.without(beside).during(number, begin, end)
            held = Samples(np.linspace(begin, end, 16), np.full(16, value), "zoh")
            part = replace(part, recordings=({**part.recordings[0], label: held},))
            if any(len(one.times) < _FEWEST for one in part.recordings[0].values()):
                continue  # positions begin later, or have a gap there
            if moves(part, joint) and to_and_fro(part.pooled(position)[0].values) > least:
                is_last = end >= float(signals[position].times[-1])
                yield _Constant(number, begin, end, is_last, servo, value, part, whole)


def _longest(command: Samples, last: float) -> tuple[float, float, float]:
    """Begin, end [s] and value of the longest stretch in which a held command stays as it is."""
    edges = level_starts(command.values)
    begins = command.times[edges]
    ends = np.append(begins[1:], max(last, float(command.times[-1])))
    place = int(np.argmax(ends - begins))
    return float(begins[place]), float(ends[place]), float(command.values[edges[place]])


def _finding(recorded: Recorded, lines: ExperimentLines, one: _Constant, share: float) -> Finding:
    label, joint = recorded.commands[one.servo], recorded.joint_of(one.servo)
    reach = motion_range(one.part, joint)[0]
    unit = place_unit(recorded.model, joint)
    several = len(recorded.recordings) > 1
    when = "throughout" if one.is_whole else one.words(several=several)
    remedy = "map what is" if one.is_whole else "map what is, or leave the stretch out"
    repair = lines.removed(label)
    return Finding(
        FindingKind.NO_CONTROL,
        (label,),
        {"value": one.value, "begin": one.begin, "reach": reach, "unexplained": share},
        f"{label!r} is told {one.value:.4g} {when} ({lines.topic(label)}), while joint "
        f"{recorded.joint_name(joint)!r} moves by {reach:.3g} {unit}; its servo gives way by a "
        "small part of that, whatever pulls at it. Something else drives the joint, or this is not "
        f"what its servo is told: {remedy}.",
        *(repair if one.is_whole else ()),
    )
