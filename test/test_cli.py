# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The command line: a fit from bags to a result folder, and one sentence for each bad input."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE
from pendulum_experiment import TRUE, write_pendulum_bag, write_pendulum_experiment

import sysid_ros
from sysid_ros.cli import EXIT_ABORTED, EXIT_INTERNAL, main
from sysid_ros.commands import demo
from sysid_ros.commands.common import EXIT_USAGE
from sysid_ros.errors import ErrorCode

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "sysid_ros"]

# A hook that makes every compilation of the model slow, so that a fit can be interrupted.
SLOW = """\
import time

from sysid_ros.engine.parameters.parameter import Parameter

def add(parameters, spec):
    def write(spec, parameter):
        time.sleep(0.05)
    parameters.add(Parameter("nothing", 0.5, 0, 1, modifier=write))
"""


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment whose truth is known."""
    return write_pendulum_experiment(tmp_path_factory.mktemp("pendulum"))


@pytest.fixture(scope="module")
def fitted(experiment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result folder of that experiment."""
    output = tmp_path_factory.mktemp("results")
    assert main(["fit", str(experiment), "--output", str(output), "--quiet"]) == 0
    (folder,) = output.iterdir()
    return folder


def start(*arguments: object, **settings: object) -> subprocess.Popen[str]:
    """The command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **settings,  # type: ignore[call-overload]
    )


def test_a_fit_finds_the_hidden_parameters(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(experiment), "--output", str(tmp_path), "--threads", "1"]) == 0
    (folder,) = tmp_path.iterdir()
    result = json.loads((folder / "result.json").read_text())
    for name, truth in TRUE.items():
        assert result["parameters"][name]["value"] == pytest.approx(truth, rel=0.02)
    assert result["validation"]["rmse_all"] < 0.1 * result["validation"]["rmse_all_initial"]
    assert "2023-11-14T22:13:20+00:00" in result["provenance"].values()  # of the first bag
    assert {"parameters.yaml", "model.xml", "residuals.npz", "report.html"} <= {
        file.name for file in folder.iterdir()
    }
    shown = capsys.readouterr()
    assert re.search(
        r"^pivot_armature +0\.1 +0\.0(19|20)\d* +0\.0\d+ \.\. 0\.0\d+", shown.out, re.M
    )
    assert f"report:  {folder / 'report.html'}" in shown.out
    assert "iteration 1: cost " in shown.err
    assert "\x1b" not in shown.out + shown.err


def test_checks_that_are_asked_for_are_part_of_the_result(experiment: Path, tmp_path: Path) -> None:
    asked = ["--bias-check", "--window-check", "--set", "fit.landscapes=1"]
    assert main(["fit", str(experiment), "--output", str(tmp_path), "--quiet", *asked]) == 0
    (folder,) = tmp_path.iterdir()
    result = json.loads((folder / "result.json").read_text())
    check = result["bias_check"]
    assert [refit["change"] for refit in check["refits"]] == [
        "half the time step",
        "windows of 0.5 s",
        "a velocity filter of 15 Hz",
    ]
    assert check["names"] == list(result["parameters"])
    assert result["landscapes"][0]["x_name"] in check["names"]
    windows = result["window_check"]["estimates"]
    assert len(windows) >= 4 and all(each["error"] > 0.0 for each in windows)
    assert "Windows and halves" in (folder / "report.html").read_text()


def test_json_prints_the_result_and_nothing_else(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(experiment), "--output", str(tmp_path), "--json"]) == 0
    (folder,) = tmp_path.iterdir()
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((folder / "result.json").read_text())


def test_quiet_prints_nothing(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    assert main([*arguments, "--set", "fit.max_iterations=1"]) == ErrorCode.NOT_CONVERGED
    assert capsys.readouterr() == ("", "")
    (folder,) = tmp_path.iterdir()
    assert json.loads((folder / "result.json").read_text())["status"] == "MAX_ITERATIONS"


def test_a_bag_from_the_shell_joins_the_experiments(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pendulum_bag(tmp_path / "third", seed=3)
    monkeypatch.chdir(tmp_path)
    assert main(["fit", str(experiment), "--output", "out", "--quiet", "--bag", "third"]) == 0
    (folder,) = Path("out").iterdir()
    assert {"first", "third"} <= set(json.loads((folder / "result.json").read_text())["hashes"])


def test_bags_are_found_under_the_data_folder(experiment: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone" / "experiment.yaml"
    alone.parent.mkdir()
    alone.write_text(experiment.read_text())
    output = tmp_path / "out"
    arguments = ["fit", str(alone), "--data", str(experiment.parent), "--output", str(output)]
    assert main([*arguments, "--quiet"]) == 0


def test_a_terminal_gets_a_progress_bar(experiment: Path, tmp_path: Path) -> None:
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "fit", str(experiment), "--output", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=writer,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(writer)
    shown = b""
    while chunk := _read(reader):
        shown += chunk
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert b"\x1b[" in shown and "━".encode() in shown and b"/100" in shown
    assert b"pivot_armature" in output and b"\x1b" not in output


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # Linux's answer when the other end of a terminal is closed
        return b""


def wait_for_line(process: subprocess.Popen[str], beginning: str) -> list[str]:
    """Lines of standard error up to the first with this beginning."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith(beginning):
            return lines
    raise AssertionError(f"it ended without {beginning!r}: {''.join(lines)}")


