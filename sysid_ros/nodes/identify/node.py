# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``identify``: the main job in one go, as a client of the other nodes.

It starts the recorder, arms the excitation, waits for the motion to end, stops the recorder, and
has the fit server fit the new bag, showing what happens. It ends with the table of parameters and
an exit status: an :class:`~sysid_ros.errors.ErrorCode`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rclpy

from sysid_ros.engine.least_squares import Iteration
from sysid_ros.errors import ErrorCode, StopRequestedError, SysidError
from sysid_ros.experiment import load_experiment
from sysid_ros.nodes.ending import EndRequest
from sysid_ros.nodes.fit_server import READING
from sysid_ros.nodes.identify import EXIT_OFF
from sysid_ros.nodes.identify.identification import Identification
from sysid_ros.nodes.identify.truth_table import all_close, compare, truth_table
from sysid_ros.nodes.process import started
from sysid_ros.printable import print_text
from sysid_ros.rehearsal import read_true_parameters
from sysid_ros.results import read_results
from sysid_ros.terminal import FitProgress, console_for, plain_text, print_outcome
from sysid_ros_interfaces.action import FitModel


def main(args: Sequence[str] | None = None) -> int:
    """Run the whole identification.

    Returns:
      The exit status: 0 when parameters were identified (and are close to the true ones, where
      those are given), an error code otherwise.
    """
    ending = EndRequest.listen()
    try:
        node = started(lambda: Identification(is_to_end=ending.made), args)
    except SysidError as error:
        print_text(f"error: {error}", stream=sys.stderr)
        return int(error.code)
    try:
        if ending.made():  # while this was imported: nothing has begun
            raise StopRequestedError
        return _identify(node)
    except SysidError as error:
        print_text(f"error: {error}", stream=sys.stderr)
        return int(error.code)
    except StopRequestedError:
        print("interrupted: stopping the motion, the recording and the fit", file=sys.stderr)
        return node.canceled_status
    finally:
        # Who interrupts it once more would leave the robot moving.
        EndRequest.ignore()
        node.call_off()
        node.close()
        rclpy.shutdown()


def _identify(node: Identification) -> int:
    experiment = load_experiment(node.experiment_file)
    topics = [signal.topic for signal in experiment.signals]
    with FitProgress(experiment.fit.max_iterations) as progress:
        progress.stage("waiting for the other nodes")
        node.wait_for_nodes(topics)
        if node.records:
            progress.stage("recording the motion")
        recorded = node.record_motions(lambda bag: progress.note(f"recorded {bag}"))
        result = node.fit(recorded, _Shown(progress))
    return _report(node, result)


class _Shown:
    """Shows the feedback of a fit, which repeats itself, once."""

    def __init__(self, progress: FitProgress) -> None:
        self._progress = progress
        self._stage = ""
        self._read = 0.0  # share of the goal's progress
        self._step: tuple[int, float] | None = None

    def __call__(self, feedback: FitModel.Feedback) -> None:
        if feedback.stage != self._stage:
            self._stage = feedback.stage
            self._progress.stage(feedback.stage)
        elif self._read < feedback.progress < READING:
            self._read = feedback.progress
            self._progress.reading(feedback.progress / READING)
        step = (feedback.iteration, feedback.cost)
        if feedback.names and step != self._step:
            self._step = step
            self._progress.iteration(_iteration(feedback))


def _iteration(feedback: FitModel.Feedback) -> Iteration:
    return Iteration(
        iteration=feedback.iteration,
        cost=feedback.cost,
        gradient_norm=float("nan"),
        names=tuple(feedback.names),
        values=np.array(feedback.values, dtype=np.float64),
        elapsed=feedback.elapsed.sec + 1e-9 * feedback.elapsed.nanosec,
    )


def _report(node: Identification, result: Any) -> int:
    """Show the result and say how it is to be judged."""
    console = console_for(sys.stdout)
    code = int(result.error_code)
    if code:
        console.print(plain_text(f"{ErrorCode(code).name}: {result.error_msg}", style="red"))
    if not result.result_dir:
        return code
    outcome = read_results(Path(result.result_dir), signals=False)
    if node.true_parameters is None:
        print_outcome(outcome)
    else:
        truth = {entry.name: entry.value for entry in read_true_parameters(node.true_parameters)}
        rows = compare(outcome.fit, truth)
        console.print(truth_table(rows))
        console.print(plain_text(outcome.verdict, style="bold"))
        if not all_close(rows):
            console.print(plain_text("not every parameter was found", style="red"))
            code = code or EXIT_OFF
    console.print(plain_text(f"results: {result.result_dir}"))
    if result.report_file:
        console.print(plain_text(f"report:  {result.report_file}"))
    if outcome.forecast is not None:  # of a designed motion, which another may follow
        after = [node.experiment_file.name, "--after", result.result_dir]
        console.print(plain_text(f"next:    sysid_ros design {shlex.join(after)}"))
    return code
