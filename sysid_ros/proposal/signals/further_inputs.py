# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Further inputs of actuators that take several: a velocity beside a position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco

from sysid_ros.engine.signals import control_names
from sysid_ros.experiment import UNITS
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import Line


def velocity_inputs(
    model: mujoco.MjModel, lines: Sequence[Line], channels: Sequence[Channel]
) -> list[Line]:
    """Lines of the velocities that were commanded in the same messages as pids' positions.

    Args:
      model: The compiled model.
      lines: Of the positions, among others.
      channels: What was recorded.
    """
    inputs, recorded = control_names(model), {(one.topic, one.field): one for one in channels}
    found = []
    for line in lines:
        name, unit = f"{line.name}.velocity", f"{line.unit}/s" if line.unit else ""
        field = line.channel.field.replace("positions[", "velocities[")
        field = field.replace("position[", "velocity[")
        rate = recorded.get((line.channel.topic, field))
        known = line.kind == "actuator" and name in inputs and (not unit or unit in UNITS)
        if known and rate is not None and rate is not line.channel and rate.moves:
            found.append(replace(line, name=name, channel=rate, unit=unit))
    return found
