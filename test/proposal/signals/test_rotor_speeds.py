# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rotors that are told speeds thrust by their squares, and together bear the model's weight."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal.signals.actuator_inputs import command_lines
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import drives_of
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.mapping import map_channels
from sysid_ros.proposal.signals.rotor_speeds import as_straight, as_thrusts, shares_as_thrusts
from sysid_ros.recording.messages import parse_fields

TIMES = np.arange(0.0, 10.0, 0.01)


def model(thrusts: str) -> mujoco.MjModel:
    """A hull of 2 kg and a load of 0.5 kg on it, with sites that may be turned."""
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body name="hull"><freejoint/><geom size=".1" mass="2"/>
        <site name="a"/><site name="b" euler="0 60 0"/>
        <body><joint type="ball"/><geom size=".05" mass=".5"/></body></body></worldbody>
        <actuator>{thrusts}</actuator></mujoco>"""
    )


def told(name: str, quantity: str, speed: float = 500.0, first: float = 0.0) -> Line:
    values = np.where(TIMES < 7.0, first, speed)  # it stands at first, for most of the time
    field = f"velocity[{name}]"
    return Line(
        "actuator", name, Channel("/speeds", "", field, "", quantity, 0, True, (TIMES,), (values,))
    )


def factor(line: Line) -> float:
    (term,) = parse_fields(line.channel.field)
    assert (str(term.path), term.power) == (f"velocity[{line.name}]", 2)
    np.testing.assert_allclose(line.channel.values[0][-1], term.weight * 500.0**2)
    return term.weight


@pytest.mark.parametrize(
    ("thrusts", "lift"),
    [
        ('<motor name="a" site="a" gear="0 0 1 0 0 .1"/>', 1.0),
        ('<motor name="a" site="a" gear="0 0 -2 0 0 0"/>', None),  # it pushes down
        ('<motor name="a" site="a" gear="1 0 0 0 0 0"/>', None),  # along, as a boat's
        ('<general name="a" site="a" gainprm="20" gear="0 0 1 0 0 0"/>', 20.0),
        (
            '<motor name="a" site="a" gear="0 0 1 0 0 0"/>'
            '<motor name="b" site="b" gear="0 0 1 0 0 0"/>',
            1.5,
        ),
    ],
)
def test_thrusts_bear_the_weight_that_the_model_has(thrusts: str, lift: float | None) -> None:
    robot = model(thrusts)
    drives = drives_of(robot)
    given = [told(one.name, "velocity") for one in drives]
    found = as_thrusts(robot, drives, given)
    if lift is None:
        assert found == given
        return
    assert [factor(one) for one in found] == pytest.approx(
        [2.5 * 9.81 / lift / 500.0**2] * len(found), rel=1e-3
    )
    assert ["weight of hull" in one.doubt for one in found] == [True, *[False] * (len(found) - 1)]


def test_what_is_no_speed_stays() -> None:
    robot = model('<motor name="a" site="a" gear="0 0 1 0 0 0"/>')
    given = [told("a", "effort")]
    assert as_thrusts(robot, drives_of(robot), given) == given


def test_what_turns_both_ways_has_no_squares() -> None:
    robot = model('<motor name="a" site="a" gear="0 0 1 0 0 0"/>')
    given = [told("a", "velocity", first=-100.0)]
    assert as_thrusts(robot, drives_of(robot), given) == given
    (drive,) = drives_of(robot)
    (factored,) = as_thrusts(robot, [drive], [told("a", "velocity", -500.0, -20.0)])
    assert factor(factored) == pytest.approx(2.5 * 9.81 / 500.0**2, rel=1e-3)


@pytest.mark.parametrize(
    ("gear", "first", "mapped"),
    [
        ("0 0 1", 20.0, True),
        ("0 0 1", -1.0, True),
        ("0 0 1", -100.0, False),
        ("1 0 0", 20.0, False),
    ],
)
def test_speeds_that_are_no_thrusts_are_possible_inputs_alone(
    gear: str, first: float, mapped: bool
) -> None:
    """Of a boat, or of what dives, no thrust is as large as the number of its rotor's speed."""
    robot = model(f'<motor name="a" site="a" gear="{gear} 0 0 0"/>')
    own = told("a", "velocity", first=first).channel
    found = command_lines(
        robot,
        drives_of(robot),
        [replace(own, field="velocity[0]", msgtype="actuator_msgs/msg/Actuators")],
        {},
        [],
    )
    assert ([one.name for one in found.lines] == ["a"]) == mapped
    assert ([one.name for one in found.possible] == ["a"]) != mapped


