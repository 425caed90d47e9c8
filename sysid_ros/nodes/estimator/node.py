# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lifecycle node ``estimator``: publishes an experiment's parameters while the robot moves.

Messages are taken as raw bytes, as by the recorder; estimates are made in a thread of their own, so
that the node answers meanwhile.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.timer import Timer

from sysid_ros.engine.moving_horizon import HorizonEstimate
from sysid_ros.errors import DataError, ExperimentError, StopRequestedError, SysidError
from sysid_ros.estimate_page import EstimateHistory
from sysid_ros.experiment import Experiment, SequenceConfig, load_experiment, message_paths_of
from sysid_ros.files import check_replaceable
from sysid_ros.fit_page import LivePage
from sysid_ros.live_estimation import PERIOD, LiveEstimate, LiveEstimator
from sysid_ros.nodes.clocks import steady_clock, uses_simulated_time
from sysid_ros.nodes.diagnostic_names import diagnostic_name
from sysid_ros.nodes.estimator.estimate_topics import EstimateTopics
from sysid_ros.nodes.estimator.messages import silence, status, verdict
from sysid_ros.nodes.estimator.recording_stop import RecordingStop
from sysid_ros.nodes.estimator.settings import declare_estimator
from sysid_ros.nodes.estimator.trend_status import TrendStatus
from sysid_ros.nodes.estimator.waiting_messages import WaitingMessages
from sysid_ros.nodes.lifecycle import bring_up, reported
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.process import run_node, stand_back
from sysid_ros.nodes.recorder.topic_selection import TopicSelection, topics_of
from sysid_ros.nodes.recorder.topic_statistics import message_times
from sysid_ros.nodes.recorder.topic_watch import TopicWatch, WatchCallbacks, WatchedTopic
from sysid_ros.nodes.sending import send
from sysid_ros.recording.bags import LiveTopics
from sysid_ros.recording.mapping import CLOCK_TOPIC
from sysid_ros.recording.messages import RawMessage

# s between takings of messages that are dated when they are taken. All others wait for the estimate
# that counts them: an executor of rclpy that wakes up fifty times a second takes more of a core
# than ten estimates.
_POLL_PERIOD = 0.02
_WATCH_PERIOD = 0.2  # s between looks at the graph
_KEPT_EVERY = 10.0  # s between states that are written
_LOGGED_EVERY = 10.0  # s at least between logged problems, half of it before the first
_QUEUE = 5000  # messages of a topic that may wait in the middleware
_LAST = 1.0  # s that the update under way may take when the node ends; compiling takes a minute


