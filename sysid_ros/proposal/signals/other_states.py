# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of joints beside those measured, which may be what a controller asks them for.

States of controllers carry what they ask for in fields that do not say so. A second encoder looks
alike, so that nothing is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.correlations import correlations
from sysid_ros.proposal.signals.drives import Drive
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.names import match_names

_FOLLOWS = 0.9  # correlation of a joint with what it may be asked for


def possibly_asked(
    model: mujoco.MjModel,
    drives: Sequence[Drive],
    channels: Sequence[Channel],
    positions: Mapping[int, Channel],
) -> list[Line]:
    """Lines of servos without an input, of states that name their joints and are not the measured.

    Args:
      model: The compiled model.
      drives: Actuators without an input.
      channels: Everything that was recorded.
      positions: Measured positions by joint.
    """
    measured = {one.topic for one in positions.values()}
    asking = [drive for drive in drives if drive.quantity == "position"]
    others = [
        one for one in channels
        if one.name and one.moves and one.quantity == "position"
        and not one.command and one.topic not in measured
    ]  # fmt: skip
    names = [drive.names[-1] for drive in asking]
    matches = match_names(names, [one.name for one in others])
    found = []
    for drive, name in zip(asking, names, strict=True):
        if name not in matches or not matches[name].sure:
            continue
        one = others[matches[name].index]
        follows = float(correlations(model, positions, [drive.actuator], [one])[0, 0])
        if follows > _FOLLOWS:
            grounds = (
                f"{drive.name} has no input, and {name} follows this with a correlation of "
                f"{follows:.2f}, unless it is measured twice"
            )
            found.append(Line("actuator", drive.name, one, grounds=grounds))
    return found
