# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``fit_server``: the action ``~/fit`` identifies a model from recordings.

Each fit runs in a process of its own (:mod:`sysid_ros.supervised_fit`), so that the node answers
while native code computes, survives its crash, and can cancel it at any time. One goal at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

from sysid_ros.errors import ErrorCode, SysidError
from sysid_ros.fit_page import LivePage, PageProgress
from sysid_ros.fit_worker import FIT_PROGRAM, STARTING, FitRequest
from sysid_ros.nodes.clocks import steady_clock
from sysid_ros.nodes.fit_server.client_side import REPLACE_SEQUENCES, failed_result
from sysid_ros.nodes.fit_server.goal_feedback import GoalFeedback
from sysid_ros.nodes.fit_server.messages import error_of, fit_result, report_message
from sysid_ros.nodes.fit_server.settings import declare_fit_server
from sysid_ros.nodes.fit_server.topics import FitTopics
from sysid_ros.nodes.latched import LATCHED
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.process import run_node
from sysid_ros.results import read_results
from sysid_ros.supervised_fit import FitEnd, FitEvent, Worker, run_fit
from sysid_ros.terminal import is_counted
from sysid_ros_interfaces.action import FitModel
from sysid_ros_interfaces.msg import IdentifiedParameters, Report

# One thread for the running fit, the others for cancel requests and everything else.
_THREADS = 3
_SETTLE = 3.0  # s after a fit in which who reads its result has the machine