def test_speeds_that_escs_tell_drive_rotors_that_nothing_else_does() -> None:
    """As ``ESCStatus`` of MAVROS, beside rates and a throttle that no rotor is told."""
    robot = model(
        '<motor name="front" site="a" gear="0 0 1 0 0 .1"/>'
        '<motor name="rear" site="b" gear="0 0 1 0 0 -.1"/>'
    )
    kind, topic = "mavros_msgs/msg/ESCStatus", "/esc_status"
    told = [
        Channel(
            topic, kind, f"esc_status[{k}].rpm", "", "velocity", k, False, (TIMES,), (6e3 + TIMES,)
        )
        for k in range(2)
    ]
    lines = {one.name: one for one in map_channels(robot, told).lines if one.kind == "actuator"}
    assert [*lines] == ["front", "rear"]
    for k, line in enumerate(lines.values()):
        (term,) = parse_fields(line.channel.field)
        assert (str(term.path), term.power) == (f"esc_status[{k}].rpm", 2)
        assert line.doubt


def share(topic: str, field: str, most: float, least: float = 0.0) -> Line:
    values = np.where(TIMES < 4.0, least, most)
    return Line("actuator", "a", Channel(topic, "", field, "", "", 0, True, (TIMES,), (values,)))


@pytest.mark.parametrize(
    ("line", "limits", "squared"),
    [
        (share("/fmu/out/actuator_motors", "control[0]", 0.6), "", True),
        (share("/cf/motor_pwm", "data[0]", 40_000.0), "", True),
        (share("/thruster_controls", "data[0]", 25.0), "", False),  # which bear the weight
        (share("/thrusts", "data[0]", 0.6), "", False),
        (share("/mavros/pwm", "channels[0]", 1700.0, 1000.0), "", False),  # nobody says share
        (share("/motors", "control[0]", 0.6, -0.6), "", False),  # as of what floats in water
        (share("/motor_pwm", "data[0]", 1700.0, 1000.0), "", False),  # whose zero is a thousand
        (share("/motor_pwm", "data[0]", 1700.0), "", False),  # it is disarmed at first
        (share("/motors", "control[0]", 0.6), 'ctrlrange="0 1"', False),  # the model's own
        (share("/motors", "control[0]", 0.6), 'ctrlrange="0 30"', True),
    ],
)
def test_shares_of_the_most_are_squares_too_unless_they_are_thrusts(
    line: Line, limits: str, squared: bool
) -> None:
    robot = model(f'<motor name="a" site="a" gear="0 0 1 0 0 0" {limits}/>')
    (found,) = as_thrusts(robot, drives_of(robot), [line])
    assert (found != line) == squared
    assert shares_as_thrusts([found]) == ([found] if squared else [])
    if squared:
        assert found.channel.values[0].max() == pytest.approx(2.5 * 9.81, rel=1e-3)
        assert f"by the squares of {line.channel.field.partition('[')[0]}" in found.doubt


def test_straight_thrusts_bear_as_much_as_squares() -> None:
    robot = model('<motor name="a" site="a" gear="0 0 1 0 0 0"/>')
    squares = as_thrusts(robot, drives_of(robot), [share("/motors", "control[0]", 0.6)])
    (line,) = as_straight(squares)
    (term,) = parse_fields(line.channel.field)
    assert (str(term.path), term.power) == ("control[0]", 1)
    assert term.weight == pytest.approx(2.5 * 9.81 / 0.6, rel=1e-3)
    np.testing.assert_allclose(line.channel.values, squares[0].channel.values, rtol=1e-3)
    assert "straight by control" in line.doubt
    assert not shares_as_thrusts([told("a", "velocity")])


def test_straight_thrusts_of_two_robots_bear_the_weight_of_each() -> None:
    """Of 20 and of 5 N at half of the most."""
    share = told("a", "", 0.5)
    heavy, light = (
        replace(
            share,
            name=name,
            channel=replace(
                share.channel,
                topic=f"/{name}",
                field=f"{factor} * control[0]^2",
                values=tuple(factor * part**2 for part in share.channel.values),
            ),
        )
        for name, factor in (("heavy", 80.0), ("light", 20.0))
    )
    straight = as_straight([heavy, light])
    assert [one.channel.field for one in straight] == ["40 * control[0]", "10 * control[0]"]
    assert [one.channel.values[0][-1] for one in straight] == pytest.approx([20.0, 5.0])
