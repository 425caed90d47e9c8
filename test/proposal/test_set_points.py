# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gains of drives whose torque is sampled once in each recorded set point."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.proposal.set_points import Drive, drives_once_sampled
from sysid_ros.proposal.signals import Channel, Line

RATE = 200.0  # Hz of torque
STIFFNESS, DAMPING = 80.0, 3.0
LATE = 0.007  # s, from a set point's stamp until it acts


def channel(times: FloatArray, values: FloatArray, topic: str, field: str, **of: object) -> Channel:
    """One number of one recording."""
    given = {"quantity": "position", "name": "", "index": 0, "command": False} | of
    return Channel(topic, "", field, times=(times,), values=(values,), **given)  # type: ignore[arg-type]


def found(
    rate: float = RATE, *, degrees: bool = False, follows: bool = True, pushes: bool = True
) -> dict[str, Drive]:
    """The drives of a joint that follows set points, one of two that are published at a rate."""
    rng = np.random.default_rng(1)
    times, then = np.arange(0.0, 12.0, 1.0 / RATE), np.arange(0.0, 12.0, 1.0 / rate)

    def course(at: FloatArray) -> FloatArray:
        return np.asarray(0.6 * np.sin(2.0 * at) + 0.3 * np.sin(5.3 * at + 1.0))

    moved = course(times - 0.12)
    acts = course(then)[np.clip(np.searchsorted(then, times - LATE, side="right") - 1, 0, None)]
    torque = STIFFNESS * (acts - moved) - DAMPING * np.gradient(moved, times)
    if not pushes:
        torque = np.cumsum(rng.standard_normal(len(times)))
    torque = torque + 0.02 * rng.standard_normal(len(times))
    wanted = course(then) if follows else np.cumsum(rng.standard_normal(len(then)))
    turned = np.degrees(wanted) if degrees else wanted
    asked = [
        channel(then, np.cos(3.1 * then), "/asked", "data[0]", command=True),
        channel(then, turned, "/asked", "data[1]", command=True),
    ]
    position = channel(times, moved, "/joint_states", "position[a]", name="a")
    effort = channel(times, torque, "/joint_states", "effort[a]", name="a", quantity="effort")
    lines = {"a": (Line("qpos", "a", position), Line("actuator", "motor", effort))}
    return drives_once_sampled(lines, [*asked, position, effort])


@pytest.mark.parametrize("degrees", [False, True])
def test_gains_are_those_that_torque_answers_set_points_with(degrees: bool) -> None:
    drive = found(degrees=degrees)["a"]
    assert drive.stiffness == pytest.approx(STIFFNESS, rel=0.1)
    assert drive.damping == pytest.approx(DAMPING, rel=0.2)


@pytest.mark.parametrize("rate", [0.25 * RATE, 4.0 * RATE])
def test_set_points_that_torque_shows_or_that_are_short_are_left_to_it(rate: float) -> None:
    assert not found(rate)


def test_commands_that_nothing_follows_and_torque_of_something_else_tell_nothing() -> None:
    assert not found(follows=False)
    assert not found(pushes=False)
