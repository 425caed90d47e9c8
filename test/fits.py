# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits for the worker's child process to run: quick, stubborn, failing and deadly ones.

Run as ``python -m fits FIT EVENTS_FD [ahead]``.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sysid_ros.errors import DataError
from sysid_ros.fit_worker import Callbacks, FitFunction, FitRequest, serve


def step(number: int) -> Any:
    """The iteration that every fit here reports."""
    # Imported by the fits that need it: a second of a processor for each.
    import numpy as np

    from sysid_ros.engine.least_squares.search_progress import Iteration

    values = np.array([1.0 + number, 2.0])
    return Iteration(number, 10.0 / (1 + number), 0.5, ("mass", "damping"), values, 0.1 * number)


def checkpoint_in(request: FitRequest) -> Any:
    """What keeps the best step so far."""
    from sysid_ros.results import Checkpoint

    return Checkpoint(Path(request.checkpoint_dir))


def quick(request: FitRequest, callbacks: Callbacks) -> Path:
    """Three iterations and a result."""
    callbacks.on_stage("fitting")
    checkpoint = checkpoint_in(request)
    for number in range(3):
        checkpoint.add(step(number))
        callbacks.on_iteration(step(number), number / 3)
    print("a library's noise on standard output")
    return Path(request.output_dir) / "result"


def obedient(request: FitRequest, callbacks: Callbacks) -> Path:
    """Runs until it is asked to stop, then delivers."""
    checkpoint = checkpoint_in(request)
    for number in itertools.count():
        checkpoint.add(step(number))
        callbacks.on_iteration(step(number), 0.1)
        if callbacks.should_stop():
            return Path(request.output_dir)
        time.sleep(0.02)
    raise AssertionError("unreachable")


def native(request: FitRequest, callbacks: Callbacks) -> Path:
    """One iteration, then a native call that keeps the interpreter's lock for an hour."""
    checkpoint_in(request).add(step(1))
    callbacks.on_iteration(step(1), 0.1)
    ctypes.PyDLL(None).sleep(3600)
    raise AssertionError("unreachable")


def unusable(request: FitRequest, callbacks: Callbacks) -> Path:
    """Fails with an error of ours."""
    raise DataError("position[elbow] is constant")


def considerate(request: FitRequest, callbacks: Callbacks) -> Path:
    """Says how nice it is."""
    raise DataError(f"nice {os.nice(0)}")


def broken(request: FitRequest, callbacks: Callbacks) -> Path:
    """Fails with an error of somebody else's."""
    raise ZeroDivisionError("division by zero")


def fails_later(request: FitRequest, callbacks: Callbacks) -> Path:
    """Fails with an error of ours after an iteration."""
    checkpoint_in(request).add(step(1))
    callbacks.on_iteration(step(1), 0.1)
    raise DataError("no window can be simulated")


def leaves(request: FitRequest, callbacks: Callbacks) -> Path:
    """Ends the process without a word in Python, with some in the log."""
    os.write(2, b"native library: giving up\n")
    os._exit(7)


def reports_itself(request: FitRequest, callbacks: Callbacks) -> Path:
    """Tells its process id as a stage and the modules it has loaded, then waits."""
    callbacks.on_stage(f"rclpy={'rclpy' in sys.modules}")
    callbacks.on_stage(f"pid={os.getpid()}")
    time.sleep(3600)
    raise AssertionError("unreachable")


def by_name(request: FitRequest, callbacks: Callbacks) -> Path:
    """Runs the fit that the goal names instead of an experiment."""
    function: FitFunction = globals()[request.experiment_yaml]
    return function(request, callbacks)


def compiling(on_stage: Callable[[str], None], is_asked: Callable[[], bool]) -> None:
    """Compiles for an hour ahead of a fit, and leaves a file to say so."""
    on_stage("compiling")
    Path(os.environ["COMPILING"]).touch()
    time.sleep(3600)


if __name__ == "__main__":
    sys.exit(serve(globals()[sys.argv[1]], sys.argv[2:], compiling))
