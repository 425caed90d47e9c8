# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Thrusts of rotors that are told shares of the most: by squares or straight, as flights tell it.

A speed controller that is given a share may keep a speed, whose square is the thrust, or a voltage;
a flight controller may have taken that into account, so that thrusts are straight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sysid_ros.errors import SysidError
from sysid_ros.experiment import parse_experiment
from sysid_ros.proposal.experiment_text import Draft, SignalEntry
from sysid_ros.proposal.identifiability import left_by
from sysid_ros.proposal.mapped_inputs import Inputs
from sysid_ros.proposal.proposed_parameters import candidates
from sysid_ros.proposal.recordings import load_some
from sysid_ros.proposal.signals import (
    Line,
    RecordedSignals,
    as_straight,
    servo_sensors,
    shares_as_thrusts,
    unzeroed,
)

_TOLD = 1.02  # ratio of what the laws leave, from which flights tell which it is


def with_thrust_law(
    draft: Draft, recorded: RecordedSignals, output: Path
) -> tuple[Draft, RecordedSignals]:
    """The draft and the mapping with thrusts by the law that leaves less of the recordings.

    Args:
      draft: Without parameters; thrusts of shares are squares.
      recorded: Its signals.
      output: Where the file will be.
    """
    squares = [] if recorded.given else shares_as_thrusts(recorded.mapping.lines)
    if not squares:
        return draft, recorded
    plain = {one.name: one for one in as_straight(squares)}
    straight = _with_lines(draft, recorded, plain)
    try:
        left = [_left(*law, output) for law in ((draft, recorded), straight)]
    except SysidError:  # the nominal model cannot follow the recordings
        return draft, recorded
    by_squares, by_lines = left
    told = by_squares > _TOLD * by_lines
    draft, recorded = straight if told else (draft, recorded)
    kept, other = ("straight", "squares") if told else ("by squares", "straight ones")
    more = max(by_squares / by_lines, by_lines / by_squares)
    said = f"thrusts go {kept}: {other} leave {more:.3g} times as much of these flights"
    if more < _TOLD:
        said = f"these flights do not tell squares from straight thrusts ({more:.3g} times as much)"
    first = squares[0].name
    signals = tuple(
        replace(entry, doubt=f"{entry.doubt}\n{said}") if _drives(entry, first) else entry
        for entry in draft.signals
    )
    return replace(draft, signals=signals), recorded


def _left(draft: Draft, recorded: RecordedSignals, output: Path) -> float:
    """The rest of the recordings that a short fit with usual parameters leaves."""
    spec, mapping = recorded.spec, recorded.mapping
    inputs, moving = (
        Inputs.of(mapping, unzeroed(spec, mapping)),
        (*mapping.joints, *mapping.carried),
    )
    sensors = servo_sensors(spec, mapping)
    usual = candidates(spec, moving, inputs, sensors, free=mapping.posed)
    offered = tuple(replace(one, std=None) for one in usual if not one.on_demand)
    text = replace(draft, parameters=offered).text()
    experiment = parse_experiment(text, path=output)
    return left_by(experiment, load_some(experiment), offered, draft.window)


def _with_lines(
    draft: Draft, recorded: RecordedSignals, others: Mapping[str, Line]
) -> tuple[Draft, RecordedSignals]:
    """Both with other lines in the place of those of some actuators."""

    def entry_of(entry: SignalEntry) -> SignalEntry:
        line = others.get(entry.values.get("actuator", ""))
        if line is None:
            return entry
        return replace(
            entry, values={**entry.values, "field": line.channel.field}, doubt=line.doubt
        )

    signals = tuple(map(entry_of, draft.signals))
    lines = tuple(others.get(one.input, one) for one in recorded.mapping.lines)
    mapping = replace(recorded.mapping, lines=lines)
    return replace(draft, signals=signals), replace(recorded, mapping=mapping)


def _drives(entry: SignalEntry, name: str) -> bool:
    return entry.values.get("actuator") == name