@pytest.fixture
def endless(experiment: Path, tmp_path: Path) -> Path:
    """An experiment whose fit is slow enough to be interrupted."""
    file = write_pendulum_experiment(tmp_path / "endless", duration=20.0)
    (file.parent / "slow.py").write_text(SLOW)
    file.write_text(file.read_text() + "modifiers: slow:add\n")
    return file


def test_an_interrupt_keeps_the_best_parameters(endless: Path, tmp_path: Path) -> None:
    process = start("fit", endless, "--output", tmp_path / "out")
    wait_for_line(process, "iteration 1:")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == ErrorCode.CANCELED
    (folder,) = (tmp_path / "out").iterdir()
    assert "stopping; the best parameters so far are kept" in errors
    assert f"stopped by request; the best parameters so far are in {folder}" in errors
    assert "pivot_damping" in output
    result = json.loads((folder / "result.json").read_text())
    assert result["status"] == "CANCELED"
    assert result["parameters"]["pivot_damping"]["value"] < 0.5  # where it started


def test_a_second_interrupt_aborts_and_leaves_nothing(endless: Path, tmp_path: Path) -> None:
    process = start("fit", endless, "--output", tmp_path / "out")
    wait_for_line(process, "iteration 0:")
    process.send_signal(signal.SIGINT)
    wait_for_line(process, "stopping;")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == EXIT_ABORTED
    assert "Traceback" not in errors
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


