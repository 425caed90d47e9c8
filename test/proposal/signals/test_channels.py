# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Numbers of topics as they are dated and joined in recordings of many habits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rosbags.typesys import get_types_from_msg

from sysid_ros.proposal.signals.channels import Channel, read_channels
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.recording.bags import BagFolder
from sysid_ros.recording.messages import is_command
from sysid_ros.rehearsal import messages

BEGIN = 1_750_000_000_000_000_000
TICKS = np.arange(50) * 20_000_000  # ns
NAMES = ["shoulder", "elbow"]
STATE = "sensor_msgs/msg/JointState"
COMMAND = "std_msgs/msg/Float64MultiArray"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
NOTHING = np.empty(0)


def written(folder: Path, rows: list[tuple[str, str, int, bytes]]) -> Path:
    """A bag of topics, types, times of publishing [ns after the beginning] and messages."""
    bag = BagFolder(folder, "bag", dated=False)
    kinds = dict.fromkeys((topic, kind) for topic, kind, _, _ in rows)
    places = {topic: bag.add_topic(messages.topic_of(topic, kind)) for topic, kind in kinds}
    for number, (topic, _, after, data) in enumerate(sorted(rows, key=lambda row: row[2])):
        sent = BEGIN + after
        bag.write(places[topic], data, log_ns=sent + 1000, publish_ns=sent, sequence=number)
    bag.close()
    return folder / "bag"


def states(stamps: np.ndarray) -> list[tuple[str, str, int, bytes]]:
    return [
        ("/joint_states", STATE, int(tick), messages.joint_state(
            int(stamp), NAMES, np.array([tick, -tick]) / 1e9, NOTHING, NOTHING))
        for tick, stamp in zip(TICKS, stamps, strict=True)
    ]  # fmt: skip


def read(bag: Path, *topics: str) -> dict[str, Channel]:
    return {one.field: one for one in read_channels([bag], topics)}


def test_what_nobody_can_compute_with_is_left_out(tmp_path: Path) -> None:
    values = np.where(np.arange(50) == 7, 1e308, np.sin(TICKS / 1e9))
    rows = [("/u", COMMAND, int(tick), messages.array(np.array([value])))
            for tick, value in zip(TICKS, values, strict=True)]  # fmt: skip
    found = read(written(tmp_path, rows), "/u")["data[0]"]
    (known,) = found.values
    assert len(known) == 49
    assert np.abs(known).max() <= 1.0


def test_stamps_that_nobody_filled_in_give_way_to_the_time_of_publishing(tmp_path: Path) -> None:
    found = read(written(tmp_path, states(0 * TICKS)), "/joint_states")["position[elbow]"]
    assert found.clock == "publish"
    assert np.allclose(found.times[0] - BEGIN / 1e9, TICKS / 1e9, atol=1e-6)
    stamped = read(written(tmp_path / "2", states(BEGIN + TICKS)), "/joint_states")
    assert stamped["position[elbow]"].clock == ""


def test_what_is_no_measurement_is_left_out(tmp_path: Path) -> None:
    rows = [
        ("/commands", COMMAND, int(tick), messages.array(np.array([value])))
        for tick, value in zip(TICKS, [1.0, np.nan, 1e300, -np.inf, 2.0], strict=False)
    ]
    assert read(written(tmp_path, rows), "/commands")["data[0]"].values[0].tolist() == [1.0, 2.0]


def test_angles_modulo_a_turn_are_joined_as_where_recordings_are_mapped(tmp_path: Path) -> None:
    """Their jumps were the fastest motion, and made windows five times as short."""
    angles = 9.0 * np.sin(3e-9 * TICKS)
    told = (angles + np.pi) % (2.0 * np.pi) - np.pi
    rows = [
        ("/joint_states", STATE, int(tick), messages.joint_state(
            BEGIN + int(tick), NAMES, np.array([one, 0.0]), np.array([one, 0.0]), NOTHING))
        for tick, one in zip(TICKS, told, strict=True)
    ]  # fmt: skip
    found = read(written(tmp_path, rows), "/joint_states")
    assert np.allclose(found["position[shoulder]"].values[0], angles)
    assert np.allclose(found["velocity[shoulder]"].values[0], told)


