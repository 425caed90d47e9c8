# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The client: fits a bag without moving anything, waits for a person, gives up in words."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from demo_bag import write_demo_bag
from patience import PATIENCE
from rclpy.action import ActionServer
from rclpy.parameter import Parameter
from rclpy.task import Future
from ros_client import LATCHED, RosClient
from ros_parameters import ros_parameters
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

from sysid_ros.errors import DataError, ErrorCode, StopRequestedError
from sysid_ros.experiment import load_experiment, with_bags, with_overrides
from sysid_ros.judgement import MotionForecast, motion_digest, write_forecast
from sysid_ros.nodes.demo import ChildProcesses, node_arguments
from sysid_ros.nodes.fit_server import READING, REPLACE_SEQUENCES, failed_result
from sysid_ros.nodes.identify import identification
from sysid_ros.nodes.identify import node as identify_node
from sysid_ros.nodes.identify.identification import Identification, PeerError, PeerGoneError
from sysid_ros.nodes.identify.recorded_motion import RecordedMotion, refuse_unfit
from sysid_ros.recording.bags import open_recording, read_columns
from sysid_ros.recording.messages import parse_field
from sysid_ros_interfaces.action import FitModel
from sysid_ros_interfaces.srv import Stop


def start_identify(nodes: ChildProcesses, **parameters: str) -> subprocess.Popen[bytes]:
    values = ros_parameters(parameters)
    return nodes.start("identify", ["sysid_ros.nodes.identify", "--ros-args", *values])


def test_bag_is_fitted_without_a_robot(nodes: ChildProcesses, tmp_path: Path, demo_files: Path):
    bag = write_demo_bag(tmp_path / "bags", duration=6.0)
    results = tmp_path / "results"
    nodes.start(
        "fit_server", ["sysid_ros.nodes.fit_server", "--ros-args", "-p", f"output_dir:={results}"]
    )
    process = start_identify(nodes, experiment=str(demo_files / "experiment.yaml"), bag=str(bag))
    assert process.wait(timeout=PATIENCE) == 0
    log = (tmp_path / "logs" / "identify.log").read_text()
    (folder,) = results.iterdir()
    assert "payload_mass" in log and str(folder) in log
    assert "iteration 2" in log
    assert "recording the motion" not in log


def test_missing_node_is_named_when_patience_ends(
    nodes: ChildProcesses, tmp_path: Path, demo_files: Path
):
    process = start_identify(nodes, experiment=str(demo_files / "experiment.yaml"), patience="1.0")
    assert process.wait(timeout=PATIENCE) == 4
    log = (tmp_path / "logs" / "identify.log").read_text()
    assert "waited 1 s in vain for the action of the fit server" in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        ({"success": True, "messages": 1000, "lost": 10}, ""),
        ({"success": True, "messages": 1000, "lost": 11}, "lost 11 of 1011 messages"),
        ({"success": True, "messages": 32, "lost": 328}, "too many for a fit: images are large"),
        ({"success": False, "messages": 0, "lost": 0}, "recording failed: images are large"),
    ],
)
def test_recordings_that_lost_much_are_not_fitted(stopped: dict[str, Any], words: str):
    answer = Stop.Response(**stopped, message="images are large")
    with pytest.raises(DataError, match=words) if words else contextlib.nullcontext():
        refuse_unfit(answer)


@pytest.mark.parametrize("error", [StopRequestedError(), PeerError("no answer within 10 s")])
def test_what_was_asked_for_is_called_off_even_where_the_answer_is_missing(
    client: RosClient, monkeypatch: pytest.MonkeyPatch, error: BaseException
):
    calls: list[tuple[str, Any]] = []

    def call(service: Any, request: Any, timeout: float = 0.0) -> None:
        calls.append((service.name, getattr(request, "data", None)))
        raise error if len(calls) < 3 else PeerError("gone")

    node = Identification(context=client.node.context)
    for name in ("start", "stop", "arm"):
        peer = SimpleNamespace(name=name, service_is_ready=lambda: True)
        monkeypatch.setattr(node, f"_{name}", peer)
    monkeypatch.setattr(node, "_call", call)
    monkeypatch.setattr(node, "_spin", lambda seconds: None)
    for ask in (node._start_recording, node._arm_excitation):
        with pytest.raises(type(error)):
            ask()
    node.call_off()
    assert calls == [("start", None), ("arm", True), ("arm", False), ("stop", None)]
    node.close()


