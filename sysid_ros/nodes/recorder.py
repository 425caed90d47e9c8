"""Lifecycle node ``recorder``: writes what an experiment needs to a rosbag2 MCAP.

Active means subscribed and watching; ``~/start`` writes. It runs in a process of its own with
one thread and takes messages as raw bytes, which is what keeps up with 1 kHz in Python.
"""

from __future__ import annotations

import functools
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.timer import Timer

from sysid_ros.errors import ExperimentError, OutputError, SysidError
from sysid_ros.experiment import load_experiment
from sysid_ros.experiment.schema import Experiment
from sysid_ros.nodes import parameters
from sysid_ros.nodes.bag_session import BagSession, BagSettings
from sysid_ros.nodes.clocks import steady_clock, uses_simulated_time
from sysid_ros.nodes.process import run_node
from sysid_ros.nodes.recording_diagnostics import recorder_status, topic_status
from sysid_ros.nodes.topic_statistics import TopicStatistics, header_stamp
from sysid_ros.nodes.topic_watch import TopicWatch, WatchedTopic
from sysid_ros_interfaces.srv import IsPaused, Pause, Resume, Start, Stop

_WATCH_PERIOD = 0.2  # s between looks at the graph
_FLUSH_PERIOD = 0.5  # s; a crash costs at most this much
_DIAGNOSTICS_PERIOD = 1.0  # s


Transition = Callable[["Recorder", LifecycleState], TransitionCallbackReturn]


