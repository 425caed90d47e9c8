# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The action server: real fits, bad goals, cancelled and killed children."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from demo_bag import true_parameters, write_demo_bag
from patience import PATIENCE
from pendulum_experiment import SLOW, TRUE, write_pendulum_experiment
from rclpy.action import ActionClient, GoalResponse
from rclpy.parameter import Parameter
from ros_client import LATCHED, RosClient
from ros_parameters import ros_parameters
from warm_start import WarmProcesses

from sysid_ros.engine.derivatives import COMPILING
from sysid_ros.nodes.demo import ChildProcesses, free_domain
from sysid_ros.nodes.fit_server.node import FitServer
from sysid_ros.results import read_results
from sysid_ros_interfaces.action import FitModel
from sysid_ros_interfaces.msg import IdentifiedParameters, Report

Result = FitModel.Result


class FitClient:
    """Sends goals and remembers feedback."""

    def __init__(self, client: RosClient) -> None:
        self.client = client
        self.feedback: list[FitModel.Feedback] = []
        self._action = ActionClient(client.node, FitModel, "/fit_server/fit")
        self.server_is_ready = self._action.server_is_ready
        client.wait_until(self.server_is_ready)

    @property
    def steps(self) -> list[FitModel.Feedback]:
        """Feedback that tells an iteration."""
        return [message for message in self.feedback if message.names]

    def send(self, **goal: Any) -> Any:
        """The handle of a goal, accepted or not."""
        sent = self._action.send_goal_async(
            FitModel.Goal(**goal), lambda message: self.feedback.append(message.feedback)
        )
        return self.client.result(sent)

    def result(self, handle: Any) -> Any:
        """Status and result of an accepted goal."""
        assert handle.accepted
        return self.client.result(handle.get_result_async())

    def fit(self, **goal: Any) -> Any:
        """Send a goal and wait for its end."""
        return self.result(self.send(**goal))


def start_server(
    nodes: ChildProcesses, tmp_path: Path, module: str = "sysid_ros.nodes.fit_server", **given: str
) -> subprocess.Popen[bytes]:
    # Without a process that waits for a next goal, which costs as much as a short fit.
    given = {"output_dir": str(tmp_path / "results"), "ahead": "false", **given}
    values = ros_parameters(given)
    return nodes.start("fit_server", [module, "--ros-args", *values])


@pytest.fixture
def fits(nodes: ChildProcesses, client: RosClient, tmp_path: Path) -> FitClient:
    """A server that runs functions of the module ``fits`` by the name given as experiment."""
    start_server(nodes, tmp_path, "fit_server_of_fits")
    return FitClient(client)