def moved(states: list[JointState]) -> float:
    """The largest way of any joint."""
    return float(np.ptp([state.position for state in states], axis=0).max())


def test_robot_moves_only_once_a_person_has_armed_it(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    arguments = node_arguments(demo_files, tmp_path)
    # By the wall clock the robot is seen to rest; in lock-step its time stands.
    arguments["sim_robot"] += ("-p", "lockstep:=0.0")
    arguments["excite"] += ("-p", "use_sim_time:=false")
    arguments["fit_server"] += ("-p", "ahead:=false")  # nothing is fitted
    for name in ("sim_robot", "excite", "recorder", "fit_server"):
        nodes.start(name, [f"sysid_ros.nodes.{name}", *arguments[name]])
    states = client.collect(JointState, "/joint_states")
    start_identify(nodes, experiment=str(demo_files / "experiment.yaml"))
    log = tmp_path / "logs" / "identify.log"
    client.wait_until(lambda: "once you arm it" in log.read_text())
    assert list((tmp_path / "bags").glob("*")) == []
    client.wait_until(lambda: len(states) > 100 and moved(states[-100:]) < 0.01)  # it has settled
    del states[:-1]
    client.wait_until(lambda: len(states) > 100)
    assert moved(states) < 0.05
    assert client.call(SetBool, "/excite/arm", SetBool.Request(data=True)).success
    client.wait_until(lambda: list((tmp_path / "bags").glob("*/*.mcap")))


def identifying(client: RosClient, **given: object) -> Identification:
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    return Identification(context=client.node.context, parameter_overrides=overrides)


def test_two_nodes_that_would_both_obey_are_refused(client: RosClient):
    def ignore(handle: Any) -> FitModel.Result:
        raise AssertionError("a goal was sent")

    servers = [ActionServer(client.node, FitModel, "/fit_server/fit", ignore) for _ in range(2)]
    node = identifying(client, bag="/bag", patience=0.0)
    service = "/fit_server/fit/_action/send_goal"
    client.wait_until(lambda: node._fit.server_is_ready() and node.count_services(service) == 2)
    said = "in vain for all nodes but one that offer /fit_server/fit to end"
    with pytest.raises(PeerError, match=said):
        node.wait_for_nodes([])
    node.close()
    for server in servers:
        server.destroy()


def test_a_fit_server_in_the_place_of_the_one_that_has_the_goal_is_not_waited_for(
    client: RosClient, monkeypatch: pytest.MonkeyPatch
):
    node = identifying(client, bag="/bag", experiment="/experiment.yaml")
    told = "/fit_server/fit/_action/status"
    first = client.node.create_publisher(GoalStatusArray, told, LATCHED)
    client.wait_until(lambda: len(node._fit_servers()) == 1)
    accepted: Future[Any] = Future()
    handle = SimpleNamespace(accepted=True, get_result_async=Future)
    accepted.set_result(handle)
    server = SimpleNamespace(
        send_goal_async=lambda goal, feedback_callback: accepted,
        server_is_ready=lambda: True,
        destroy=bool,
    )
    monkeypatch.setattr(node, "_fit", server)
    before = node._fit_servers()

    def spin(seconds: float) -> None:
        """As if the server were killed, and another started at once."""
        client.node.create_publisher(GoalStatusArray, told, LATCHED)
        client.wait_until(lambda: len(node._fit_servers()) == 2)
        client.node.destroy_publisher(first)
        client.wait_until(lambda: not before & node._fit_servers())

    monkeypatch.setattr(node, "_spin", spin)
    with pytest.raises(PeerError, match="has gone while it was fitting"):
        node.fit([RecordedMotion("bag")], lambda feedback: None)
    node.close()


def with_peers(
    node: Identification, monkeypatch: pytest.MonkeyPatch, gone: str = ""
) -> Identification:
    """A node whose services are there, but for one."""
    for name in ("arm", "start", "stop"):
        peer = SimpleNamespace(service_name=name, service_is_ready=lambda name=name: name != gone)
        monkeypatch.setattr(node, f"_{name}", peer)
    return node


@pytest.mark.parametrize("gone", ["arm", "stop"])
@pytest.mark.parametrize("state", ["running", "ready"])
def test_a_motion_is_not_awaited_where_a_node_has_gone_that_it_takes(
    client: RosClient, monkeypatch: pytest.MonkeyPatch, gone: str, state: str
):
    """It was waited for without end, or came and was recorded by nobody."""
    node = with_peers(identifying(client), monkeypatch, gone)
    node._motion = state
    turns = iter(range(3))
    monkeypatch.setattr(node, "_spin", lambda seconds: next(turns))
    with pytest.raises(PeerGoneError, match=f"the service {gone} has gone"):
        node._record_motion()
    monkeypatch.setattr(node, "_wait_for_arming", lambda: None)
    monkeypatch.setattr(node, "_start_recording", lambda: None)
    node._motion = "running"
    with pytest.raises(PeerGoneError, match=f"the service {gone} has gone"):
        node._record_motion()
    node.close()


@pytest.mark.parametrize("is_own", [False, True])
def test_a_motion_of_somebody_else_is_not_called_off(
    client: RosClient, monkeypatch: pytest.MonkeyPatch, is_own: bool
):
    """As where a second ``identify`` is refused, or interrupted, beside one that records."""
    node = with_peers(identifying(client), monkeypatch)
    calls: list[str] = []
    monkeypatch.setattr(node, "_call", lambda service, *_: calls.append(service.service_name))
    states = iter(["done", "running"] if is_own else ["running"])

    def spin(seconds: float) -> None:
        """The last state is heard together with the interrupt."""
        node._motion = next(states)
        if node._motion == "running":
            raise StopRequestedError

    node._motion = "running"
    monkeypatch.setattr(node, "_spin", spin)
    with pytest.raises(StopRequestedError):
        node._wait_for_arming()
    node.call_off()
    assert calls == (["arm"] if is_own else [])
    node.close()


def test_an_excite_that_begins_anew_in_mid_motion_is_not_waited_for(
    client: RosClient, monkeypatch: pytest.MonkeyPatch
):
    node = with_peers(identifying(client), monkeypatch)
    states = iter(["running", "waiting", "ready"])
    monkeypatch.setattr(node, "_spin", lambda seconds: setattr(node, "_motion", next(states)))
    monkeypatch.setattr(node, "_wait_for_arming", lambda: None)
    monkeypatch.setattr(node, "_start_recording", lambda: None)
    with pytest.raises(PeerError, match="begun anew while the robot was moving"):
        node._record_motion()
    node.close()


def test_a_motion_that_began_before_is_waited_for_and_not_recorded(
    client: RosClient, monkeypatch: pytest.MonkeyPatch
):
    node = with_peers(identifying(client), monkeypatch)
    seen: list[str] = []
    states = iter(["running", "done", "ready", "running"])

    def spin(seconds: float) -> None:
        node._motion = next(states)

    def start() -> None:
        seen.extend(states)
        raise PeerError("the test has seen enough")

    node._motion = "running"
    monkeypatch.setattr(node, "_spin", spin)
    monkeypatch.setattr(node, "_start_recording", start)
    with pytest.raises(PeerError, match="seen enough"):
        node._record_motion()
    assert seen == []  # it began with the second motion, not before
    node.close()


def test_a_server_that_fits_for_somebody_else_is_waited_for_before_anything_moves(
    client: RosClient, monkeypatch: pytest.MonkeyPatch
):
    node = Identification(context=client.node.context)
    awaited: dict[str, Callable[[], bool]] = {}
    monkeypatch.setattr(node, "_wait_for", awaited.__setitem__)
    node.wait_for_nodes(["motor"])
    assert any("to subscribe to /motor, as it does once somebody publish" in it for it in awaited)
    (idle,) = (awaited[what] for what in awaited if "end another fit" in what)
    told = "/fit_server/fit/_action/status"
    status = client.node.create_publisher(GoalStatusArray, told, LATCHED)
    assert idle()
    for state, is_over in ((GoalStatus.STATUS_EXECUTING, False), (GoalStatus.STATUS_ABORTED, True)):
        status.publish(GoalStatusArray(status_list=[GoalStatus(status=state)]))
        client.wait_until(lambda now=is_over: (node._spin(0.05), idle() is now)[1])
    client.node.destroy_publisher(status)
    node.close()


MOTION = "time,shoulder,elbow\n0,0,0\n0.5,{0},0.2\n1,0,0\n"


def test_several_motions_are_recorded_in_one_go_each_in_its_bag(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    goals: list[FitModel.Goal] = []

    def fitted(handle: Any) -> FitModel.Result:
        goals.append(handle.request)
        handle.abort()
        return failed_result(ErrorCode.DATA_UNUSABLE, "the test has seen enough")

    server = ActionServer(client.node, FitModel, "/fit_server/fit", fitted)
    motions = [tmp_path / f"{name}.csv" for name in "abc"]
    for way, motion in enumerate(motions):
        motion.write_text(MOTION.format(0.2 + 0.1 * way))
    unit = np.ones((1, 1))
    write_forecast(
        motions[1],
        MotionForecast(motion_digest(motions[1]), "measured torque", 2.0, ("payload_mass",), unit),
    )
    arguments = node_arguments(demo_files, tmp_path)
    listed = ", ".join(str(motion) for motion in motions)
    arguments["excite"] += ("-p", f"trajectories:=[{listed}]", "-p", "slow_pass:=0.5")
    arguments["excite"] += ("-p", "ramp:=0.3")
    arguments["sim_robot"] += ("-p", "rate:=100.0")  # so that messages are not most of the work
    for name in ("sim_robot", "excite", "recorder"):
        nodes.start(name, [f"sysid_ros.nodes.{name}", *arguments[name]])
    played = client.collect(String, "/excite/motion", LATCHED)
    process = start_identify(
        nodes, experiment=str(demo_files / "experiment.yaml"), arm="true", recordings="3",
        hold_out_last="true",
    )  # fmt: skip
    client.wait_until(lambda: process.poll() is not None, timeout=PATIENCE)
    log = (tmp_path / "logs" / "identify.log").read_text()
    assert "the test has seen enough" in log and "recording 3 of 3" in log
    assert [message.data for message in played] == [str(motion) for motion in motions]
    (goal,) = goals
    bags = sorted(str(path) for path in (tmp_path / "bags").iterdir())
    assert len(bags) == 3 and goal.bags == bags[:2]
    asked = with_overrides(
        with_bags(load_experiment(demo_files / "experiment.yaml"), goal.bags, replace=True),
        [item for item in goal.overrides if item != REPLACE_SEQUENCES],
    )
    assert [one.motion for one in asked.sequences] == [None, str(motions[1])]
    assert [one.bag for one in asked.validation.bags] == bags[2:]
    reached = []
    for bag in bags:
        with open_recording(Path(bag)) as recording:
            columns = read_columns(recording, {"/command": [parse_field("data[0]")]})
        reached.append(columns["/command"].values.max())
    np.testing.assert_allclose(reached, [0.2, 0.3, 0.4], atol=0.02)
    server.destroy()


@pytest.mark.usefixtures("signals")
def test_who_interrupts_twice_does_not_leave_the_robot_moving(monkeypatch: pytest.MonkeyPatch):
    def interrupt(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    def identify(node: object) -> int:
        interrupt()
        raise StopRequestedError

    called: list[str] = []
    stopping = SimpleNamespace(
        call_off=lambda: (interrupt(), called.append("called off")),
        close=lambda: called.append("closed"),
        canceled_status=42,
    )
    ros = SimpleNamespace(shutdown=lambda: None)
    for name, value in (("rclpy", ros), ("started", lambda *_: stopping)):
        monkeypatch.setattr(identify_node, name, value)
    monkeypatch.setattr(identify_node, "_identify", identify)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert identify_node.main([]) == 42
    assert called == ["called off", "closed"]


def interrupt_that_is_lost() -> None:
    """As one that comes while Python runs a callback."""
    with contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("signals", "ros_environment")
def test_interrupt_counts_that_a_library_swallows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def load(file: Path) -> Any:
        interrupt_that_is_lost()
        return SimpleNamespace(signals=(), fit=SimpleNamespace(max_iterations=1))

    monkeypatch.setattr(identify_node, "load_experiment", load)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    given = ["-p", "experiment:=/experiment.yaml", "-p", "patience:=1.0"]
    assert identify_node.main(["--ros-args", *given]) == ErrorCode.CANCELED
    assert "interrupted" in capsys.readouterr().err


def test_goal_is_canceled_whose_acceptance_is_not_heard_yet(
    client: RosClient, monkeypatch: pytest.MonkeyPatch
):
    canceled: list[bool] = []
    answer: Future[Any] = Future()
    handle = SimpleNamespace(
        accepted=True, cancel_goal_async=lambda: (canceled.append(True), answer)[1]
    )
    asked: list[bool] = []
    experiment = Parameter("experiment", value="/experiment.yaml")
    node = Identification(
        context=client.node.context,
        parameter_overrides=[experiment],
        is_to_end=lambda: bool(asked),
    )

    def send(goal: FitModel.Goal, feedback_callback: Any) -> Future[Any]:
        asked.append(True)
        return sent

    sent: Future[Any] = Future()
    server = SimpleNamespace(send_goal_async=send, server_is_ready=lambda: True, destroy=bool)
    monkeypatch.setattr(node, "_fit", server)
    with pytest.raises(StopRequestedError):
        node.fit([RecordedMotion("bag")], lambda feedback: None)
    sent.set_result(handle)
    answer.set_result(None)
    node.call_off()
    assert canceled == [True]
    node.close()


def test_a_recorder_that_ends_by_itself_is_not_waited_for(
    client: RosClient, monkeypatch: pytest.MonkeyPatch
):
    """As Ctrl-C reaches every node of a launch at once."""
    there = [True, True, True, False]
    said: list[str] = []
    monkeypatch.setattr(identification, "log_of", lambda node: SimpleNamespace(error=said.append))
    node = Identification(context=client.node.context)
    recorder = SimpleNamespace(
        service_name="/recorder/stop",
        service_is_ready=lambda: there.pop(0),
        call_async=lambda request: Future(),
    )
    monkeypatch.setattr(node, "_stop", recorder)
    node._recording = True
    node.call_off()
    assert not there and not said
    node.close()


def test_recordings_are_said_to_be_read_once_while_they_are_and_no_longer():
    told: list[float] = []
    shown = identify_node._Shown(SimpleNamespace(stage=lambda stage: None, reading=told.append))
    for stage, progress in (("reading", 0.0), ("reading", 0.5 * READING), ("compiling", READING)):
        for _ in range(2):  # the first of a stage tells that
            shown(FitModel.Feedback(stage=stage, progress=progress))
    assert told == pytest.approx([0.5])
