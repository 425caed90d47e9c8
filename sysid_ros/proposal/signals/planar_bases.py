# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of bases that slide on a level and turn on it, from a recorded pose.

So models have boats, platforms on air bearings and mobile bases: two slides along the world's x and
y, and a hinge about its z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.elements import planar_bases
from sysid_ros.proposal.signals.bodies import pose_line
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.recording.messages import HEADING, headings

_PLACES, _TURNS = ("position", "translation"), ("orientation", "rotation")


def planar_positions(
    model: mujoco.MjModel, channels: Sequence[Channel]
) -> dict[int, tuple[Channel, bool]]:
    """The position of each joint of planar bases of which a pose was recorded, by its number.

    Args:
      model: The compiled model.
      channels: What was recorded and changes.
    """
    found: dict[int, tuple[Channel, bool]] = {}
    for body, joints in planar_bases(model):
        names = [str(model.body(body).name), str(model.body(int(model.body_rootid[body])).name)]
        line = pose_line(names[0], [name for name in names if name], channels)
        if line is None:
            continue
        told = {
            one.field.removeprefix(f"{line.channel.field}."): one
            for one in channels
            if one.topic == line.channel.topic and one.field.startswith(f"{line.channel.field}.")
        }
        for axis, joint in joints.items():
            coordinate = _heading(told) if axis == "z" else _coordinate(told, axis)
            if coordinate is not None:
                found[joint] = coordinate, False
    return found


def _coordinate(told: dict[str, Channel], axis: str) -> Channel | None:
    place = next((told[f"{one}.{axis}"] for one in _PLACES if f"{one}.{axis}" in told), None)
    return None if place is None else replace(place, quantity="position", command=False)


def _heading(told: dict[str, Channel]) -> Channel | None:
    """The heading that the moving numbers of an orientation tell."""
    for part in _TURNS:
        own = [told.get(f"{part}.{axis}") for axis in "wxyz"]
        some = next((one for one in own if one is not None), None)
        if some is None:
            continue
        values = tuple(
            np.column_stack([
                np.full(len(times), float(axis == "w")) if one is None else one.values[place]
                for axis, one in zip("wxyz", own, strict=True)
            ])
            for place, times in enumerate(some.times)
        )  # fmt: skip
        angles = tuple(np.unwrap(headings(one)[:, 0]) for one in values)
        field = f"{some.field.rpartition('.')[0]}.{HEADING}"
        return replace(some, field=field, quantity="position", command=False, values=angles)
    return None
