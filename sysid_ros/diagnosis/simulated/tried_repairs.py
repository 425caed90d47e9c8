# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Repairs that were simulated, with what each leaves of the signals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Change, Family, FindingKind
from sysid_ros.diagnosis.fits import explained_more, helps, least_about, spoils
from sysid_ros.engine.uncertainty import sensor_of


@dataclass(frozen=True)
class Tried:
    """A repair of one or two parts, and what it leaves of each signal by window."""

    changes: tuple[Change, ...]
    size: float
    powers: Mapping[str, FloatArray]

    @property
    def kind(self) -> FindingKind:
        """Of the mistake that its first part undoes."""
        return self.changes[0].kind

    def may_be_accepted(self, before: Mapping[str, FloatArray]) -> bool:
        """Return whether it helps its own signals, if it has any, or others, and spoils none."""
        labels = self.changes[0].signals
        own = {name for name in before if sensor_of(name) in labels}
        return not spoils(before, self.powers) and helps(before, self.powers, own)

    def left_of(self, names: Sequence[str]) -> float:
        """The mean power that is left of some signals."""
        return float(np.mean([self.powers[name].mean() for name in names]))


def refined(
    before: Mapping[str, FloatArray], family: Family, best: Tried, tried: Callable[..., Tried]
) -> Tried:
    """The best size about one of a family's."""
    none = 1.0 if family.kind is FindingKind.SCALE else 0.0
    found = [best]

    def loss(size: float) -> float:
        found.append(tried((family.change(size),), size))
        return -explained_more(before, found[-1].powers)

    least_about(best.size, (*family.sizes, none), loss, by_ratio=none == 1.0)
    return max(found, key=lambda one: explained_more(before, one.powers))