def children(process: subprocess.Popen[bytes]) -> list[int]:
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def test_goal_identifies_the_robot_and_tells_everyone(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    bag = write_demo_bag(tmp_path / "bags", duration=6.0)
    start_server(nodes, tmp_path, threads="2", experiment_dir=str(demo_files), ahead="true")
    fit = FitClient(client)
    goal = {"experiment_file": "experiment.yaml", "bags": [str(bag)]}
    end = fit.fit(**goal, overrides=["windows.length=2.0"])
    result = end.result
    assert (end.status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.NONE), result
    assert result.status == "CONVERGED"
    identified = {parameter.name: parameter for parameter in result.parameters.parameters}
    for true in true_parameters():
        assert identified[true.name].value == pytest.approx(true.value, rel=0.05)
        assert identified[true.name].interval_low < identified[true.name].interval_high
    assert result.cost_final < result.cost_initial
    assert result.holdout_rmse < 0.3 * result.holdout_rmse_initial
    assert len(result.parameters.data_hash) == 64
    for path in (result.report_file, result.model_file):
        assert Path(path).is_file()
    assert read_results(result.result_dir).fit["payload_mass"].unit == "kg"

    assert fit.feedback[0].stage == "starting"
    stages = list(dict.fromkeys(message.stage for message in fit.feedback))
    # Compiling is told only where it was not done before.
    stages = [stage for stage in stages if not stage.startswith(COMPILING)]
    assert stages[1:] == ["reading recordings", "fitting", "scoring", "writing results"]
    assert len({message.iteration for message in fit.steps}) >= 3
    assert set(fit.steps[0].names) == set(identified)
    assert all(0.0 <= message.progress <= 1.0 for message in fit.feedback)
    assert [m.progress for m in fit.feedback] == sorted(m.progress for m in fit.feedback)
    assert any(m.stage == "reading recordings" and m.progress > 0.0 for m in fit.feedback)

    latched = client.collect(IdentifiedParameters, "/fit_server/identified_parameters", LATCHED)
    reports = client.collect(Report, "/fit_server/report", LATCHED)
    client.wait_until(lambda: latched and reports)  # although they were published before
    assert latched[0] == result.parameters
    assert reports[0].url == Path(result.report_file).as_uri()


# That others end with theirs: test_fit_worker.py.
BAD_GOALS: list[tuple[dict[str, Any], int, str]] = [
    (
        {"experiment_file": "experiment.yaml", "bags": ["/nowhere"]},
        Result.BAG_UNREADABLE,
        "/nowhere",
    ),
    (
        {"experiment_file": "experiment.yaml", "overrides": ["modifiers=os:system"]},
        Result.INVALID_EXPERIMENT,
        "allow_hooks",
    ),
]


def test_bad_goals_end_with_their_codes_and_a_sentence(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    start_server(nodes, tmp_path, experiment_dir=str(demo_files))
    fit = FitClient(client)
    for goal, code, words in BAD_GOALS:
        end = fit.fit(**goal)
        assert (end.status, end.result.error_code) == (GoalStatus.STATUS_ABORTED, code), end.result
        assert words in end.result.error_msg
        assert list((tmp_path / "results").iterdir()) == []  # nothing half-written


def test_output_that_cannot_be_written(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    (tmp_path / "results").write_text("a file")
    start_server(nodes, tmp_path)
    end = FitClient(client).fit(experiment_yaml="model: a.xml")
    assert end.result.error_code == Result.OUTPUT_UNWRITABLE


def test_cancel_ends_a_native_call_of_an_hour_and_keeps_the_best(fits: FitClient):
    handle = fits.send(experiment_yaml="native")
    fits.client.wait_until(lambda: len(fits.steps) >= 4)  # it is told again, while nothing moves
    answer = fits.client.result(handle.cancel_goal_async())
    end = fits.result(handle)
    assert len({step.iteration for step in fits.steps}) == 1
    assert len(answer.goals_canceling) == 1
    assert end.status == GoalStatus.STATUS_CANCELED
    assert (end.result.error_code, end.result.status) == (Result.CANCELED, "CANCELED")
    assert {p.name: p.value for p in end.result.parameters.parameters}["mass"] == 2.0
    assert (Path(end.result.result_dir) / "parameters.yaml").is_file()
    assert fits.fit(experiment_yaml="unusable").result.error_code == Result.DATA_UNUSABLE


def test_second_goal_is_rejected_while_one_runs(fits: FitClient):
    first = fits.send(experiment_yaml="native")
    fits.client.wait_until(lambda: fits.steps)
    assert not fits.send(experiment_yaml="unusable").accepted
    fits.client.result(first.cancel_goal_async())
    fits.result(first)
    assert fits.fit(experiment_yaml="unusable").result.error_code == Result.DATA_UNUSABLE


@pytest.mark.usefixtures("ros_environment")
def test_a_client_that_has_gone_before_it_was_answered_keeps_no_other_out(tmp_path: Path):
    """rclpy asks for a goal, cannot answer, and never begins it."""
    with RosClient() as client:
        settings = {"output_dir": str(tmp_path), "ahead": False}
        given = [Parameter(name, value=value) for name, value in settings.items()]
        server = FitServer(context=client.node.context, parameter_overrides=given)
        for _ in range(2):
            assert server._on_goal(FitModel.Goal()) == GoalResponse.ACCEPT
        assert server.ready_to_end()
        server.destroy_node()


def test_killed_child_is_reported_and_the_next_goal_runs(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    server = start_server(nodes, tmp_path, "fit_server_of_fits")
    fits = FitClient(client)
    handle = fits.send(experiment_yaml="native")
    client.wait_until(lambda: fits.steps)
    (child,) = children(server)
    os.kill(child, signal.SIGKILL)
    end = fits.result(handle)
    assert end.status == GoalStatus.STATUS_ABORTED
    assert end.result.error_code == Result.WORKER_DIED
    assert "SIGKILL" in end.result.error_msg
    assert end.result.status == "INTERRUPTED"  # nobody canceled it
    assert {p.name: p.value for p in end.result.parameters.parameters}["mass"] == 2.0
    assert server.poll() is None
    assert fits.fit(experiment_yaml="unusable").result.error_code == Result.DATA_UNUSABLE


def test_a_goal_is_looked_at_while_the_process_of_the_next_fit_still_compiles(
    ros_environment: dict[str, str], tmp_path: Path
):
    told = tmp_path / "compiling"
    compiling = {**ros_environment, "COMPILING": str(told)}
    with WarmProcesses(compiling, tmp_path / "logs") as nodes, RosClient() as client:
        server = start_server(nodes, tmp_path, "fit_server_of_fits", ahead="true")
        fits = FitClient(client)
        client.wait_until(told.exists)
        (compiler,) = children(server)
        handle = fits.send(experiment_yaml="unusable")
        end = fits.result(handle)
        assert end.result.error_code == Result.DATA_UNUSABLE
        assert compiler in children(server)  # it goes on


def test_server_that_is_asked_to_end_ends_its_fit(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    server = start_server(nodes, tmp_path, "fit_server_of_fits")
    fits = FitClient(client)
    fits.send(experiment_yaml="native")
    client.wait_until(lambda: fits.steps)
    (child,) = children(server)
    server.send_signal(signal.SIGINT)
    assert server.wait(timeout=PATIENCE) == 0
    assert not Path(f"/proc/{child}").exists()


def test_a_fit_survives_its_server(
    ros_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    experiment = write_pendulum_experiment(tmp_path / "pendulum", duration=3.0)
    (experiment.parent / "slow_hook.py").write_text(SLOW)
    experiment.write_text(experiment.read_text() + "modifiers: slow_hook:add\n")
    goal = {
        "experiment_file": str(experiment),
        "overrides": ["fit.landscapes=0", "fit.model_error=false"],
    }
    results = tmp_path / "results"

    slow = {**ros_environment, "SLOW": "0.02"}
    with WarmProcesses(slow, tmp_path / "killed") as nodes, RosClient() as client:
        first = start_server(nodes, tmp_path, allow_hooks="true")
        fit = FitClient(client)
        refused = fit.fit(**goal, resume=True).result
        assert refused.error_code == Result.INVALID_EXPERIMENT
        assert "there is no interrupted fit" in refused.error_msg
        fit.send(**goal)
        client.wait_until(lambda: fit.steps and fit.steps[-1].iteration >= 2)
        first.kill()
        first.wait()
    (left,) = results.iterdir()

    # In a domain of its own, as the old one holds what was killed for alive for 20 s.
    with free_domain() as domain:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        again = {**ros_environment, "ROS_DOMAIN_ID": str(domain)}
        with WarmProcesses(again, tmp_path / "logs") as nodes, RosClient() as client:
            start_server(nodes, tmp_path, allow_hooks="true")
            fit = FitClient(client)
            end = fit.fit(**goal, resume=True)
    assert end.result.error_code == Result.NONE, end.result
    assert fit.steps[0].iteration >= 2  # not from the start
    identified = {p.name: p for p in end.result.parameters.parameters}
    for name, truth in TRUE.items():
        assert identified[name].value == pytest.approx(truth, rel=0.02)
    assert identified["pivot_armature"].initial == 0.1
    assert not left.exists()