class Estimator(LifecycleNode):
    """Subscribes while active, and estimates."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__("estimator", **node_options)
        self._experiment: Experiment | None = None
        given = NodeParameters(self)
        given.text("experiment", "", "experiment file, as for the fit", read_only=False)
        given.refuse_once_configured(["experiment"], lambda: self._experiment is not None)
        self._settings = declare_estimator(self)
        self.autostart = self._settings.autostart
        trends = self._settings.trend_file
        self._diagnostic_name = diagnostic_name(self)
        self._trend = None if trends is None else TrendStatus(self._diagnostic_name, trends)
        self._stop_recording = RecordingStop.declared(self)
        self._watch: TopicWatch | None = None
        self._estimator: LiveEstimator | None = None
        self._messages = WaitingMessages()
        self._received: dict[str, int] = {}  # when each topic's latest message was, ns
        self._thread = ThreadPoolExecutor(1)
        self._work: Future[LiveEstimate] | None = None
        self._done = self.create_guard_condition(self._go_on)
        self._due, self._ending = False, threading.Event()
        self._kept = -math.inf  # time.monotonic() of the latest state
        self._foreign = False  # what state_file names is no state of this experiment's
        self._lost = 0  # messages, by what the middleware says
        self._latest = LiveEstimate(None)
        self._published: HorizonEstimate | None = None
        self._published_at = math.nan  # time.monotonic()
        self._problem = self._logged = ""
        self._logged_at = -math.inf  # time.monotonic()
        self._timers_while_active: list[Timer] = []
        self._topics = EstimateTopics(self)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._history = EstimateHistory()
        port = self._settings.live_page_port
        self._page = LivePage(port, self._history) if port else None
        if self._page is not None:
            log_of(self).info(f"live page: {self._page.url}")

    @reported
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the experiment."""
        path = str(self.get_parameter("experiment").value or "")
        if not path:
            raise ExperimentError("the parameter experiment must name a file")
        if self._settings.state_file is not None:
            check_replaceable(self._settings.state_file)
        self._experiment = load_experiment(Path(path).expanduser())
        self._history.begin(path)
        log_of(self).info(f"configured for {self._selection()}")
        return TransitionCallbackReturn.SUCCESS

    @reported
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Subscribe, and begin to estimate once all topics are published."""
        self._ending, self._logged_at = threading.Event(), time.monotonic() - _LOGGED_EVERY / 2
        self._watch = TopicWatch(
            self,
            self._selection(),
            WatchCallbacks(
                found=lambda topic: None,
                gone=lambda name: None,
                message=self._on_message,
                lost=self._on_lost,
            ),
            depth=_QUEUE,
        )
        at = [
            (PERIOD, self._on_time),
            (_WATCH_PERIOD, self._watch.refresh),
            (1.0, self._publish_diagnostics),
        ]
        if uses_simulated_time(self):
            at.append((_POLL_PERIOD, self._watch.poll))
        self._timers_while_active = [
            self.create_timer(period, callback, clock=steady_clock()) for period, callback in at
        ]
        return super().on_activate(state)

    @reported
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End the subscriptions and keep what is known."""
        self.stop()
        return super().on_deactivate(state)

    @reported
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the experiment."""
        self._experiment = None
        return TransitionCallbackReturn.SUCCESS

    @reported
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End the subscriptions, as it may be active, and keep what is known."""
        self.stop()
        return super().on_shutdown(state)

    def stop(self) -> None:
        """End the update under way, and keep what is known."""
        for timer in self._timers_while_active:
            self.destroy_timer(timer)
        self._timers_while_active = []
        if self._watch is not None:
            self._watch.close()
        self._ending.set()
        if self._work is not None and wait([self._work], _LAST).done:
            self._finish(self._work)
        if self.is_busy:
            log_of(self).warning("the update under way takes too long, and is given up")
        elif self._estimator is not None:
            self._keep(self._estimator)
        if not self.is_busy:
            self._work = None
        self._estimator, self._messages = None, WaitingMessages()
        self._due = False
        if self._stop_recording is not None:
            self._stop_recording.begin_anew()

    @property
    def is_busy(self) -> bool:
        """An update is under way."""
        return self._work is not None and not self._work.done()

    def destroy_node(self) -> None:
        """End the page and the thread with the node."""
        if self._page is not None:
            self._page.close()
        self._thread.shutdown(wait=not self.is_busy)
        super().destroy_node()

    @property
    def _configured(self) -> Experiment:
        """The experiment.

        Raises:
          ExperimentError: The node is not configured.
        """
        if self._experiment is None:
            raise ExperimentError("the estimator is not configured")
        return self._experiment

    def _selection(self) -> TopicSelection:
        return TopicSelection(topics_of(self._configured, self._settings.robot))

    def _on_message(self, topic: WatchedTopic, data: bytes, info: Any) -> None:
        has_clock = self._watch is not None and CLOCK_TOPIC in self._watch.topics
        name = topic.bag_topic.name
        last_ns = self._received.get(name, 0)
        log_ns, publish_ns = message_times(self, info, last_ns, has_clock=has_clock)
        if not log_ns:  # nothing came on /clock yet
            return
        self._received[name] = log_ns
        self._messages.add(RawMessage(name, log_ns, publish_ns, data))

    def _on_lost(self, name: str, count: int) -> None:
        self._lost += count

    def _on_time(self) -> None:
        """Take messages, and begin an estimate as soon as the one before is done."""
        if self._watch is not None:
            self._watch.poll()
        self._due = True
        self._go_on()

    def _go_on(self) -> None:
        """Publish an estimate that is done, and begin one if it is time to."""
        watch = self._watch
        if watch is None or not self._timers_while_active:
            return
        if self._work is not None:
            if not self._work.done():
                return
            work, self._work = self._work, None  # should it have failed, it does so once
            self._finish(work)
            if self._estimator and time.monotonic() - self._kept > _KEPT_EVERY:
                self._keep(self._estimator)
        missing = [f"{name}: {problem}" for name, problem in watch.health().items() if problem]
        if self._estimator is None and (missing or not watch.topics):
            self._say("; ".join(missing) or "no topic yet")
            self._messages.take()
        elif self._messages and self._due:
            self._due = False
            new, ending = self._messages.take(), self._ending
            self._work = self._thread.submit(self._update, new, dict(watch.topics), ending)
            self._work.add_done_callback(lambda work: self._done.trigger())

    def _update(
        self,
        messages: Sequence[RawMessage],
        topics: dict[str, WatchedTopic],
        ending: threading.Event,
    ) -> LiveEstimate:
        """Account for messages; runs in the thread."""
        estimator = self._estimator or self._begin(topics, ending)
        if ending.is_set():
            raise StopRequestedError
        self._estimator = estimator
        found = estimator.update(messages, most_behind=self._settings.most_behind)
        if self._history.is_looked_at:
            self._history.show(estimator.traces())
        return found

    def _begin(self, topics: dict[str, WatchedTopic], ending: threading.Event) -> LiveEstimator:
        described = [topic.bag_topic for topic in topics.values()]
        estimator = LiveEstimator(
            self._configured,
            LiveTopics(described, message_paths_of(self._configured)),
            SequenceConfig("live", robot=self._settings.robot or None),
            self._settings.horizon,
            data_dir=self._settings.data_dir,
            should_stop=ending.is_set,
        )
        state, self._foreign = self._settings.state_file, False
        if state is not None and state.exists():
            try:
                estimator.recall(state)
                log_of(self).info(f"carrying on from {state}")
            except DataError as error:
                self._foreign = True
                log_of(self).warning(
                    f"beginning anew: {error}; that file stays as it is, and nothing new is kept: "
                    "delete it or name another as state_file, and activate this node anew"
                )
        return estimator

    def _keep(self, estimator: LiveEstimator) -> None:
        self._kept = time.monotonic()
        file = self._settings.state_file
        if file is None or self._foreign:
            return
        try:
            estimator.keep(file)
        except SysidError as error:
            log_of(self).warning(str(error))

    def _finish(self, work: Future[LiveEstimate]) -> None:
        """Publish what an update found out."""
        try:
            self._latest = work.result()
        except StopRequestedError:
            return
        except SysidError as error:
            self._say(str(error))
            return
        self._say(self._latest.problem)
        estimate = self._latest.estimate
        if estimate is None or estimate is self._published:
            return
        self._published, self._published_at = estimate, time.monotonic()
        if self._page is not None:
            self._history.add(estimate, verdict(estimate))
        self._topics.publish(estimate, self._configured, self._latest.stamp_ns)
        if self._stop_recording is not None:
            self._stop_recording.consider(estimate)

    def _say(self, problem: str) -> None:
        """Log a problem, and now and then that it has changed: often it counts messages."""
        self._problem = problem
        if not problem:
            self._logged = ""
        elif problem != self._logged and time.monotonic() - self._logged_at > _LOGGED_EVERY:
            log_of(self).warning(problem)
            self._logged, self._logged_at = problem, time.monotonic()

    def _publish_diagnostics(self) -> None:
        estimate = self._latest.estimate
        values = {} if estimate is None else {
            "windows": str(estimate.windows),
            "left out": f"{estimate.thinned:.1f}",
            "age (s)": f"{1e-9 * (self.get_clock().now().nanoseconds - self._latest.stamp_ns):.3f}",
            "simulated at once": str(estimate.simulated),
            "messages lost": str(self._lost),
            "messages left out": str(self._messages.left_out),
        }  # fmt: skip
        problem = self._problem or silence(time.monotonic() - self._published_at)
        self._history.fails(problem)
        found = [status(self._diagnostic_name, problem, values, estimate, self._messages.left_out)]
        if self._trend is not None:
            found += self._trend.statuses()
        message = DiagnosticArray(status=found)
        message.header.stamp = self.get_clock().now().to_msg()
        send(self, self._diagnostics, message)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit status."""

    def make() -> Estimator:
        node = Estimator()
        stand_back(node, 5)
        bring_up(node)
        return node

    def ready_to_end(node: Estimator) -> bool:
        node.stop()
        return True

    return run_node(make, args, ready_to_end=ready_to_end, is_busy=lambda node: node.is_busy)
