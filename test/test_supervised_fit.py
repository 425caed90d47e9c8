# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The worker: real child processes that deliver, fail, refuse to stop and are killed."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from patience import PATIENCE

from sysid_ros.engine.least_squares.search_progress import FitStatus
from sysid_ros.errors import ErrorCode
from sysid_ros.fit_worker import FitRequest
from sysid_ros.results import read_results
from sysid_ros.supervised_fit import FitEnd, FitEvent, run_fit

TESTS = Path(__file__).resolve().parent


@pytest.fixture(autouse=True)
def _fits_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), str(TESTS.parent)]))


def request(tmp_path: Path) -> FitRequest:
    return FitRequest(str(tmp_path / "results"), experiment_file="experiment.yaml")


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_request_survives_json(tmp_path: Path):
    asked = FitRequest("out", "file", "text", ("a", "b"), True, ("fit.threads=2",), "data")
    assert FitRequest.from_json(asked.to_json()) == asked


def test_fit_delivers_its_files_and_reports_every_step(tmp_path: Path):
    events: list[FitEvent] = []
    end = run_fit(request(tmp_path), on_progress=events.append, program=("fits", "quick"))
    assert end.code is ErrorCode.NONE
    assert end.files is not None
    assert end.files.folder == tmp_path / "results" / "result"
    assert end.files.report is None
    assert [event.stage for event in events if event.stage] == ["fitting"]
    steps = [event.iteration for event in events if event.iteration]
    assert [step.iteration for step in steps] == [0, 1, 2]
    assert steps[2].names == ("mass", "damping")
    assert list(steps[2].values) == [3.0, 2.0]


def test_error_of_the_fit_arrives_with_its_code_and_sentence(tmp_path: Path):
    end = run_fit(request(tmp_path), program=("fits", "unusable"))
    assert (end.code, end.message) == (ErrorCode.DATA_UNUSABLE, "position[elbow] is constant")


def test_a_fit_stands_back_as_far_as_asked(tmp_path: Path):
    before = os.nice(0)
    end = run_fit(replace(request(tmp_path), nice=3), program=("fits", "considerate"))
    assert end.message == f"nice {before + 3}"
    assert os.nice(0) == before


def test_unexpected_exception_is_named(tmp_path: Path):
    end = run_fit(request(tmp_path), program=("fits", "broken"))
    assert end.code is ErrorCode.WORKER_DIED
    assert "ZeroDivisionError: division by zero" in end.message


def test_process_that_leaves_is_quoted(tmp_path: Path):
    end = run_fit(request(tmp_path), program=("fits", "leaves"))
    assert end.code is ErrorCode.WORKER_DIED
    assert "exit status 7" in end.message
    assert "native library: giving up" in end.message


def test_output_that_cannot_be_written_is_reported_before_any_work(tmp_path: Path):
    (tmp_path / "results").write_text("a file where the folder should be")
    end = run_fit(request(tmp_path), program=("fits", "quick"))
    assert end.code is ErrorCode.OUTPUT_UNWRITABLE
    assert str(tmp_path / "results") in end.message


GRACE = float(inspect.signature(run_fit).parameters["grace"].default)


def canceled_after_first_step(tmp_path: Path, function: str, grace: float = GRACE) -> FitEnd:
    """Run a fit and cancel it once it has reported a step."""
    started = threading.Event()

    def on_progress(event: FitEvent) -> None:
        if event.iteration is not None:
            started.set()

    return run_fit(
        request(tmp_path),
        on_progress=on_progress,
        should_cancel=started.is_set,
        grace=grace,
        program=("fits", function),
    )


def test_cancel_lets_an_obedient_fit_deliver(tmp_path: Path):
    end = canceled_after_first_step(tmp_path, "obedient", grace=PATIENCE)
    assert end.code is ErrorCode.NONE  # it said so itself
    assert end.files is not None


def test_cancel_ends_a_native_call_within_a_second(tmp_path: Path):
    assert GRACE < 1.0
    end = canceled_after_first_step(tmp_path, "native")  # would take an hour
    assert end.code is ErrorCode.CANCELED
    assert end.best is not None
    assert end.best.iteration == 1
    assert end.files is not None
    kept = read_results(end.files.folder)
    assert kept.fit.status is FitStatus.CANCELED
    assert kept.fit["mass"].value == 2.0
    assert list((tmp_path / "results").iterdir()) == [end.files.folder]


def test_a_fit_that_failed_is_not_said_to_have_been_canceled(tmp_path: Path):
    end = run_fit(request(tmp_path), program=("fits", "fails_later"))
    assert end.code is ErrorCode.DATA_UNUSABLE
    assert end.files is not None
    kept = read_results(end.files.folder)
    assert (kept.fit.status, kept.fit.message) == (FitStatus.INTERRUPTED, end.message)
    assert kept.fit["mass"].value == 2.0


def test_process_killed_from_outside_is_reported_with_its_signal(tmp_path: Path):
    def kill(event: FitEvent) -> None:
        name, _, value = event.stage.partition("=")
        if name == "pid":
            os.kill(int(value), signal.SIGKILL)

    end = run_fit(request(tmp_path), on_progress=kill, program=("fits", "reports_itself"))
    assert end.code is ErrorCode.WORKER_DIED
    assert "SIGKILL" in end.message
    assert end.files is None
    assert list((tmp_path / "results").iterdir()) == []


def test_child_has_not_imported_rclpy_and_ends_with_an_exception_of_the_caller(tmp_path: Path):
    stages: list[str] = []

    def on_progress(event: FitEvent) -> None:
        stages.append(event.stage)
        if event.stage.startswith("pid="):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_fit(request(tmp_path), on_progress=on_progress, program=("fits", "reports_itself"))
    assert stages[0] == "rclpy=False"
    assert not alive(int(stages[1].partition("=")[2]))


PARENT = """
import sys
from sysid_ros.fit_worker import FitRequest
from sysid_ros.supervised_fit import run_fit
run_fit(FitRequest(sys.argv[1]), on_progress=lambda p: print(p.stage or "step", flush=True),
        program=("fits", sys.argv[2]))
"""


@pytest.mark.parametrize("function", ["reports_itself", "native"])
def test_child_dies_with_its_parent(tmp_path: Path, function: str):
    command = [sys.executable, "-c", PARENT, str(tmp_path), function]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        waited_for = "pid=" if function == "reports_itself" else "step"
        while not parent.stdout.readline().startswith(waited_for):
            assert parent.poll() is None
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        assert len(children) == 1
        parent.kill()
    deadline = time.monotonic() + PATIENCE
    while alive(int(children[0])) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(int(children[0]))
