# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Garbage sent to the fit server costs an answer each, and neither memory nor the next goal."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from action_msgs.msg import GoalStatus
from demo_bag import write_demo_bag
from rclpy.action import ActionClient
from ros_client import RosClient
from ros_parameters import ros_parameters

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros_interfaces.action import FitModel

_GROWTH = 8_000_000  # bytes, of a hundred goals of up to 200 000 each


def resident(process: subprocess.Popen[bytes]) -> int:
    """Memory of a process, bytes."""
    pages = Path(f"/proc/{process.pid}/statm").read_text().split()[1]
    return 4096 * int(pages)


def garbage(number: int) -> FitModel.Goal:
    """Texts that mean nothing, from short to long."""
    rng = random.Random(number)
    size = rng.choice((1, 30, 3000, 100_000))
    text = "".join(
        chr(rng.choice((rng.randrange(32, 127), rng.randrange(0xA0, 0xD7FF)))) for _ in range(size)
    )
    return FitModel.Goal(
        experiment_yaml=text,
        bags=[f"/nowhere/{number}"],
        overrides=[text[:40]] if number % 2 else [],
    )


@pytest.mark.parametrize(
    ("bad", "good", "ahead"), [(4, 1, False), pytest.param(100, 20, True, marks=pytest.mark.slow)]
)
def test_garbage_is_answered_and_forgotten(
    nodes: ChildProcesses,
    client: RosClient,
    tmp_path: Path,
    demo_files: Path,
    bad: int,
    good: int,
    ahead: bool,
):
    bag = write_demo_bag(tmp_path / "bags", duration=4.0)
    given = ros_parameters(
        {"output_dir": tmp_path / "results", "experiment_dir": demo_files, "ahead": ahead}
    )
    server = nodes.start("fit_server", ["sysid_ros.nodes.fit_server", "--ros-args", *given])
    action = ActionClient(client.node, FitModel, "/fit_server/fit")
    client.wait_until(action.server_is_ready)

    def answer(goal: FitModel.Goal) -> tuple[int, FitModel.Result]:
        handle = client.result(action.send_goal_async(goal))
        assert handle.accepted
        end = client.result(handle.get_result_async())
        return end.status, end.result

    answer(garbage(0))
    before = resident(server)
    for number in range(1, bad):
        status, result = answer(garbage(number))
        assert status == GoalStatus.STATUS_ABORTED
        assert result.error_code and 0 < len(result.error_msg) < 2000
    if bad >= 100:  # a few are less than an allocator's pools
        assert resident(server) - before < _GROWTH
    for number in range(good):
        goal = FitModel.Goal(
            experiment_file="experiment.yaml",
            bags=[str(bag)],
            overrides=["fit.max_iterations=2", "windows.length=2.0"],
        )
        status, result = answer(goal)
        assert result.error_code in (FitModel.Result.NONE, FitModel.Result.NOT_CONVERGED), result
        assert len(result.parameters.parameters) == 8
        if number == 0:  # the first one loads what reads results
            before = resident(server)
    if bad >= 100:  # a few are less than an allocator's pools
        assert resident(server) - before < _GROWTH
    assert server.poll() is None
