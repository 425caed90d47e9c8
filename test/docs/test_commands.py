# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every command and every Python example in README and docs is run, or excused by name."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from docs_commands import PAGES, Command, commands_on
from docs_workshop import ROOT, make_workshop

from sysid_ros.cli import main
from sysid_ros.errors import ErrorCode

# Run by tests of their own.
PYTHON_ELSEWHERE = {"library.md", "friction.md"}
FINE = (ErrorCode.NONE, ErrorCode.NOT_CONVERGED)  # a limit on iterations is a limit

# Commands that no test can run, by their first words, and why.
EXCUSED = {
    "make": "targets are run by .ci/run or by hand",
    "rosdep": "installs packages",
    "colcon": "needs a ROS 2 installation",
    "python -m colcon": "needs a ROS 2 installation",
    "source": "changes the shell",
    "python3 -m venv": "installs packages",
    "pip": "installs packages",
    "ssh": "needs another machine",
    "sysid_ros view": "opens a window; run by test_viewer.py",
    "sysid_ros replay": "plays until it is ended; run by test_replay.py",
    "ros2": "services, actions, topics and nodes: test_documented_commands.py",
    "ros2 launch": "needs a ROS 2 installation; test_launch_files.py runs the files there",
    "ros2 bag": "needs a ROS 2 installation",
    "ros2 run rqt_plot": "opens a window",
    "python -m mujoco.viewer": "opens a window",
    "python -m benchmark": "takes long; run by make benchmark",
    ".venv/bin/python -m benchmark": "takes long; run by make benchmark",
    "python -m sysid_ros.engine.derivatives": "run by make setup",
    "sysid_ros fit experiment.yaml --log wandb": "logs to an account",
    "sysid_ros fit experiment.yaml --set fit.chunk=20": "many recordings: test_chunked_experiment",
}
EXAMPLE = "python examples/tx40/identify.py"
PROGRAMS = (
    "sysid_ros",
    "python -m sysid_ros",
    ".venv/bin/python -m sysid_ros",
    "diff",
    EXAMPLE,
    *EXCUSED,
)
# Fits of real recordings, and many fits after one another.
SLOW = (
    "examples/", "--models m1,m2", "--model m4", "bias_check=true", "sequences+=", "windows.length",
    "--trials", "--search", "rehearse experiment.yaml",
)  # fmt: skip
# What bounds the search of a command that would go on for a minute, and leaves out of fits what
# only adds to their reports.
_ALONE = ["--set", "fit.landscapes=0", "--set", "fit.model_error=false"]
BRIEFLY = {"design": ["--budget", "1"], "fit": _ALONE, "compare": _ALONE}

COMMANDS = [command for page in PAGES for command in commands_on(page, PROGRAMS)]


def as_parameter(command: Command) -> object:
    slow = any(part in command.text for part in SLOW)
    return pytest.param(command, id=str(command), marks=[pytest.mark.slow] if slow else [])


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workshop(tmp_path_factory.mktemp("workshop"))


