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

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import HINGE, SLIDE
from sysid_ros.proposal.signals.bodies import pose_line
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.recording.messages import HEADING, headings

_ALONG = 0.999  # cosine from which an axis is the world's
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


def planar_bases(model: mujoco.MjModel) -> list[tuple[int, dict[str, int]]]:
    """Bodies that all joints above them let slide and turn on a level, and these by their axes."""
    data, found = mujoco.MjData(model), []
    mujoco.mj_kinematics(model, data)
    for body in range(1, model.nbody):
        last = int(model.body_jntadr[body] + model.body_jntnum[body] - 1)
        if not model.body_jntnum[body] or model.jnt_type[last] != HINGE:
            continue
        chain = [
            one for one in range(last + 1) if is_above(model, int(model.jnt_bodyid[one]), body)
        ]
        if len(chain) == 3 and all(model.jnt_type[one] == SLIDE for one in chain[:2]):
            axes = {"xyz"[place]: one for one in chain for place in _along(data.xaxis[one])}
            if axes.keys() == {*"xyz"} and axes["z"] == last:
                found.append((body, axes))
    return found


def is_above(model: mujoco.MjModel, above: int, body: int) -> bool:
    """Tell whether a body is another, or one that this is on."""
    while body > above:
        body = int(model.body_parentid[body])
    return body == above


def _along(axis: FloatArray) -> list[int]:
    """The place of the world's axis that a joint's is; none where it lies across."""
    return [place for place in range(3) if axis[place] > _ALONG]


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