def test_commands_without_a_stamp_are_dated_by_the_simulation(tmp_path: Path) -> None:
    clock = "rosgraph_msgs/msg/Clock"
    types = messages.types()
    simulated = 12_000_000_000 + TICKS // 2  # at half the speed of the computer's clock
    rows = states(simulated)
    for tick, now in zip(TICKS, simulated, strict=True):
        time = types.types["builtin_interfaces/msg/Time"](*divmod(int(now), 10**9))
        data = bytes(types.serialize_cdr(types.types[clock](time), clock))
        rows.append(("/clock", clock, int(tick) - 1, data))
        rows.append(("/commands", COMMAND, int(tick), messages.array(np.array([tick / 1e9]))))
    found = read(written(tmp_path, rows), "/clock", "/commands", "/joint_states")
    assert np.allclose(found["data[0]"].times[0], simulated / 1e9)


def test_each_point_of_a_trajectory_counts_in_its_time(tmp_path: Path) -> None:
    types = messages.types()
    goal = types.deserialize_cdr(messages.trajectory(NAMES, np.zeros(2), 0), TRAJECTORY)
    goal.points = [
        types.deserialize_cdr(
            messages.trajectory(NAMES, np.array([k, -2.0 * k]), k * 10**9), TRAJECTORY
        ).points[0]
        for k in (1, 2, 4)
    ]
    whole = bytes(types.serialize_cdr(goal, TRAJECTORY))
    found = read(written(tmp_path, [("/goal", TRAJECTORY, 0, whole)]), "/goal")
    assert set(found) == {"points[*].positions[shoulder]", "points[*].positions[elbow]"}
    elbow = found["points[*].positions[elbow]"]
    assert np.allclose(elbow.times[0] - BEGIN / 1e9, [1.0, 2.0, 4.0], atol=1e-6)
    assert np.allclose(elbow.values[0], [-2.0, -4.0, -8.0])
    assert not elbow.held
    streamed = [
        ("/goal", TRAJECTORY, int(tick), messages.trajectory(NAMES, np.array([k, 0.0]), 10**7))
        for k, tick in enumerate(TICKS)
    ]
    found = read(written(tmp_path / "2", streamed), "/goal")
    assert found["points[-1].positions[shoulder]"].held


def test_when_a_trajectory_is_to_begin_tells_nothing_of_its_clock(tmp_path: Path) -> None:
    """It may be stamped by a clock that is not the recorder's, or be meant for later."""
    types = messages.types()
    goal = types.deserialize_cdr(messages.trajectory(NAMES, np.zeros(2), 10**9), TRAJECTORY)
    goal.header.stamp.sec = BEGIN // 10**9 + 20
    rows = [
        *states(BEGIN + TICKS),
        ("/goal", TRAJECTORY, 0, bytes(types.serialize_cdr(goal, TRAJECTORY))),
    ]
    found = read(written(tmp_path, rows), "/goal", "/joint_states")
    assert found["points[*].positions[elbow]"].behind is None
    assert abs(found["position[elbow]"].behind or 1.0) < 1e-3


def test_a_single_point_that_is_due_later_is_a_goal_and_no_step(tmp_path: Path) -> None:
    goals = [
        ("/goal", TRAJECTORY, k * 10**9, messages.trajectory(NAMES, np.array([k, 0.0]), 5 * 10**8))
        for k in range(3)
    ]
    found = read(written(tmp_path, goals), "/goal")["points[*].positions[shoulder]"]
    shown = np.interp([1.25, 1.75, 2.5], found.times[0] - BEGIN / 1e9, found.values[0])
    assert np.allclose(shown, [0.5, 1.0, 2.0], atol=1e-4)
    assert not found.held


def test_a_state_on_a_commands_topic_is_a_command_and_a_joints_name_no_quantity(
    tmp_path: Path,
) -> None:
    names, told = ["positioner_velo", "elbow"], np.array([0.1, 0.2])
    rows = [
        (topic, STATE, int(tick), messages.joint_state(BEGIN + int(tick), names, told, told, told))
        for topic in ("/joint_command", "/joint_states")
        for tick in TICKS
    ]
    found = read_channels([written(tmp_path, rows)], ["/joint_command", "/joint_states"])
    assert {(one.topic, one.command) for one in found} == {
        ("/joint_command", True), ("/joint_states", False),
    }  # fmt: skip
    assert {one.quantity for one in found if one.field.startswith("effort")} == {"effort"}