def _reported(transition: Transition) -> Transition:
    """Say why a transition fails; rclpy would keep the exception to itself."""

    @functools.wraps(transition)
    def wrapper(recorder: Recorder, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return transition(recorder, state)
        except SysidError as error:
            recorder.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        except Exception:
            recorder.get_logger().error(traceback.format_exc())
            raise

    return wrapper


class Recorder(LifecycleNode):
    """Subscribes while active and writes between ``~/start`` and ``~/stop``."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__("recorder", **node_options)
        self._session = BagSession(self._declare())
        self._experiment: Experiment | None = None
        self._watch = self._make_watch(())
        self._timers_while_active: list[Timer] = []
        self._statistics: dict[str, TopicStatistics] = {}
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_service(Start, "~/start", self._on_start)
        self.create_service(Stop, "~/stop", self._on_stop)
        self.create_service(Pause, "~/pause", self._on_pause)
        self.create_service(Resume, "~/resume", self._on_resume)
        self.create_service(IsPaused, "~/is_paused", self._on_is_paused)

    def _declare(self) -> BagSettings:
        text, flag = parameters.text, parameters.flag
        text(self, "experiment", "", "experiment file whose topics are recorded")
        parameters.texts(self, "topics", "further topics to record")
        self._depth = parameters.integer(
            self, "queue_depth", 2000, "messages per topic that may wait to be written"
        )
        self._max_gap_ns = round(
            1e9 * parameters.number(self, "max_gap", 0.1, "seconds; longer intervals are gaps")
        )
        self._record_on_activate = flag(
            self, "record_on_activate", False, "whether activation starts a bag"
        )
        self.autostart = flag(
            self, "autostart", True, "whether the node configures and activates itself"
        )
        return BagSettings(
            Path(text(self, "output_dir", "bags", "folder for the bags")).expanduser(),
            text(self, "prefix", "rosbag2", "how names of bags begin"),
            parameters.choice(
                self, "compression", ("none", "zstd", "lz4"), "compression of the bag's chunks"
            ),
        )

    def _make_watch(self, names: Sequence[str]) -> TopicWatch:
        return TopicWatch(
            self,
            names,
            depth=self._depth,
            on_topic=self._on_topic,
            on_message=self._on_message,
            on_lost=self._on_lost,
        )

    @_reported
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the experiment and learn which topics to watch."""
        names = self._wanted_topics()
        self._watch = self._make_watch(names)
        self.get_logger().info(f"configured for {', '.join(names)}")
        return TransitionCallbackReturn.SUCCESS

    @_reported
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Subscribe, and go on subscribing as publishers appear."""
        self._watch.refresh()
        if self._record_on_activate:
            self._start()
        clock = steady_clock()
        self._timers_while_active = [
            self.create_timer(period, callback, clock=clock)
            for period, callback in (
                (_WATCH_PERIOD, self._watch.refresh),
                (_FLUSH_PERIOD, self._session.flush),
                (_DIAGNOSTICS_PERIOD, self._publish_diagnostics),
            )
        ]
        return super().on_activate(state)

    @_reported
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the bag and end the subscriptions."""
        self.stop_writing()
        for timer in self._timers_while_active:
            self.destroy_timer(timer)
        self._timers_while_active = []
        self._watch.close()
        self._session.forget_topics()
        return super().on_deactivate(state)

    @_reported
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the experiment."""
        self._watch = self._make_watch(())
        self._experiment = None
        self._statistics.clear()
        return TransitionCallbackReturn.SUCCESS

    @_reported
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the bag."""
        self.stop_writing()
        return TransitionCallbackReturn.SUCCESS

    def stop_writing(self) -> None:
        """Complete the bag if there is one, and say so."""
        if self._session.writing:
            self._session.stop()
            if self._session.error:
                self.get_logger().error(self._session.error)
            else:
                self.get_logger().info(f"wrote {self._session.last_bag}")

    def _wanted_topics(self) -> list[str]:
        path = str(self.get_parameter("experiment").value or "")
        listed = parameters.current_texts(self, "topics")
        names = [self.resolve_topic_name(name) for name in listed]
        if path:
            self._experiment = load_experiment(Path(path).expanduser())
            names += [signal.topic for signal in self._experiment.signals]
            if self._experiment.model_topic:
                names.append(self._experiment.model_topic)
        if not names:
            raise ExperimentError("nothing to record: give the parameter experiment or topics")
        return list(dict.fromkeys(names))

    def _start(self) -> None:
        attached = {"experiment.yaml": self._experiment.text.encode()} if self._experiment else {}
        self._session.start(attached)
        self._statistics.clear()
        self.get_logger().info(f"writing {self._session.last_bag}")

    def _on_topic(self, topic: WatchedTopic) -> None:
        self._session.add_topic(topic.bag_topic, latched=topic.latched)

    def _on_message(self, topic: WatchedTopic, data: bytes, info: Any) -> None:
        name = topic.bag_topic.name
        log_ns, publish_ns = self._times(info)
        stamp = header_stamp(data) if topic.has_header else None
        sequence = info.get("publication_sequence_number")
        publisher = (info.get("publisher_gid") or {}).get("data", b"")
        self._count(name).add(publish_ns if stamp is None else stamp, publisher, sequence)
        was_writing = self._session.writing
        self._session.write(name, data, log_ns, publish_ns, sequence or 0)
        if was_writing and not self._session.writing:
            self.get_logger().error(f"recording ended: {self._session.error}")

    def _times(self, info: Any) -> tuple[int, int]:
        """When a message was received and published; one clock for both in simulated time."""
        if uses_simulated_time(self):
            now = self.get_clock().now().nanoseconds
            return now, now
        log_ns = info["received_timestamp"] or time.time_ns()
        return log_ns, info["source_timestamp"] or log_ns

    def _on_lost(self, name: str, count: int) -> None:
        self._count(name).reported_lost += count

    def _count(self, name: str) -> TopicStatistics:
        if name not in self._statistics:
            self._statistics[name] = TopicStatistics(self._max_gap_ns)
        return self._statistics[name]

    def _publish_diagnostics(self) -> None:
        name, session = self.get_name(), self._session
        message = DiagnosticArray()
        message.header.stamp = self.get_clock().now().to_msg()
        message.status = [
            recorder_status(
                name, session.state, session.last_bag, session.message_count, session.error
            ),
            *(
                topic_status(name, topic, self._statistics.get(topic), problem)
                for topic, problem in self._watch.health().items()
            ),
        ]
        self._diagnostics.publish(message)

    def _on_start(self, request: Start.Request, response: Start.Response) -> Start.Response:
        try:
            if not self._timers_while_active:
                raise OutputError("the recorder is not active")
            if self._session.writing:
                raise OutputError(f"already writing {self._session.last_bag}")
            self._start()
        except OutputError as error:
            response.message = str(error)
            return response
        response.success, response.bag_path = True, self._session.last_bag
        return response

    def _on_stop(self, request: Stop.Request, response: Stop.Response) -> Stop.Response:
        if not self._session.writing and not self._session.error:
            response.message = "nothing is being written"
        else:
            self.stop_writing()
            response.message = self._session.error
        response.success = not response.message
        response.bag_path = self._session.last_bag
        return response

    def _on_pause(self, request: Pause.Request, response: Pause.Response) -> Pause.Response:
        self._session.paused = self._session.writing
        return response

    def _on_resume(self, request: Resume.Request, response: Resume.Response) -> Resume.Response:
        self._session.paused = False
        return response

    def _on_is_paused(
        self, request: IsPaused.Request, response: IsPaused.Response
    ) -> IsPaused.Response:
        response.paused = self._session.paused
        return response


def main(args: Sequence[str] | None = None) -> int:
    """Run the node.

    Returns:
      The exit status.
    """

    def make() -> Recorder:
        recorder = Recorder()
        configured = TransitionCallbackReturn.SUCCESS
        if recorder.autostart and recorder.trigger_configure() == configured:
            recorder.trigger_activate()
        return recorder

    def ready_to_end(recorder: Recorder) -> bool:
        recorder.stop_writing()
        return True

    return run_node(make, args, ready_to_end=ready_to_end)


if __name__ == "__main__":
    sys.exit(main())
