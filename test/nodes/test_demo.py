# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The demo as a whole, with a shorter motion; its failures are loud and leave nothing running."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from patience import PATIENCE
from warm_start import WarmProcesses

from sysid_ros.nodes.demo import (
    ChildProcesses,
    DemoError,
    child_processes,
    demo_folder,
    free_domain,
    run,
    run_demo,
)
from sysid_ros.nodes.demo.run import what_was_said


def short_demo(tmp_path: Path) -> Path:
    """A copy of the demo that moves for a few seconds only, and says less often where it is."""
    folder = tmp_path / "demo"
    shutil.copytree(demo_folder(), folder)
    settings = folder / "demo.yaml"
    text = settings.read_text()
    for usual, here in ((r"duration: [\d.]+", "duration: 5.0"), ("rate: 500.0", "rate: 200.0")):
        text, count = re.subn(usual, here, text)
        assert count == 1
    settings.write_text(text)
    return folder


def test_hidden_parameters_are_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    output = tmp_path / "output"
    assert run_demo(output, short_demo(tmp_path)) == 0
    shown = capfd.readouterr().out
    assert shown.count(" ok") == 8
    (report,) = output.glob("results/*/report.html")
    assert str(report) in shown
    warnings = json.loads((report.parent / "result.json").read_text())["warnings"]
    assert not [one for one in warnings if "gap" in one or "clock" in one.lower()]
    (bag,) = (output / "bags").iterdir()
    assert (bag / "metadata.yaml").is_file()


def test_no_node_of_the_demo_gives_up_on_others_that_are_slow():
    """A machine with too much to do let them start 70 s apart; those that die are noticed."""
    settings = yaml.safe_load((demo_folder() / "demo.yaml").read_text())
    for node in ("identify", "sim_robot"):
        assert settings[f"/**/{node}"]["ros__parameters"]["patience"] >= PATIENCE


def test_process_that_dies_is_named_and_ends_the_compilation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    compilation = subprocess.Popen(["sleep", "infinity"])
    monkeypatch.setattr("sysid_ros.engine.derivatives.start_compiling", lambda: compilation)
    monkeypatch.setattr(run, "ChildProcesses", WarmProcesses)
    folder = short_demo(tmp_path)
    (folder / "arm.xml").write_text("<mujoco><broken/></mujoco>")
    with pytest.raises(DemoError, match=r"sim_robot ended with status 2(.|\n)*broken"):
        run_demo(tmp_path / "output", folder)
    assert compilation.poll() == -signal.SIGTERM


@pytest.mark.parametrize(
    ("logs", "shown"),
    [
        ({"recorder": ["[WARN] late"], "excite": ["Traceback", "ValueError: no"]}, "excite"),
        ({"recorder": ["[WARN] late"], "excite": ["[INFO] done"]}, "recorder"),
        ({"recorder": ["[INFO] on"], "excite": ["[INFO] done"]}, "no node complained"),
    ],
)
def test_node_at_fault_is_quoted_on_one_screen(
    tmp_path: Path, logs: dict[str, list[str]], shown: str
):
    for node, end in logs.items():
        lines = [*(f"[INFO] line {n}" for n in range(50)), *end]
        (tmp_path / f"{node}.log").write_text("\n".join(lines))
    said = what_was_said(ChildProcesses({}, tmp_path), logs)
    assert said.startswith(shown)
    assert len(said.splitlines()) <= 20
    if shown in logs:
        assert said.endswith(logs[shown][-1])


def test_process_that_does_not_end_is_killed_and_its_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(child_processes, "_GRACE", 0.1)
    with ChildProcesses(dict(os.environ), tmp_path) as children:
        deaf = "import signal; signal.signal(2, signal.SIG_IGN); print(flush=True); signal.pause()"
        process = children.start("deaf", ["timeit", deaf])
        while not (tmp_path / "deaf.log").read_text():
            time.sleep(0.01)
    assert process.returncode == -signal.SIGKILL
    assert "killed: it had not ended 0.1 s after SIGINT" in (tmp_path / "deaf.log").read_text()


def test_interrupted_demo_leaves_nothing_running(tmp_path: Path):
    """While its nodes start; for one that moves see below."""
    command = [sys.executable, "-m", "sysid_ros.nodes.demo", "--output", str(tmp_path)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that starts the tests in the background lets all of them ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as demo:
        deadline = time.monotonic() + PATIENCE
        while len(nodes := _nodes_of(demo.pid)) < 5:
            assert demo.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        demo.send_signal(signal.SIGINT)
        _, errors = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 6
    assert b"interrupted" in errors
    _wait_for_the_end_of(nodes)


def _nodes_of(demo: int) -> list[str]:
    """The processes of its nodes; that of the compilation comes and goes."""
    children = Path(f"/proc/{demo}/task/{demo}/children").read_text().split()
    programs = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children}
    return [pid for pid, program in programs.items() if b"sysid_ros.nodes." in program]


def test_interrupt_counts_that_a_library_swallows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    def interrupted() -> subprocess.Popen[bytes]:
        assert _log_once_it_says(tmp_path / "output", "excite.log", "running")
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return subprocess.Popen(["sleep", "infinity"])

    started = list[Any]()

    class Noted(WarmProcesses):
        def start(self, *arguments: Any, **options: Any) -> Any:
            started.append(super().start(*arguments, **options))
            return started[-1]

    folder = short_demo(tmp_path)
    monkeypatch.setattr("sysid_ros.engine.derivatives.start_compiling", interrupted)
    monkeypatch.setattr(run, "ChildProcesses", Noted)
    monkeypatch.setattr(run, "demo_folder", lambda: folder)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run.main(["--output", str(tmp_path / "output")]) == 6
    finally:
        signal.signal(signal.SIGINT, before)
    assert "interrupted" in capfd.readouterr().err
    assert len(started) == 5 and all(node.poll() is not None for node in started)
    assert not list(tmp_path.glob("output/*/results/*"))


def _wait_for_the_end_of(processes: list[str]) -> None:
    """Those that the system ends with their parent are there for a moment longer than it."""
    deadline = time.monotonic() + PATIENCE
    while left := [pid for pid in processes if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.01)


def _log_once_it_says(folder: Path, name: str, words: str) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for path in folder.glob(f"*/logs/{name}"):
            if words in path.read_text():
                return path.read_text()
        time.sleep(0.1)
    logs = {str(path.name): path.read_text() for path in folder.glob("*/logs/*")}
    raise AssertionError(f"{name} did not say {words!r}: {logs}")


def test_domains_are_valid_and_differ():
    with ExitStack() as held:
        domains = {held.enter_context(free_domain()) for _ in range(10)}
    assert len(domains) == 10
    assert all(0 < domain < 102 for domain in domains)
