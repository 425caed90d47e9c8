# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot: commands act at their own instants, secrets stay in the model."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.errors import ExperimentError, ModelError, SysidError
from sysid_ros.nodes.demo import demo_folder
from sysid_ros.nodes.sim_robot.simulated_robot import SimulatedRobot, build_true_model
from sysid_ros.rehearsal import TrueParameter, read_true_parameters

ARM = demo_folder() / "arm.xml"
CART = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0" integrator="RK4"/>
  <worldbody>
    <body><joint name="slide" type="slide" axis="1 0 0"/><geom size="0.1" mass="2"/></body>
  </worldbody>
  <actuator><motor name="motor" joint="slide"/></actuator>
</mujoco>
"""


def cart(**options: float) -> SimulatedRobot:
    return SimulatedRobot(mujoco.MjModel.from_xml_string(CART), rate=100.0, **options)


def test_a_model_that_no_command_can_move_is_refused():
    passive = CART[: CART.index("  <actuator>")] + "</mujoco>"
    with pytest.raises(ModelError, match="needs actuators"):
        SimulatedRobot(mujoco.MjModel.from_xml_string(passive), rate=100.0)


def test_states_come_at_their_rate_however_the_clock_is_read():
    robot = cart()
    times = [state.time for until in (0.005, 0.031, 0.0315, 0.2) for state in robot.advance(until)]
    np.testing.assert_allclose(times, np.arange(0.01, 0.2001, 0.01))


def test_command_acts_after_its_delay_and_not_before():
    robot = cart(command_delay=0.05)
    robot.command(0.1, np.array([4.0]))  # 4 N on 2 kg
    states = list(robot.advance(0.5))
    times = np.array([state.time for state in states])
    position = np.array([state.position[0] for state in states])
    expected = 0.5 * 2.0 * np.maximum(times - 0.15, 0.0) ** 2
    np.testing.assert_allclose(position, expected, atol=1e-9)
    assert states[-1].effort[0] == pytest.approx(4.0)
    assert robot.late_commands == 0


def test_commands_that_arrive_in_disorder_act_in_order():
    robot, sorted_robot = cart(), cart()
    commands = [(0.3, 1.0), (0.1, 5.0), (0.2, -3.0)]
    for instant, value in commands:
        robot.command(instant, np.array([value]))
    for instant, value in sorted(commands):
        sorted_robot.command(instant, np.array([value]))
    last, last_sorted = list(robot.advance(0.5))[-1], list(sorted_robot.advance(0.5))[-1]
    assert last.position[0] == last_sorted.position[0] != 0.0


def test_command_that_comes_too_late_is_counted():
    robot = cart()
    list(robot.advance(0.2))
    robot.command(0.1, np.array([1.0]))
    assert robot.late_commands == 1


def test_noise_has_its_size_and_depends_on_the_seed_alone():
    def positions(seed: int) -> np.ndarray:
        robot = cart(noise=(0.01, 0.0, 0.0), seed=seed)
        return np.array([state.position[0] for state in robot.advance(20.0)])

    assert np.std(positions(1)) == pytest.approx(0.01, rel=0.1)
    np.testing.assert_array_equal(positions(1), positions(1))
    assert not np.array_equal(positions(1), positions(2))


def test_true_parameters_are_in_the_compiled_model():
    truth = read_true_parameters(demo_folder() / "true_parameters.yaml")
    model = build_true_model(ARM, truth, 0.0005)
    values = {value.name: value.value for value in truth}
    assert model.opt.timestep == 0.0005
    assert model.dof_armature[0] == values["shoulder_armature"]
    assert model.dof_frictionloss[1] == values["elbow_frictionloss"]
    assert model.body("payload").mass[0] == pytest.approx(values["payload_mass"])
    assert values["servo_delay"] == 0.02
    assert mujoco.MjModel.from_xml_path(str(ARM)).dof_armature[0] != model.dof_armature[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{joint: a}", "expected a list"),
        ("- {armature: 1}", "needs exactly one of joint"),
        ("- {joint: a, body: b, mass: 1}", "needs exactly one of joint"),
        ("- {joint: a, armature: heavy}", "must be a finite number"),
        ("- [", "cannot be read"),
    ],
)
def test_bad_file_of_true_parameters_is_refused(tmp_path: Path, text: str, words: str):
    path = tmp_path / "truth.yaml"
    path.write_text(text)
    with pytest.raises(ExperimentError, match=words):
        read_true_parameters(path)


@pytest.mark.parametrize(
    ("element", "pattern", "attribute", "words"),
    [("joint", "elbo", "armature", "elbow"), ("joint", "elbow", "armatur", "armature")],
)
def test_unknown_names_are_answered_with_the_nearest(element, pattern, attribute, words):
    with pytest.raises(SysidError, match=words):
        build_true_model(ARM, [TrueParameter(element, pattern, attribute, 1.0)], 0.0005)


def test_rate_must_fit_the_timestep():
    with pytest.raises(ModelError, match="not a multiple of the timestep"):
        SimulatedRobot(mujoco.MjModel.from_xml_string(CART), rate=333.0)


def test_model_that_does_not_compile_is_named(tmp_path: Path):
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")
    with pytest.raises(ModelError, match=r"broken\.xml"):
        build_true_model(path, (), 0.001)
