# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The signals of a robot in the topics that its recordings share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as Tree
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from sysid_ros.diagnosis import Finding, FindingKind
from sysid_ros.errors import DataError
from sysid_ros.proposal.signals.channels import Channel, read_channels, topics_of
from sysid_ros.proposal.signals.given_signals import as_given
from sysid_ros.proposal.signals.lines import SERVOS
from sysid_ros.proposal.signals.mapping import Mapping, map_commanded_speeds, map_robot
from sysid_ros.proposal.signals.orders import Order, stated_orders
from sysid_ros.proposal.signals.servo_efforts import servo_efforts
from sysid_ros.recording.mapping import differing_clocks

_NO_TORQUE = (FindingKind.SCALE, FindingKind.ODD_EFFORT)
MOST_READ = 12  # recordings that channels are read from


@dataclass(frozen=True)
class RecordedSignals:
    """The signals of a robot, which may have got servos, and the recordings that have them.

    ``clocks`` says whose clocks differ; stamps are translated to the recorder's then.
    """

    spec: mujoco.MjSpec
    mapping: Mapping
    channels: list[Channel]
    orders: list[Order]
    usable: list[Path]
    left_out: list[tuple[Path, str]]
    clocks: str = ""
    given: bool = False  # whether someone decided for the signals, so that nothing replaces them


def recorded_signals(
    spec: mujoco.MjSpec,
    bags: list[Path],
    msg_path: Sequence[Path],
    on_note: Callable[[str], None] = lambda _: None,
    signals: Sequence[Tree[str, Any]] = (),
) -> RecordedSignals:
    """Map the topics that most recordings share; the recordings without them are left out.

    ``on_note`` is told the faults of those that are read. ``signals``, entries of an experiment
    file, are taken as they are.
    """
    topics = topics_of(bags, msg_path)
    counts: dict[str, int] = {}
    for one in topics:
        for topic in one:
            counts[topic] = counts.get(topic, 0) + 1
    common: list[str] = []
    complete: list[Path] = []
    for least in range(len(bags) // 2 + 1, len(bags) + 1):  # until some recording has them all
        common = [topic for topic, count in sorted(counts.items()) if count >= least]
        complete = [bag for bag, one in zip(bags, topics, strict=True) if set(common) <= set(one)]
        if complete:
            break
    channels = _channels(complete, common, msg_path, on_note=on_note)
    orders = stated_orders(complete[0], msg_path) if complete else []
    given = spec

    def with_signals() -> tuple[mujoco.MjSpec, Mapping]:
        found = map_robot(given, channels, orders)
        return as_given(given, found[1], channels, signals) if signals else found

    spec, mapping = with_signals()
    mapped = [line.channel for line in (*mapping.signals, *mapping.possible)]
    behind = {one.topic: one.behind for one in mapped if one.behind is not None}
    clocks = differing_clocks(behind)
    if clocks:
        channels = _channels(complete, common, msg_path, corrected=True)
        spec, mapping = with_signals()
    if not mapping.joints and not mapping.bodies:
        names = [joint.name for joint in spec.joints]
        raise DataError(
            f"no joint of the model ({', '.join(names) or 'it has none'}) has a position that "
            "changes among "
            + (
                f"the topics {', '.join(common)}"
                if common
                else "topics that most of the bags share; give recordings of one robot: "
                + "; ".join(
                    f"{bag.name} has {', '.join(sorted(one)) or 'none'}"
                    for bag, one in zip(bags[:3], topics, strict=False)
                )
            )
        )
    needed = {line.channel.topic for line in mapping.signals}
    usable, left_out = [], []
    for bag, one in zip(bags, topics, strict=True):
        missing = sorted(needed - set(one))
        if missing:
            left_out.append((bag, f"without {', '.join(missing)}"))
        else:
            usable.append(bag)
    return RecordedSignals(
        spec, mapping, channels, orders, usable, left_out, clocks, given=bool(signals)
    )


def without_efforts(
    spec: mujoco.MjSpec, recorded: RecordedSignals, findings: tuple[Finding, ...]
) -> RecordedSignals | None:
    """Take commands instead of efforts that are no torques, if there are any.

    Currents are such efforts, and shares of what each motor can do.
    """
    efforts = {f"{line.name}_{line.kind}" for line in recorded.mapping.lines
               if line.kind == "effort"}  # fmt: skip
    others = [one for one in findings
              if one.kind in _NO_TORQUE and efforts & set(one.signals)]  # fmt: skip
    if not others or recorded.given:
        return None
    channels = [one for one in recorded.channels if one.quantity != "effort" or one.command]
    spec, mapping = map_robot(spec, channels, recorded.orders)
    if not any(line.kind in SERVOS for line in mapping.lines):
        return None
    note = f"measured efforts are left out, commands taken instead: {others[0].sentence}"
    mapping = replace(mapping, unmapped=(*mapping.unmapped, note))
    return replace(recorded, spec=spec, mapping=mapping)


def at_commanded_speeds(recorded: RecordedSignals) -> RecordedSignals | None:
    """Simulate the servos whose efforts are no mean torques, if they have commanded velocities."""
    if recorded.given:
        return None
    told = servo_efforts(recorded.spec, recorded.mapping, recorded.channels, recorded.orders)
    if told is None:
        return None
    served = map_commanded_speeds(recorded.spec, recorded.channels, recorded.orders)
    if served is None:
        noted = (*recorded.mapping.unmapped, told)
        return replace(recorded, mapping=replace(recorded.mapping, unmapped=noted))
    return replace(recorded, spec=served[0], mapping=served[1])


def _channels(
    bags: list[Path], topics: list[str], msg_path: Sequence[Path], **how: Any
) -> list[Channel]:
    return read_channels(_spread(bags, MOST_READ), topics, msg_path, **how) if bags else []


def _spread(bags: list[Path], most: int) -> list[Path]:
    """At most so many, evenly from all of them."""
    places = np.unique(np.linspace(0, len(bags) - 1, min(most, len(bags))).astype(int))
    return [bags[place] for place in places]
