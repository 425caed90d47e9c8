# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a topic are those of all its inputs, where all of them have them."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

import pytest

from sysid_ros.proposal.mapped_inputs import Inputs
from sysid_ros.proposal.signal_parameters import delays, thrust_factors

TOPIC = "/actuators"


@pytest.mark.parametrize(("tilts", "named"), [(False, TOPIC), (True, "rotor_*")])
def test_the_factor_of_thrusts_is_none_of_the_angle_beside_them(tilts: bool, named: str) -> None:
    """As Actuators tell speeds of rotors and angles of what tilts them in one message."""
    rotors, names = ["rotor_1", "rotor_2"], ["rotor_1", "rotor_2", *["tilt"] * tilts]
    inputs = Inputs(
        dict.fromkeys(names, True), dict.fromkeys(names, TOPIC), frozenset({TOPIC}),
        scaled=frozenset(rotors),
    )  # fmt: skip
    (factor,) = thrust_factors(inputs, ())
    assert (factor.name, factor.attribute, factor.shared) == (named, "gain", True)
    (delay,) = delays(inputs, ())
    assert (delay.name, delay.attribute, delay.shared) == (TOPIC, "delay", True)


def test_a_pattern_of_inputs_has_no_sensor_that_is_called_alike() -> None:
    names = ["motor_1", "motor_2"]
    inputs = Inputs(dict.fromkeys(names, True), dict.fromkeys(names, TOPIC), frozenset())
    assert [one.name for one in delays(inputs, ())] == ["motor_*"]
    beside = replace(inputs, measured=frozenset({"motor_imu"}))
    found = [one.name for one in delays(beside, ())]
    assert all(any(fnmatchcase(name, one) for one in found) for name in names)
    assert not any(fnmatchcase("motor_imu", one) for one in found)


@pytest.mark.parametrize(
    ("second", "interval", "found"),
    [
        ("/thrusters/1/input", 0.0501, ["thruster_*"]),
        ("/thrusters/1/input", 0.02, ["thruster_0", "thruster_1"]),  # of another node
        ("/other/1/input", 0.05, ["thruster_0", "thruster_1"]),
    ],
)
def test_topics_that_only_numbers_tell_apart_are_late_together(
    second: str, interval: float, found: list[str]
) -> None:
    topics = {"thruster_0": "/thrusters/0/input", "thruster_1": second}
    inputs = Inputs(
        dict.fromkeys(topics, True), topics, frozenset(topics.values()),
        intervals={"/thrusters/0/input": 0.05, second: interval},
    )  # fmt: skip
    assert [(one.name, one.shared) for one in delays(inputs, ())] == [
        (name, name == "thruster_*") for name in found
    ]