@pytest.fixture
def workshop(
    prepared: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The folder that a page's commands run in, one after the other."""
    command = request.node.callspec.params["command"]
    folder = tmp_path_factory.getbasetemp() / f"page_{command.page.stem}"
    if not folder.exists():
        shutil.copytree(prepared, folder)
        for block in re.findall(r"```yaml\n(.*?)```", command.page.read_text(), re.DOTALL):
            _, declares, alternatives = block.partition("\nalternatives:")
            with (folder / "experiment.yaml").open("a") as file:
                file.write(declares + alternatives)
    with _inside(folder):
        yield folder


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 40
    assert {"README.md", "tutorial.md", "nodes.md"} <= {c.page.name for c in COMMANDS}


@pytest.mark.parametrize("command", [as_parameter(command) for command in COMMANDS])
def test_command(command: Command, workshop: Path, request: pytest.FixtureRequest) -> None:
    program = command.program(PROGRAMS)
    assert program, f"neither run nor excused: {command.text}"
    if program in EXCUSED:
        check_names(command)
        pytest.skip(EXCUSED[program])
    words = shlex.split(command.text, comments=True)
    if "--log" in words:
        pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    words = [filled(word, command, workshop, request) for word in words]
    if program == "diff":
        assert subprocess.run(words, check=False).returncode == 1  # they differ
        return
    if program == EXAMPLE:
        subprocess.run([sys.executable, *words[1:]], check=True)
        return
    arguments = words[len(program.split()) :]
    if arguments[0] == "init":
        named = arguments[arguments.index("--output") + 1 :] if "--output" in arguments else []
        Path([*named, "experiment.yaml"][0]).unlink(missing_ok=True)  # it never overwrites one
    with contextlib.ExitStack() as stack:
        if ">" in arguments:
            *arguments, _, output = arguments
            file = stack.enter_context(Path(output).open("w"))
            stack.enter_context(contextlib.redirect_stdout(file))
        assert main([*arguments, *BRIEFLY.get(arguments[0], [])]) in FINE


def filled(word: str, command: Command, workshop: Path, request: pytest.FixtureRequest) -> str:
    """A word of a command with its place-holders filled in."""
    if word.startswith("examples/"):
        return str(ROOT / word)
    if word == "FOLDER":
        if "examples/" not in command.text:
            return str(workshop)
        data = request.getfixturevalue("shared_data")
        return str(data / re.findall(r"examples/(\w+)", command.text)[0])
    made = sorted(Path("results").glob("2*"))  # by an earlier command of the page
    if made:
        word = word.replace("results/RESULT", str(made[-1]))
    word = word.replace("~/ws", str(workshop / "ws")).removeprefix("/path/")
    return {"BAG": "bags/motion_1", "DIR": "results"}.get(word, word)


def check_names(command: Command) -> None:
    """What a command that is not run names is there all the same."""
    words = shlex.split(command.text, comments=True)
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert words[1] in targets
    if words[:3] == ["ros2", "launch", "sysid_ros"]:
        text = (ROOT / "launch" / words[3]).read_text()
        text += (ROOT / "sysid_ros" / "nodes" / "launching.py").read_text()  # what all of them take
        for argument in (word.split(":=")[0] for word in words[4:]):
            declared = re.search(rf"\b{argument}\b\"?(=|: )", text)
            assert declared, f"{words[3]} has no argument {argument}"
    if words[:3] == ["ros2", "run", "sysid_ros"]:
        assert f"{words[3]} = " in (ROOT / "setup.py").read_text()
    for kind, name in re.findall(r"sysid_ros_interfaces/(srv|msg|action)/(\w+)", command.text):
        assert (ROOT / "sysid_ros_interfaces" / kind / f"{name}.{kind}").exists()
    if "-m benchmark" in command.text:
        module = re.findall(r"-m ([\w.]+)", command.text)[0].replace(".", "/")
        assert (ROOT / module).is_dir() or (ROOT / f"{module}.py").is_file()


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if "```python" in p.read_text() and p.name not in PYTHON_ELSEWHERE],
    ids=lambda page: page.name,
)
def test_python(page: Path, prepared: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    shutil.copytree(prepared / "results" / "RESULT", tmp_path, dirs_exist_ok=True)
    with _inside(tmp_path):
        exec(compile("\n".join(blocks), str(page), "exec"), {"__name__": page.stem})  # noqa: S102


def test_parameters_of_nodes_exist() -> None:
    """YAML examples of ROS parameters name what the nodes know."""
    known = (ROOT / "config" / "defaults.yaml").read_text()
    found = 0
    for page in PAGES:
        for block in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL):
            if "ros__parameters" not in block:
                continue
            for node, content in yaml.safe_load(block).items():
                assert f"\n{node}:" in known
                for name in content["ros__parameters"]:
                    found += 1
                    assert re.search(rf"^[ #]*{name}:", known, re.MULTILINE), name
    assert found