def test_a_robots_name_makes_its_states_no_commands() -> None:
    for topic in (
        "/target_arm/joint_states", "/goal_robot/imu", "/reference/odom", "/command/joint_states",
        "/mocap/target_1/pose", "/PSM1/measured_js", "/servo_states", "/servo/jp",
        "/action/joint_states", "/arm/_action/feedback", "/reaction", "/arm/commands/status",
        "/commands/joint_states",
    ):  # fmt: skip
        assert not is_command(STATE, "position[elbow]", topic), topic
    for topic in (
        "/joint_command", "/robot/isaac_joint_commands", "/arm/goal_2", "target",
        "/franka_state_controller/joint_states_desired",
        "/mavros/setpoint_position/local", "/set_points", "/PSM1/servo_jp", "/PSM1/move_jp",
        "/follower/action", "/policy/actions", "/left/commands/motor/speed",
    ):  # fmt: skip
        assert is_command(STATE, "position[elbow]", topic), topic


def test_the_status_of_a_drive_tells_what_it_measures_and_what_it_is_asked_for() -> None:
    kind, topic = "odrive_can/msg/ControllerStatus", "/left_wheel/controller_status"
    asked = {
        field: is_command(kind, field, topic)
        for field in ("pos_estimate", "vel_estimate", "torque_target", "iq_setpoint", "iq_measured")
    }
    assert [field for field, command in asked.items() if command] == [
        "torque_target",
        "iq_setpoint",
    ]
    assert is_command("odrive_can/msg/ControlMessage", "input_vel", "/left_wheel/control_message")


def test_what_another_node_adds_to_a_topic_later_and_seldom_is_found(tmp_path: Path) -> None:
    grip = messages.joint_state(BEGIN + 700_000_000, ["finger"], np.array([0.02]), NOTHING, NOTHING)
    rows = [*states(BEGIN + TICKS), ("/joint_states", STATE, 700_000_000, grip)]
    assert "position[finger]" in read(written(tmp_path, rows), "/joint_states")


@pytest.mark.parametrize("count", [4, 1, 100])
def test_messages_of_one_motor_each_are_an_array_of_all_that_answer(
    tmp_path: Path, count: int
) -> None:
    """As on a CAN bus; one that is alone, or whose id only counts, has no number of its own."""
    types, kind = messages.types(), "can_msgs/msg/MotorFeedback"
    if kind not in types.types:
        types.register(get_types_from_msg("uint8 motor_id\nfloat32 position\n", kind))
    rows = [
        (
            "/feedback", kind, 100 * tick + motor,
            bytes(types.serialize_cdr(types.types[kind](motor + 1, 10.0 * motor + tick), kind)),
        )
        for tick in range(3)
        for motor in reversed(range(count))
    ]  # fmt: skip
    found = read(written(tmp_path, rows), "/feedback")
    if count == 4:
        assert [one.index for one in found.values()] == [0, 1, 2, 3]
        assert found["position[motor_id=3]"].values[0].tolist() == [20.0, 21.0, 22.0]
        assert found["position[motor_id=3]"].quantity == "position"
    else:
        assert "position" in found and len(found["position"].values[0]) == 3 * count


