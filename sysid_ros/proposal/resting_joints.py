# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that rest on their stops: what is measured of them says how the stop gives, no more.

A model's stop is a guess of its author's, softer or harder than the real one. Compared like any
other signal, a joint that lies on it would move whatever it shares with the others, such as the
delay of their controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.proposal.experiment_text import Draft, SignalEntry
from sysid_ros.proposal.signals import Line

_NEAR = 0.02  # of the joint's range, beside its end
_MOSTLY = 0.8  # of the samples
_NOISE = 0.1  # of the range, that its position counts as uncertain by


@dataclass(frozen=True)
class Resting:
    """A joint that rests on a stop."""

    signal: tuple[str, str]  # the kind and name of its position's signal
    share: float  # of the samples, in which it does
    noise: float  # with which its position is not compared for practical purposes, rad or m

    @property
    def sentence(self) -> str:
        """Words for a person who checks the proposal."""
        return (
            f"{self.signal[1]} rests on its stop in {100.0 * self.share:.0f} % of the samples, "
            "which says little of the robot; the noise keeps it from being compared"
        )


def resting_joints(model: mujoco.MjModel, lines: Iterable[Line]) -> dict[str, Resting]:
    """Joints whose measured positions are at an end of their range most of the time, by name."""
    found = {}
    for line in lines:
        joint = _position_of(model, line)
        if joint is None or not model.jnt_limited[joint]:
            continue
        low, high = (float(end) for end in model.jnt_range[joint])
        values = np.concatenate(line.channel.values)
        near = _NEAR * (high - low)
        inside = (values > low - near) & (values < high + near)  # what goes beyond does not rest
        ends = (values < low + near, values > high - near)
        share = max(float(np.mean(inside & end)) for end in ends)
        if share > _MOSTLY:
            noise = float(f"{_NOISE * (high - low):.2g}")
            found[str(model.joint(joint).name)] = Resting((line.kind, line.name), share, noise)
    return found


def without_comparing(draft: Draft, resting: Mapping[str, Resting]) -> Draft:
    """The proposal with so much noise on positions of resting joints that they hardly count."""
    known = {one.signal: one for one in resting.values()}

    def changed(entry: SignalEntry) -> SignalEntry:
        one = known.get(next(iter(entry.values.items())))
        if one is None:
            return entry
        doubt = "\n".join(part for part in (entry.doubt, one.sentence) if part)
        return SignalEntry({**entry.values, "noise": one.noise}, doubt, entry.grounds)

    return replace(draft, signals=tuple(changed(entry) for entry in draft.signals))


def _position_of(model: mujoco.MjModel, line: Line) -> int | None:
    if line.kind == "qpos" and line.channel.quantity == "position":
        return int(model.joint(line.name).id)
    if line.kind == "sensor" and not line.placed:
        sensor = model.sensor(line.name)
        if int(sensor.type[0]) == int(mujoco.mjtSensor.mjSENS_JOINTPOS):
            return int(sensor.objid[0])
    return None