BAD = [
    ("set", ["sequences=[bags/frst]"], ErrorCode.BAG_UNREADABLE,
     r"bag 'bags/frst' not found; looked for .*bags/frst; nearest there: 'first'"),
    ("set", ["model=pendulm.xml"], ErrorCode.INVALID_MODEL,
     r"model 'pendulm.xml' not found; .*'pendulum.xml'"),
    ("set", ["signals[1].topic=/joint_state"], ErrorCode.BAG_UNREADABLE,
     r"'/joint_state'.*'/joint_states'"),
    ("set", ["signals[1].field=position[pivt]"], ErrorCode.DATA_UNUSABLE, r"'pivt'.*'pivot'"),
    ("set", ["signals[1].sensor=angel"], ErrorCode.INVALID_MODEL,
     r"unknown sensor 'angel'; nearest: 'angle'"),
    ("set", ["signals[0].actuator=moter"], ErrorCode.INVALID_MODEL,
     r"unknown actuator 'moter'; nearest: 'motor'"),
    ("set", ["parameters[0].joint=pivt"], ErrorCode.INVALID_EXPERIMENT,
     r"unknown joint 'pivt'; nearest: 'pivot'"),
    ("set", ["parameters[0].armature.min=0.15"], ErrorCode.INVALID_EXPERIMENT,
     r"armature of joint 'pivot' starts at 0.1 \(the model's value\), outside its bounds"),
    ("set", ["parameters[0].armature.min=3"], ErrorCode.INVALID_EXPERIMENT,
     r"min \(3\) is above max \(0.2\)"),
    ("set", ["parameters[0].armatur={}"], ErrorCode.INVALID_EXPERIMENT, r"nearest: 'armature'"),
    ("bag", {"nan": True}, ErrorCode.DATA_UNUSABLE,
     r"not a number in 1 of 1200 samples, first at 0.250 s"),
    ("bag", {"constant": True}, ErrorCode.DATA_UNUSABLE, r"constant"),
    ("bag", {"joint": "hinge"}, ErrorCode.DATA_UNUSABLE, r"'pivot'.*hinge"),
    ("bag", {"duration": 0.01}, ErrorCode.DATA_UNUSABLE, r"sample|window"),
    ("model", "<mujoco><worldbody><body/></worldbody></mujoco", ErrorCode.INVALID_MODEL,
     r"does not compile"),
    ("model", "<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>",
     ErrorCode.INVALID_MODEL, r"does not compile.*mass"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "change", "code", "pattern"), BAD, ids=[f"{b[0]}-{str(b[1])[:30]}" for b in BAD]
)
def test_bad_input_gets_one_sentence_and_its_code(
    experiment: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    what: str,
    change: object,
    code: ErrorCode,
    pattern: str,
) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path / "out")]
    if what == "set":
        assert isinstance(change, list)
        arguments += [part for setting in change for part in ("--set", setting)]
    elif what == "bag":
        assert isinstance(change, dict)
        write_pendulum_bag(tmp_path / "bad", **change)
        arguments += ["--set", f"sequences=[{tmp_path / 'bad'}]"]
    else:
        (tmp_path / "bad.xml").write_text(str(change))
        arguments += ["--set", f"model={tmp_path / 'bad.xml'}"]
    assert main(arguments) == code
    errors = capsys.readouterr().err.splitlines()
    sentences = [line for line in errors if line.startswith("sysid_ros: ")]
    assert len(sentences) == 1
    assert re.search(pattern, "\n".join(errors[errors.index(sentences[0]) :]))
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_an_output_that_is_a_file_is_refused_before_any_work(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    arguments = ["fit", str(experiment), "--output", str(tmp_path / "file")]
    assert main(arguments) == ErrorCode.OUTPUT_UNWRITABLE
    shown = capsys.readouterr().err
    assert str(tmp_path / "file") in shown
    assert "fitting" not in shown
    assert (tmp_path / "file").read_text() == "mine"


def test_an_experiment_without_recordings_is_refused(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["fit", str(experiment), "--set", "sequences=[]"])
    assert code == ErrorCode.INVALID_EXPERIMENT
    assert "or name them with --bag" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit", "absent.yaml"], "cannot read the experiment file absent.yaml: No such file"),
        (["fit", "absent.yaml", "--data", "nowhere"], "--data nowhere: there is no such folder"),
        (["info", "nowhere"], "nowhere"),
        (["report", "nowhere"], "nowhere"),
    ],
)
def test_what_is_not_there_is_named(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 < main(arguments) < EXIT_USAGE
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["fot"], ["fit"], ["fit", "a.yaml", "--threads", "x"], ["info", "a", "b"]]
)
def test_wrong_usage_has_a_status_of_its_own(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == EXIT_USAGE
    assert "try --help" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit", "a.yaml", "--workes", "2"], "unknown option '--workes'; nearest: '--workers'"),
        (
            ["rehearse", "a.yaml", "--repeates=3"],
            "unknown option '--repeates'; nearest: '--repeats'",
        ),
        (["info", "a", "b"], "nothing more was expected, given 'b'"),
    ],
)
def test_what_a_command_does_not_know_is_refused_by_that_command(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    said = capsys.readouterr().err
    assert f"usage: sysid_ros {arguments[0]} " in said
    assert sentence in said


def test_internal_errors_are_one_line_or_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("sysid_ros.experiment.load_experiment", broken)
    assert main(["fit", "a.yaml"]) == EXIT_INTERNAL
    assert capsys.readouterr().err == (
        "sysid_ros: internal error: ZeroDivisionError: a bug; run with --debug for more\n"
    )
    with pytest.raises(ZeroDivisionError):
        main(["fit", "a.yaml", "--debug"])


def test_check_names_the_only_sensor_where_it_is_dead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_pendulum_experiment(tmp_path / "dead", duration=1.5)
    shutil.rmtree(file.parent / "bags" / "first")
    write_pendulum_bag(file.parent / "bags" / "first", constant=True, duration=1.5)
    assert main(["check", str(file)]) == ErrorCode.DATA_UNUSABLE
    assert "'angle' (/joint_states, position[pivot]) never changes" in capsys.readouterr().out


def test_an_interrupt_while_an_extension_is_imported_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        inner = ImportError("initialization failed")
        inner.__cause__ = KeyboardInterrupt()
        raise ImportError("initialization failed") from inner

    monkeypatch.setattr("sysid_ros.experiment.load_experiment", interrupted)
    assert main(["fit", "a.yaml"]) == EXIT_ABORTED
    assert capsys.readouterr().err == "sysid_ros: aborted\n"


def test_an_interrupt_that_a_callback_of_an_import_swallows_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def swallowing(*_: object, **__: object) -> None:
        lock = threading.Condition()  # as importlib's, of whose end a callback of Python is told
        watch = weakref.ref(lock, lambda _: signal.raise_signal(signal.SIGINT))
        del lock
        assert watch() is None
        time.sleep(PATIENCE)  # what the command would go on with

    monkeypatch.setattr("sysid_ros.experiment.load_experiment", swallowing)
    assert main(["fit", "a.yaml"]) == EXIT_ABORTED
    assert capsys.readouterr().err == "sysid_ros: aborted\n"


def test_output_that_nobody_can_have(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = ["info", str(experiment.parent / "bags" / "first")]
    with monkeypatch.context() as patched, Path("/dev/full").open("w") as full:
        patched.setattr(sys, "stdout", full)
        assert main(info) == ErrorCode.OUTPUT_UNWRITABLE
    with monkeypatch.context() as patched:  # as daemons have it
        patched.setattr(sys, "stdout", None)
        patched.setattr(sys, "stderr", None)
        assert main(info) == 0
        assert main(["info", "nothing"]) == ErrorCode.BAG_UNREADABLE


def test_info_lists_what_a_bag_holds(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = str(experiment.parent / "bags" / "first")
    assert main(["info", bag]) == 0
    assert re.search(r"/joint_states +sensor_msgs/msg/JointState +1200 ", capsys.readouterr().out)
    assert main(["info", bag, "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert {topic["name"]: topic["messages"] for topic in info["topics"]} == {
        "/joint_states": 1200,
        "/torque": 1200,
    }


def test_export_writes_the_mapped_signals(experiment: Path, tmp_path: Path) -> None:
    for name in ("arrays.npz", "table.csv"):
        arguments = ["export", str(experiment), "--bag", "bags/first"]
        assert main([*arguments, "--output", str(tmp_path / name)]) == 0
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as arrays:
        assert arrays["measured_data"].shape == (1200, 1)
        angle = arrays["measured_data"][:, 0]
    with (tmp_path / "table.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    np.testing.assert_allclose([float(row["angle"]) for row in rows], angle)


def test_export_names_the_suffixes_it_knows(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["export", str(experiment), "--bag", "bags/first", "--output"]
    assert main([*arguments, str(tmp_path / "a.txt")]) == ErrorCode.OUTPUT_UNWRITABLE
    assert ".npz or .csv" in capsys.readouterr().err


def test_a_report_is_written_anew(fitted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = fitted / "report.html"
    page.unlink()
    assert main(["report", str(fitted)]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert "pivot_armature" in page.read_text(encoding="utf-8")


def test_two_results_of_one_name_are_compared(fitted: Path, tmp_path: Path) -> None:
    twin = tmp_path / fitted.name
    twin.mkdir()
    for file in fitted.iterdir():
        if file.is_file():
            (twin / file.name).write_bytes(file.read_bytes())
    page = tmp_path / "comparison.html"
    assert main(["report", str(fitted), str(twin), "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert str(fitted) in text
    assert str(twin) in text


def test_a_reader_that_stops_early_is_no_error(experiment: Path) -> None:
    process = start("info", experiment.parent / "bags" / "first", "--json")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=PATIENCE) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""


def test_the_demo_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    assert main(["demo"]) == EXIT_USAGE
    assert "the demo needs ROS 2, but there is no Python module rclpy" in capsys.readouterr().err


def test_version_and_help_come_without_loading_the_simulator() -> None:
    process = start("--version")
    output, _ = process.communicate(timeout=PATIENCE)
    assert output == f"sysid_ros {sysid_ros.__version__}\n"
    assert not loaded_by("import sysid_ros.cli, sysid_ros.commands") & {"mujoco", "numpy", "yaml"}


def test_the_library_comes_without_what_only_some_of_it_needs() -> None:
    loaded = loaded_by("from sysid_ros.sysid import *")
    assert "mujoco" in loaded
    assert not loaded & {
        "numba",
        "rich",
        "jinja2",
        "PIL",
        "rosbags",
        "scipy.optimize",
        "scipy.stats",
    }


def test_results_are_read_and_evaluated_without_loading_tests_of_recordings() -> None:
    program = "import sysid_ros.comparison, sysid_ros.report"
    assert "sysid_ros.diagnosis" not in loaded_by(program)


def loaded_by(program: str) -> set[str]:
    """The modules that a program has loaded at its end."""
    told = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint('\\n' + ' '.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return set(told.stdout.splitlines()[-1].split())


def test_what_was_imported_is_not_searched_for_cycles_at_the_end() -> None:
    program = (
        "import atexit, gc\n"
        "atexit.register(lambda: print(gc.get_freeze_count()))\n"  # the first one is called last
        "from sysid_ros.cli import main\n"
        "main(['--version'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert int(done.stdout.split()[-1]) > 1000