@pytest.mark.parametrize(
    ("field", "others", "since", "name"),
    [
        ("name", "", 0, "grip"),
        ("joint_name", "", 0, "grip"),
        ("mode", "", 0, ""),
        ("name", "lift", 9, ""),
        ("name", "lift", 190, ""),  # nearly 4 s after the first
        ("name", "lift", 199, ""),  # in another recording
    ],
)
def test_a_message_with_a_name_is_of_what_it_names(
    tmp_path: Path, field: str, others: str, since: int, name: str
) -> None:
    """Where all messages have one; those of one and of another are told by no name."""
    types, kind = messages.types(), f"xs_msgs/msg/Single{field.title().replace('_', '')}"
    if kind not in types.types:
        types.register(get_types_from_msg(f"string {field}\nfloat32 cmd\n", kind))
    rows = [
        (
            "/commands/single", kind, 20_000_000 * tick,
            bytes(types.serialize_cdr(types.types[kind](given, 0.01 * tick), kind)),
        )
        for tick in range(400)
        for given in [others if others and tick > since else "grip"]
    ]  # fmt: skip
    bags = []
    for number, part in enumerate((rows[:200], rows[200:])):
        (tmp_path / str(number)).mkdir()
        bags.append(written(tmp_path / str(number), part))
    (cmd,) = read_channels(bags, ["/commands/single"])
    assert (cmd.field, cmd.name) == ("cmd", name)
    assert [len(values) for values in cmd.values] == [200, 200]


def test_a_count_of_time_dates_a_topic_where_it_does_in_all_recordings(tmp_path: Path) -> None:
    """A recording in which its clock was set would be refused by what init writes."""
    types, kind = messages.types(), "can_msgs/msg/Counted"
    if kind not in types.types:
        types.register(get_types_from_msg("uint32 time_ms\nfloat32 position\n", kind))
    bags = []
    for name, jump in (("even", 0), ("set", 400)):
        counts = 5000 + TICKS // 1_000_000 + jump * (np.arange(50) > 25)
        rows = [
            ("/counted", kind, int(tick), bytes(types.serialize_cdr(
                types.types[kind](int(count), 0.01 * count), kind)))
            for tick, count in zip(TICKS, counts, strict=True)
        ]  # fmt: skip
        (tmp_path / name).mkdir()
        bags.append(written(tmp_path / name, rows))
    for used, clock in ((bags[:1], "device"), (bags[1:], ""), (bags, ""), (bags[::-1], "")):
        assert {one.clock for one in read_channels(used, ["/counted"])} == {clock}


