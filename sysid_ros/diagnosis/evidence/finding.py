# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A finding of ``sysid_ros check``: a mistake, its evidence, and the line that repairs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from sysid_ros.engine.signals import TimeSeries
from sysid_ros.engine.uncertainty import ChangedLoad
from sysid_ros.errors import as_sentence


class FindingKind(str, Enum):
    """The kinds of mistakes."""

    SIGN = "sign"
    DEGREES = "degrees"
    MILLIMETRES = "millimetres"
    UNIT = "unit"
    SWAP = "swap"
    OFFSET = "offset"
    SCALE = "scale"
    LAG = "lag"
    LOW_RATE = "low rate"
    UNEVEN_RATE = "uneven rate"
    INTERPOLATION = "interpolation"
    SCATTER = "scatter"
    CLOCKS = "clocks"
    CONTRADICTION = "contradiction"
    SATURATION = "saturation"
    QUANTISATION = "quantisation"
    LITTLE_MOTION = "little motion"
    NO_CONTROL = "no control"
    OVERLAP = "overlap"
    RUNAWAY = "runaway"
    TIME_STEP = "time step"
    GRAVITY = "gravity"
    MASSES = "masses"
    MOUNTING = "mounting"
    ODD_EFFORT = "odd effort"
    RANGE = "range"
    PUSH = "push"
    LOAD = "load"
    STANDSTILL = "standstill"
    SLIP = "slip"
    ECHO = "echo"
    INTEGRAL = "integral part"
    SMOOTHED = "smoothed"
    CARRIED = "carried"


# What is repaired roughly, pressed against stops, or counted twice, shows no masses.
ROUGH = (
    FindingKind.SCALE, FindingKind.OFFSET, FindingKind.RANGE, FindingKind.INTEGRAL,
    FindingKind.CARRIED,
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One mistake."""

    kind: FindingKind  # what is wrong
    # labels of the signals it concerns, in the experiment's spelling, or names of joints or
    # actuators; of several that the data cannot tell apart, the one that the repair changes comes
    # first
    signals: tuple[str, ...]
    evidence: Mapping[str, float]  # the figures behind it, SI units
    sentence: str  # in words
    # the lines of YAML that repair it, as they stand in the experiment file; empty where it is not
    # the file that is wrong
    repair: str = ""
    overrides: tuple[str, ...] = ()  # the same as settings for ``--set``
    body: str = ""  # the one whose mass would explain it; empty where there is none
    # other bodies whose masses would explain it as well, and how many times the model's
    rivals: tuple[tuple[str, float], ...] = ()
    zero: str = ""  # the command whose zero would explain it as well; empty where there is none
    ambiguous: bool = False  # whether other signals than those repaired could be the wrong ones

    @property
    def claim(self) -> str:
        """The mistake without its grounds: how the sentence begins, without a full stop."""
        return self.sentence.partition(". ")[0].rstrip(".")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "kind": self.kind.value,
            "signals": list(self.signals),
            "body": self.body or None,
            "evidence": dict(self.evidence),
            "sentence": self.sentence,
            "repair": self.repair,
            "overrides": list(self.overrides),
        }


@dataclass(frozen=True)
class Change:
    """A repair of signals: ``scale * value + offset``, undone delays, exchanged sources."""

    kind: FindingKind  # the mistake that this undoes
    scale: Mapping[str, float] = field(default_factory=dict)  # factor by label; one where left out
    # added after scaling, by label, in the model's unit
    offset: Mapping[str, float] = field(default_factory=dict)
    # by how much an input takes effect after its stamp [s], by label
    delay: Mapping[str, float] = field(default_factory=dict)
    exchange: tuple[tuple[str, str], ...] = ()  # pairs of labels whose sources are exchanged

    @property
    def signals(self) -> tuple[str, ...]:
        """Every label that is changed, in order."""
        pairs = [label for pair in self.exchange for label in pair]
        return tuple(dict.fromkeys([*self.scale, *self.offset, *self.delay, *pairs]))

    def source(self, label: str) -> str:
        """Whose values a label takes, the exchanges done one after the other."""
        for one, other in reversed(self.exchange):
            if label in (one, other):
                label = other if label == one else one
        return label


def repaired_series(series: TimeSeries, changes: Iterable[Change]) -> TimeSeries:
    """A series with repaired signals, apart from delays; itself where they concern none of it."""
    mapping = series.signal_mapping or {}
    own = [change for change in changes if not mapping.keys().isdisjoint(change.signals)]
    if not own:
        return series
    data = np.array(series.data)
    for change in own:
        before = data.copy()
        for name, (_, columns) in mapping.items():
            source = change.source(name)
            if source in mapping and name in change.signals:
                scale, offset = change.scale.get(name, 1.0), change.offset.get(name, 0.0)
                data[:, columns] = scale * before[:, mapping[source][1]] + offset
    return TimeSeries.of_checked(series.times, data, series.signal_mapping, series.interpolation)


def of_load(load: ChangedLoad) -> Finding:
    """The finding of a load that changes in the midst of a recording, or from one to another."""
    when = {"begin": load.begin, "end": load.end}
    figures = {"mass": load.mass} | {key: at for key, at in when.items() if at is not None}
    apart = "" if load.begin is None else ", by start and end of its sequence"
    # a servo sags by its load over its gain
    alike = " Gains that were changed then look alike." if load.shown == "motion" else ""
    return Finding(
        FindingKind.LOAD,
        (),
        figures,
        f"{as_sentence(load.clause)}. Fit what was recorded with it and without it apart{apart}."
        f"{alike}",
        body=load.body,
    )
