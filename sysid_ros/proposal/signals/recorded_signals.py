# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The signals of a robot in the topics that its recordings share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
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
_MOST_KINDS = 3  # of recordings, each with topics of its own, that are tried for inputs


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

    Where these drive nothing, those are mapped that only some recordings have, as of one of two
    controllers.

    ``on_note`` is told the faults of those that are read. ``signals``, entries of an experiment
    file, are taken as they are.
    """
    topics = dict(zip(bags, topics_of(bags, msg_path), strict=True))
    shared = _shared(topics)
    found = _mapped(spec, *shared, msg_path, on_note, signals)
    if not _is_driven(found.mapping):
        others = (_mapped(spec, *one, msg_path, _say_nothing, signals) for one in _alike(topics))
        found = next((one for one in others if _is_driven(one.mapping)), found)
    if not found.mapping.joints and not found.mapping.bodies:
        raise DataError(_without_positions(spec, shared[0], topics))
    needed = {line.channel.topic for line in found.mapping.signals}
    usable, left_out = [], []
    for bag, own in topics.items():
        missing = sorted(needed - set(own))
        if missing:
            left_out.append((bag, f"without {', '.join(missing)}"))
        else:
            usable.append(bag)
    return replace(found, usable=usable, left_out=left_out)


def _shared(topics: Tree[Path, Collection[str]]) -> tuple[list[str], list[Path]]:
    """The topics that most recordings have, and the recordings that have them all."""
    counts = Counter(topic for one in topics.values() for topic in one)
    common: list[str] = []
    for least in range(len(topics) // 2 + 1, len(topics) + 1):  # until some recording has them all
        common = [topic for topic, count in sorted(counts.items()) if count >= least]
        complete = [bag for bag, one in topics.items() if set(common) <= set(one)]
        if complete:
            return common, complete
    return common, []


def _alike(topics: Tree[Path, Collection[str]]) -> Iterator[tuple[list[str], list[Path]]]:
    """Recordings of the same topics, and these; the most first. None where all have the same."""
    kinds = Counter(frozenset(one) for one in topics.values())
    for kind, _ in kinds.most_common(_MOST_KINDS) if len(kinds) > 1 else ():
        yield sorted(kind), [bag for bag, one in topics.items() if kind <= set(one)]


def _say_nothing(_: str) -> None:
    """Of faults that were told when all recordings were read."""


def _is_driven(mapping: Mapping) -> bool:
    return any(line.input for line in mapping.lines)


def _mapped(
    given: mujoco.MjSpec,
    topics: list[str],
    bags: list[Path],
    msg_path: Sequence[Path],
    on_note: Callable[[str], None],
    signals: Sequence[Tree[str, Any]],
) -> RecordedSignals:
    """The signals in some topics of recordings that have them all."""
    channels = _channels(bags, topics, msg_path, on_note=on_note)
    orders = stated_orders(bags[0], msg_path) if bags else []

    def with_signals() -> tuple[mujoco.MjSpec, Mapping]:
        found = map_robot(given, channels, orders)
        return as_given(given, found[1], channels, signals) if signals else found

    spec, mapping = with_signals()
    mapped = [line.channel for line in (*mapping.signals, *mapping.possible)]
    behind = {one.topic: one.behind for one in mapped if one.behind is not None}
    clocks = differing_clocks(behind)
    if clocks:
        channels = _channels(bags, topics, msg_path, corrected=True)
        spec, mapping = with_signals()
    return RecordedSignals(spec, mapping, channels, orders, bags, [], clocks, given=bool(signals))


def _without_positions(
    spec: mujoco.MjSpec, common: Sequence[str], topics: Tree[Path, Collection[str]]
) -> str:
    """A sentence about recordings in which no joint of the model moves."""
    names = [joint.name for joint in spec.joints]
    told = (
        f"the topics {', '.join(common)}"
        if common
        else "topics that most of the bags share; give recordings of one robot: "
        + "; ".join(
            f"{bag.name} has {', '.join(sorted(own)) or 'none'}"
            for bag, own in list(topics.items())[:3]
        )
    )
    return (
        f"no joint of the model ({', '.join(names) or 'it has none'}) has a position that "
        f"changes among {told}"
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
    if len(channels) == len(recorded.channels):
        return None
    spec, mapping = map_robot(spec, channels, recorded.orders)
    if not any(line.kind in SERVOS for line in mapping.lines):
        return None
    note = f"measured efforts are left out, commands taken instead: {others[0].sentence}"
    mapping = replace(mapping, unmapped=(*mapping.unmapped, note))
    return replace(recorded, spec=spec, mapping=mapping, channels=channels)


def in_no_frame(finding: Finding) -> bool:
    """Tell whether a twist is to be taken out, as its halves are in different frames."""
    removed = finding.repair.startswith("#") and not finding.overrides
    return finding.kind is FindingKind.SWAP and removed and finding.signals[0].endswith("_qvel")


def without_bodies_told_wrong(
    recorded: RecordedSignals, findings: tuple[Finding, ...]
) -> RecordedSignals | None:
    """Leave out wrenches that are weights of what the model has, and twists in no frame, if any."""
    told = {one.signals[0]: one.sentence for one in findings
            if one.kind is FindingKind.CARRIED or in_no_frame(one)}  # fmt: skip
    mapping = recorded.mapping
    names = {"wrench": "{}", "qvel": "{}_qvel"}
    out = [one for one in mapping.bodies if names.get(one.kind, "").format(one.name) in told]
    if not out or recorded.given:
        return None
    bodies = tuple(one for one in mapping.bodies if one not in out)
    notes = (*mapping.unmapped, *told.values())
    left = replace(mapping, bodies=bodies, unmapped=notes)
    topics = {one.channel.topic for one in out}  # nor are they mapped with all others once more
    topics -= {one.channel.topic for one in left.signals}
    channels = [one for one in recorded.channels if one.topic not in topics]
    return replace(recorded, mapping=left, channels=channels)


def without_mistaken(
    spec: mujoco.MjSpec, recorded: RecordedSignals, findings: tuple[Finding, ...]
) -> RecordedSignals | None:
    """Leave out what is not what it was mapped as, if there is any; others may be found then."""
    told = without_bodies_told_wrong(recorded, findings)
    return told or without_efforts(spec, recorded, findings)


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