class FitServer(Node):
    """The action server and its latched results."""

    def __init__(self, *, program: Sequence[str] = FIT_PROGRAM, **node_options: Any) -> None:
        """Offer the action.

        Args:
          program: The child process's module and arguments, after ``python -m``.
          node_options: For rclpy's node.
        """
        super().__init__("fit_server", **node_options)
        self._program = program
        self._settings = declare_fit_server(self)
        self._goal_lock = threading.Lock()
        self._busy = False
        self._ending = threading.Event()
        self._canceled_on_page = threading.Event()
        self._ahead = self._next_worker()
        self._settling = self.create_timer(_SETTLE, self._prepare, clock=steady_clock())
        self._settling.cancel()
        self._progress = PageProgress(self._canceled_on_page.set)
        self._topics = FitTopics(self)
        port = self._settings.live_page_port
        self._page = LivePage(port, self._progress) if port else None
        if self._page is not None:
            log_of(self).info(f"live page: {self._page.url}")
        self._identified = self.create_publisher(
            IdentifiedParameters, "~/identified_parameters", LATCHED
        )
        self._report = self.create_publisher(Report, "~/report", LATCHED)
        self._server = ActionServer(
            self,
            FitModel,
            "~/fit",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            # Goals are answered one after the other; what they execute is in no group.
            callback_group=MutuallyExclusiveCallbackGroup(),
        )
        log_of(self).info("ready")

    def ready_to_end(self) -> bool:
        """Cancel the running fit, if there is one.

        Returns:
          Whether none is running any more.
        """
        self._ending.set()
        with self._goal_lock:
            return not self._busy

    def destroy_node(self) -> None:
        """End the action and the page with the node."""
        if self._page is not None:
            self._page.close()
        if self._ahead is not None:
            self._ahead.close()
        self._server.destroy()
        super().destroy_node()

    def _on_goal(self, goal: FitModel.Goal) -> GoalResponse:
        with self._goal_lock:
            if self._busy or self._ending.is_set():
                why = "the node is ending" if self._ending.is_set() else "another fit is running"
                log_of(self).warning(f"goal rejected: {why}")
                return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, goal_handle: ServerGoalHandle[Any, Any, Any]) -> None:
        """Begin; not called where the client has gone before it could be answered."""
        with self._goal_lock:
            self._busy = True
        goal_handle.execute()

    def _on_cancel(self, goal_handle: ServerGoalHandle[Any, Any, Any]) -> CancelResponse:
        return CancelResponse.ACCEPT

    def _execute(self, goal_handle: ServerGoalHandle[Any, Any, Any]) -> FitModel.Result:
        self._canceled_on_page.clear()
        self._progress.begin(goal_handle.request.experiment_file or "experiment given as text")
        try:
            end = self._run(goal_handle)
            result = self._result(end)
            self._progress.end(_ending(result))
            self._topics.end()
            self._finish(goal_handle, result)
            return result
        finally:
            with self._goal_lock:
                self._busy = False
            self._settling.reset()

    def _run(self, goal_handle: ServerGoalHandle[Any, Any, Any]) -> FitEnd:
        def on_progress(event: FitEvent) -> None:
            if event.iteration is not None:
                told.iteration(event.iteration, event.progress)
                self._topics.publish(event.iteration, told.progress)
                self._progress.iteration(event.iteration, told.progress)
            else:
                # The page has room for each, the log has not.
                if not event.progress and not is_counted(event.stage):
                    log_of(self).info(event.stage)
                told.stage(event.stage, event.progress)
                self._progress.stage(event.stage, told.progress)

        worker = self._taken_ahead()
        with GoalFeedback(self, goal_handle) as told:
            end = run_fit(
                self._request(goal_handle.request),
                on_progress=on_progress,
                should_cancel=lambda: (
                    goal_handle.is_cancel_requested
                    or self._ending.is_set()
                    or self._canceled_on_page.is_set()
                ),
                program=self._program,
                worker=worker,
            )
            if end.code is ErrorCode.NONE:
                told.done()
            return end

    def _prepare(self) -> None:
        """Start the process of the next fit, once the last one has been over for a while."""
        self._settling.cancel()
        with self._goal_lock:
            if not self._busy and self._ahead is None:
                self._ahead = self._next_worker()

    def _taken_ahead(self) -> Worker | None:
        """The process that waits for a fit; ``None`` where there is none, or it compiles.

        That goes on. Another one reads the recordings meanwhile, which may be refused, and waits
        for what is compiled only then.
        """
        worker = self._ahead
        if worker is not None and worker.lives and worker.doing() not in ("", STARTING):
            return None
        self._ahead = None
        return worker

    def _next_worker(self) -> Worker | None:
        """The process of the next fit, which does its imports now."""
        if not self._settings.keeps_ahead or self._ending.is_set():
            return None
        return Worker(self._program, ahead=True)

    def _request(self, goal: FitModel.Goal) -> FitRequest:
        experiment = goal.experiment_file
        if experiment:  # whole in what is said of it: the client is in another folder
            folder = Path(self._settings.experiment_dir).expanduser().absolute()
            experiment = str(folder / experiment)
        return replace(
            self._settings.request,
            experiment_file=experiment,
            experiment_yaml=goal.experiment_yaml,
            bags=tuple(goal.bags),
            replace_bags=REPLACE_SEQUENCES in goal.overrides,
            overrides=tuple(item for item in goal.overrides if item != REPLACE_SEQUENCES),
            resume=goal.resume,
        )

    def _result(self, end: FitEnd) -> FitModel.Result:
        """The action's result; publishes what was identified."""
        if end.files is None:
            return failed_result(end.code, end.message)
        try:
            outcome = read_results(end.files.folder, signals=False)
        except SysidError as error:
            return failed_result(error.code, str(error))
        code, message = (end.code, end.message) if end.code else error_of(outcome)
        result = fit_result(code, message, outcome, end.files, self.get_clock().now().to_msg())
        self._identified.publish(result.parameters)
        if end.files.report is not None:
            self._report.publish(report_message(end.files.report))
        return result

    def _finish(
        self, goal_handle: ServerGoalHandle[Any, Any, Any], result: FitModel.Result
    ) -> None:
        """Put the goal into the state that fits its result, and say so."""
        tell = log_of(self).info
        if result.error_code == ErrorCode.CANCELED and goal_handle.is_cancel_requested:
            goal_handle.canceled()
        elif result.error_code in (ErrorCode.NONE, ErrorCode.NOT_CONVERGED):
            goal_handle.succeed()
        else:
            goal_handle.abort()
            tell = log_of(self).error
        tell(_ending(result))


def _ending(result: FitModel.Result) -> str:
    """One sentence on how a fit ended."""
    name = ErrorCode(result.error_code).name
    return (
        f"fit ended: {name if result.error_code else result.status}"
        + (f", {result.error_msg}" if result.error_msg else "")
        + (f", results in {result.result_dir}" if result.result_dir else "")
    )


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit status."""
    return run_node(
        FitServer,
        args,
        make_executor=lambda: MultiThreadedExecutor(num_threads=_THREADS),
        ready_to_end=FitServer.ready_to_end,
    )
