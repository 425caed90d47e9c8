# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""That the derivatives are being compiled is told, and then what goes on after it."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import numba
import pytest

from sysid_ros.engine.compiled import keeping, kept_code, turn
from sysid_ros.engine.derivatives import COMPILING, compilation_told

OURS = "sysid_ros.engine.derivatives.anything"


def twice(x: float) -> float:
    return 2.0 * x


@pytest.mark.parametrize(
    ("module", "told"),
    [(OURS, ["fitting", COMPILING, "fitting"]), ("somebody.else", ["fitting"])],
)
def test_compilation_of_the_derivatives_is_a_stage(
    monkeypatch: pytest.MonkeyPatch, module: str, told: list[str]
) -> None:
    monkeypatch.setattr(twice, "__module__", module)
    stages: list[str] = []
    with compilation_told(stages.append) as stage:
        stage("fitting")
        function = numba.njit(twice)
        assert function(2.0) == 4.0
        assert stages == told
        assert function(3.0) == 6.0  # compiled by now
    numba.njit(twice)(2.0)  # nobody listens any more
    assert stages == told


def test_waiting_for_another_process_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_code, "_SHORT", 0.0)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    function = keeping(twice)
    folder = os.open(function.stats.cache_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)  # as another process that compiles
    stages: list[str] = []
    waits = threading.Event()

    def tell(stage: str) -> None:
        stages.append(stage)
        waits.set()

    def end_of_the_other() -> None:
        waits.wait()
        os.close(folder)

    with compilation_told(tell, "starting"):
        other = threading.Thread(target=end_of_the_other)
        other.start()
        with turn(function):
            pass
        other.join()
    assert stages == [f"{COMPILING}, once, about 70 s of processor time", "starting"]