@pytest.mark.parametrize(
    ("definition", "ids", "fields"),
    [
        ("uint32 seq_id", lambda k: [k], {"seq_id", "position"}),
        ("uint8 mode_id", lambda k: [k // 30], {"mode_id", "position"}),
        ("int8 motor_id", lambda k: [k % 2 - 1], {"motor_id", "position"}),
        (
            "uint32 seq_id\nuint8 motor_id",
            lambda k: [k, k % 2],
            {f"{one}[motor_id={of}]" for one in ("seq_id", "position") for of in (0, 1)},
        ),
    ],
    ids=["counts", "lasts", "below zero", "beside a count"],
)
def test_ids_that_count_or_last_are_no_motors(tmp_path: Path, definition, ids, fields) -> None:
    """Each message would be of a motor of its own."""
    types, kind = messages.types(), f"can_msgs/msg/{''.join(filter(str.isalpha, definition))}"
    if kind not in types.types:
        types.register(get_types_from_msg(f"{definition}\nfloat32 position\n", kind))
    rows = [
        ("/reading", kind, int(tick), bytes(types.serialize_cdr(
            types.types[kind](*ids(number), 0.1 * number), kind)))
        for number, tick in enumerate(TICKS)
    ]  # fmt: skip
    assert read(written(tmp_path, rows), "/reading").keys() == fields


def test_letters_of_motors_say_what_they_are(tmp_path: Path) -> None:
    types, kind = messages.types(), "motor_msgs/msg/Motors"
    parts = {"motor_msgs/msg/Motor": "float32 q\nfloat32 dq\nfloat32 tau_est\nfloat32 kp\n"}
    for name, text in (*parts.items(), (kind, "motor_msgs/Motor[2] motors\n")):
        if name not in types.types:
            types.register(get_types_from_msg(text, name))
    motor = types.types["motor_msgs/msg/Motor"]
    data = [types.types[kind]([motor(k, 2.0 * k, -1.0, 5.0)] * 2) for k in (1.0, 2.0)]
    rows = [("/motors", kind, k, bytes(types.serialize_cdr(m, kind))) for k, m in enumerate(data)]
    found = read(written(tmp_path, rows), "/motors")
    assert {field: one.quantity for field, one in found.items() if "[1]" in field} == {
        "motors[1].q": "position", "motors[1].dq": "velocity", "motors[1].tau_est": "effort",
        "motors[1].kp": "",
    }  # fmt: skip
    assert found["motors[1].q"].index == 1


def test_letters_of_arrays_say_what_they_are_but_for_a_quaternion(tmp_path: Path) -> None:
    """As a Cheetah's leg control tells it; its q of four numbers would be PX4's orientation."""
    types, kind = messages.types(), "leg_msgs/msg/LegCommand"
    names = ("q_des", "qd_des", "tau_ff", "kp_joint")
    text = "".join(f"float32[6] {name}\n" for name in names) + "float32[4] q\n"
    if kind not in types.types:
        types.register(get_types_from_msg(text, kind))
    six, four = np.ones(6, np.float32), np.array([1.0, 0.0, 0.0, 0.0], np.float32)
    data = [types.types[kind](*[k * six] * 4, four) for k in (1.0, 2.0)]
    rows = [("/legs", kind, k, bytes(types.serialize_cdr(m, kind))) for k, m in enumerate(data)]
    found = read(written(tmp_path, rows), "/legs")
    assert {field: one.quantity for field, one in found.items() if "[3]" in field} == {
        "q_des[3]": "position", "qd_des[3]": "velocity", "tau_ff[3]": "effort",
        "kp_joint[3]": "", "q[3]": "",
    }  # fmt: skip


def test_a_set_point_without_another_word_is_a_position(tmp_path: Path) -> None:
    kind = "example_msgs/msg/JointControllerState"
    types = messages.types()
    if kind not in types.types:
        types.register(get_types_from_msg("float64 set_point\nfloat64 error\n", kind))
    data = bytes(types.serialize_cdr(types.types[kind](0.5, 0.1), kind))
    rows = [(f"/{name}/state", kind, 0, data) for name in ("elbow", "elbow_velocity")]
    found = read_channels([written(tmp_path, rows)], [topic for topic, _, _, _ in rows])
    assert [(one.field, one.quantity, one.command) for one in found] == [
        ("set_point", "position", True), ("error", "", False),
        ("set_point", "velocity", True), ("error", "velocity", False),
    ]  # fmt: skip


def test_states_of_controllers_of_many_joints_tell_what_each_was_asked_for(tmp_path: Path) -> None:
    part, kind = "example_msgs/msg/SingleDOFState", "example_msgs/msg/MultiDOFStateStamped"
    types = messages.types()
    texts = {part: "string name\nfloat64 reference\nfloat64 feedback\nfloat64 output\n",
             kind: "example_msgs/SingleDOFState[] dof_states\n"}  # fmt: skip
    for name, text in texts.items():
        if name not in types.types:
            types.register(get_types_from_msg(text, name))
    parts = [types.types[part](name, 0.5, 0.4, 9.0) for name in NAMES]
    data = bytes(types.serialize_cdr(types.types[kind](parts), kind))
    found = read(written(tmp_path, [("/pid/controller_state", kind, 0, data)]),
                 "/pid/controller_state")  # fmt: skip
    told = {one.field: (one.name, one.quantity, one.command) for one in found.values()}
    assert told["dof_states[elbow].reference"] == ("elbow", "position", True)
    assert told["dof_states[elbow].output"] == ("elbow", "effort", True)
    assert told["dof_states[elbow].feedback"] == ("elbow", "position", False)


def test_names_of_interfaces_say_what_they_are_of(tmp_path: Path) -> None:
    kind, types = "example_msgs/msg/InterfaceValue", messages.types()
    if kind not in types.types:
        text = "string[] interface_names\nfloat64[] values\n"
        types.register(get_types_from_msg(text, kind))
    names = ["elbow/position", "elbow/velocity", "io/pressure"]
    data = bytes(types.serialize_cdr(types.types[kind](names, np.array([0.5, 1.0, 2.0])), kind))
    found = read(written(tmp_path, [("/arm/values", kind, 0, data)]), "/arm/values")
    assert [(one.name, one.quantity) for one in found.values()] == [
        ("elbow/position", "position"), ("elbow/velocity", "velocity"), ("io/pressure", ""),
    ]  # fmt: skip


def test_words_within_others_are_no_quantities(tmp_path: Path) -> None:
    """A pose is no position, and neither travel nor a level a velocity."""
    kind, types = "example_msgs/msg/WheelFeedback", messages.types()
    words = {
        "measured_travel": "position", "tool_pose_x": "", "level": "", "joint_velocity": "velocity",
        "wheel_encoder": "position", "laser_distance": "position",
    }  # fmt: skip
    if kind not in types.types:
        types.register(get_types_from_msg("".join(f"float64 {one}\n" for one in words), kind))
    data = bytes(types.serialize_cdr(types.types[kind](*np.arange(6.0)), kind))
    found = read(written(tmp_path, [("/base/wheel", kind, 0, data)]), "/base/wheel")
    assert {field: one.quantity for field, one in found.items()} == words
    assert not any(one.command for one in found.values())


def test_feedback_and_telemetry_were_measured() -> None:
    for kind in ("kortex_driver/msg/BaseCyclic_Feedback", "rover_msgs/msg/WheelTelemetry"):
        assert not is_command(kind, "actuators[0].position", "/arm/base_cyclic")
        assert is_command(kind, "target_position", "/arm/base_cyclic")


@pytest.mark.parametrize(
    ("topic", "command"),
    [
        ("/xarm/robot_states", False),
        ("/arm/joint_feedback", False),
        ("/servos/present_ticks", False),
        ("/servos/actual", False),
        ("/arm/state_command", True),
        ("/state/motors", True),  # a namespace
        ("/statement", True),
    ],
)
def test_topics_of_states_and_feedback_have_no_commands(
    tmp_path: Path, topic: str, command: bool
) -> None:
    """In a proposal, which says so; an experiment file means what its message types say."""
    kind, types = "std_msgs/msg/Float64", messages.types()
    data = bytes(types.serialize_cdr(types.types[kind](1.0), kind))
    (one,) = read(written(tmp_path, [(topic, kind, 0, data)]), topic).values()
    assert one.command == command and is_command(kind, "data", topic)
    assert Line("effort", "elbow", one).interpolation == ("" if command else "linear")


def test_stamps_that_are_zero_in_some_messages_only_count_for_nothing(tmp_path: Path) -> None:
    """They lay fifty years before the others, and a window's grid over them took terabytes."""
    stamps = BEGIN + TICKS
    stamps[[0, 7]] = 0
    found = read(written(tmp_path, states(stamps)), "/joint_states")["position[elbow]"]
    assert np.allclose(found.times[0] - BEGIN / 1e9, np.delete(TICKS, [0, 7]) / 1e9, atol=1e-6)
    assert np.allclose(found.values[0], -np.delete(TICKS, [0, 7]) / 1e9)


def test_of_a_message_with_many_motors_the_quantities_are_read(tmp_path: Path) -> None:
    """A humanoid's ``LowState`` tells fourteen numbers of each of 35 motors."""
    motor, state = "maker_msgs/msg/Motor", "maker_msgs/msg/State"
    types = messages.types()
    for kind, text in (
        (motor, "float32 q\nfloat32 dq\nfloat32 tau_est\nint16[2] temperature\nuint32[9] reserve"),
        (state, "uint32 tick\nfloat32[3] gyroscope\nmaker_msgs/Motor[35] motor_state"),
    ):
        types.register(get_types_from_msg(text, kind))
    rows = []
    for tick in TICKS:
        motors = [
            types.types[motor](
                q=tick / 1e9 + k,
                dq=1.0,
                tau_est=0.1 * k,
                temperature=np.array([30, 31], np.int16),
                reserve=np.zeros(9, np.uint32),
            )
            for k in range(35)
        ]
        one = types.types[state](tick=0, gyroscope=np.zeros(3, np.float32), motor_state=motors)
        rows.append(("/lowstate", state, int(tick), bytes(types.serialize_cdr(one, state))))
    found = read(written(tmp_path, rows), "/lowstate")
    quantities = [found[f"motor_state[34].{letter}"].quantity for letter in ("q", "dq", "tau_est")]
    assert quantities == ["position", "velocity", "effort"]
    assert "gyroscope[2]" in found
    assert "motor_state[3].reserve[1]" not in found
