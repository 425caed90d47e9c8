# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Efforts that are what velocity servos make of recorded commands.

Such an effort is the torque on its joint, and yet samples of it may not be the torque that moves
the joint: it jumps with every command and dies away before the next, and samples at the rate of the
commands always meet the same part of that. Jumps are proportional to the acceleration, so that an
armature comes out wrong by up to the servo's gain times half the time between commands.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.engine.elements import add_servo, compiled, joint_scales
from sysid_ros.errors import listed
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.mapping import Mapping, map_channels
from sysid_ros.proposal.signals.orders import Order

_LATEST = 0.03  # s, of a command's effect
_TRIED = 31  # delays
_EXPLAINED = 0.8  # of an effort's power, by the servo's law
_MATTERS = 0.1  # of a joint's inertia, that an armature may be wrong by
_NAMED = 7  # joints in a sentence


def servo_efforts(
    spec: mujoco.MjSpec, mapping: Mapping, channels: Sequence[Channel], orders: Sequence[Order]
) -> str | None:
    """A sentence about efforts whose samples are no mean torque; none where all are.

    Args:
      spec: A model without actuators.
      mapping: Its signals, with efforts.
      channels: Everything that was recorded.
      orders: Orders of joints that the recording states.
    """
    efforts = {line.name: line.channel for line in mapping.lines if line.kind == "effort"}
    wrong = {}
    scales = joint_scales(compiled(spec))
    for joint, command in _commands(spec, efforts, channels, orders).items():
        error = _error(efforts[joint], command, channels)
        if error > _MATTERS * scales[joint].inertia:
            wrong[joint] = error
    if not wrong:
        return None
    told = listed([f"{joint} {error:.2g} kg m^2" for joint, error in wrong.items()], _NAMED)
    return (
        "efforts are what servos make of commanded velocities, and jump with each command; sampled "
        f"between them, armatures may be wrong by as much as: {told}. Record them at ten times the "
        "commands' rate, or have the controller or the driver interpolate."
    )


def _commands(
    spec: mujoco.MjSpec,
    efforts: dict[str, Channel],
    channels: Sequence[Channel],
    orders: Sequence[Order],
) -> dict[str, Channel]:
    """Commanded velocities by joint."""
    served = spec.copy()
    for joint in efforts:
        add_servo(served, joint, joint, 1.0)
        served.actuator(joint).set_to_velocity(kv=1.0)
    others = [one for one in channels if one.command or one.quantity != "effort"]
    lines = map_channels(served.compile(), others, orders).lines if efforts else ()
    return {
        line.name: line.channel
        for line in lines
        if line.kind == "actuator" and line.channel.quantity == "velocity"
    }


def _error(effort: Channel, command: Channel, channels: Sequence[Channel]) -> float:
    """The largest error of an armature, kg m^2; 0 where no servo makes the effort."""
    for speed in channels:
        same = (speed.topic, speed.name) == (effort.topic, effort.name)
        if same and speed.quantity == "velocity" and not speed.command:
            gain = _gain(effort, command, speed)
            return 0.5 * gain * float(np.median(np.diff(command.times[0])))
    return 0.0


def _gain(effort: Channel, command: Channel, speed: Channel) -> float:
    """The gain of a servo that makes an effort of what its speed lacks; 0 where none does."""
    times, wanted = effort.times[0], effort.values[0] - np.mean(effort.values[0])
    measured = np.interp(times, speed.times[0], speed.values[0])
    best = 0.0, 0.0
    for delay in np.linspace(0.0, _LATEST, _TRIED):
        place = np.searchsorted(command.times[0], times - delay, side="right") - 1
        lack = command.values[0][np.maximum(place, 0)] - measured
        lack = lack - np.mean(lack)
        power = float(lack @ lack) * float(wanted @ wanted)
        share = float(lack @ wanted) ** 2 / power if power else 0.0
        if share > best[0]:
            size = float(np.linalg.norm(wanted) / np.linalg.norm(lack))  # both have noise
            best = share, float(np.copysign(size, lack @ wanted))
    return max(best[1], 0.0) if best[0] > _EXPLAINED else 0.0
