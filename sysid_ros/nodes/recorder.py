"""Lifecycle node ``recorder``: writes what an experiment needs to a rosbag2 MCAP.

Active means subscribed and watching; ``~/start`` writes. It runs in a process of its own with
one thread and takes messages as raw bytes, which is what keeps up with 1 kHz in Python.
"""

from __future__ import annotations

import functools
import os
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.timer import Timer
from sysid_ros_interfaces.srv import IsPaused, Pause, Resume, Start, Stop

from sysid_ros.errors import ExperimentError, OutputError, SysidError
from sysid_ros.experiment import load_experiment
from sysid_ros.experiment.schema import Experiment
from sysid_ros.nodes import parameters
from sysid_ros.nodes.bag_folder import BagFolder
from sysid_ros.nodes.process import run_node
from sysid_ros.nodes.recording_diagnostics import recorder_status, topic_status
from sysid_ros.nodes.topic_statistics import TopicStatistics, header_stamp
from sysid_ros.nodes.topic_watch import TopicWatch, WatchedTopic

_WATCH_PERIOD = 0.2  # s between looks at the graph
_FLUSH_PERIOD = 0.5  # s; a crash costs at most this much
_DIAGNOSTICS_PERIOD = 1.0  # s
_LATCHED = 10  # messages of a latched topic kept for the next bag


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
        self._declare()
        self._experiment: Experiment | None = None
        self._watch: TopicWatch | None = None
        self._watching: list[Timer] = []
        self._bag: BagFolder | None = None
        self._channels: dict[str, int] = {}
        self._statistics: dict[str, TopicStatistics] = {}
        self._latched: dict[str, deque[tuple[bytes, int]]] = {}
        self._paused = False
        self._last_bag = ""
        self._error: str | None = None
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_service(Start, "~/start", self._on_start)
        self.create_service(Stop, "~/stop", self._on_stop)
        self.create_service(Pause, "~/pause", self._on_pause)
        self.create_service(Resume, "~/resume", self._on_resume)
        self.create_service(IsPaused, "~/is_paused", self._on_is_paused)

    def _declare(self) -> None:
        text, flag, number = parameters.text, parameters.flag, parameters.number
        text(self, "experiment", "", "experiment file whose topics are recorded")
        parameters.texts(self, "topics", "further topics to record")
        self._output_dir = Path(text(self, "output_dir", "bags", "folder for the bags"))
        self._prefix = text(self, "prefix", "rosbag2", "how names of bags begin")
        self._compression = parameters.choice(
            self, "compression", ("none", "zstd", "lz4"), "compression of the bag's chunks"
        )
        self._depth = parameters.integer(
            self, "queue_depth", 2000, "messages per topic that may wait to be written"
        )
        self._max_gap = number(self, "max_gap", 0.1, "seconds; longer intervals count as gaps")
        self._record_on_activate = flag(
            self, "record_on_activate", False, "whether activation starts a bag"
        )
        self.autostart = flag(
            self, "autostart", True, "whether the node configures and activates itself"
        )

    @_reported
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the experiment and learn which topics to watch."""
        names = self._wanted_topics()
        self._watch = TopicWatch(
            self,
            names,
            depth=self._depth,
            on_topic=self._on_topic,
            on_message=self._on_message,
            on_lost=self._on_lost,
        )
        self.get_logger().info(f"configured for {', '.join(names)}")
        return TransitionCallbackReturn.SUCCESS

    @_reported
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Subscribe, and go on subscribing as publishers appear."""
        assert self._watch is not None
        self._watch.refresh()
        self._watching = [
            self.create_timer(_WATCH_PERIOD, self._watch.refresh),
            self.create_timer(_FLUSH_PERIOD, self._flush),
            self.create_timer(_DIAGNOSTICS_PERIOD, self._publish_diagnostics),
        ]
        if self._record_on_activate:
            self._start()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the bag and end the subscriptions."""
        self.stop_writing()
        for timer in self._watching:
            self.destroy_timer(timer)
        self._watching = []
        if self._watch is not None:
            self._watch.close()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the experiment."""
        self._watch = None
        self._experiment = None
        self._statistics.clear()
        self._latched.clear()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the bag."""
        self.stop_writing()
        return TransitionCallbackReturn.SUCCESS

    def stop_writing(self) -> str:
        """Close the bag if there is one.

        Returns:
          What went wrong, or an empty text.
        """
        bag, self._bag = self._bag, None
        self._paused = False
        if bag is None:
            return ""
        try:
            bag.close()
        except OutputError as error:
            self._error = str(error)
            self.get_logger().error(str(error))
            return str(error)
        self.get_logger().info(f"wrote {bag.path}")
        return ""

    def _wanted_topics(self) -> list[str]:
        path = str(self.get_parameter("experiment").value or "")
        listed = parameters.current_texts(self, "topics")
        names = [self.resolve_topic_name(name) for name in listed]
        if path:
            self._experiment = load_experiment(Path(path))
            names += [signal.topic for signal in self._experiment.signals]
            if self._experiment.model_topic:
                names.append(self._experiment.model_topic)
        if not names:
            raise ExperimentError("nothing to record: give the parameter experiment or topics")
        return list(dict.fromkeys(names))

    def _start(self) -> None:
        assert self._watch is not None
        self._error = None
        self._bag = BagFolder(
            self._output_dir.expanduser(),
            self._prefix,
            compression=self._compression,
            distribution=os.environ.get("ROS_DISTRO", ""),
        )
        self._last_bag = str(self._bag.path)
        self._channels = {}
        self._statistics = {}
        if self._experiment is not None:
            text = self._experiment.text.encode()
            self._bag.attach("experiment.yaml", "application/yaml", text)
        for topic in self._watch.topics.values():
            self._on_topic(topic)
        now = time.time_ns()
        for name, messages in self._latched.items():
            for data, publish_ns in messages:
                self._write(name, data, now, publish_ns, 0)
        self.get_logger().info(f"writing {self._bag.path}")

    def _on_topic(self, topic: WatchedTopic) -> None:
        name = topic.bag_topic.name
        if topic.latched:
            self._latched.setdefault(name, deque(maxlen=_LATCHED))
        if self._bag is not None:
            self._channels[name] = self._bag.add_topic(topic.bag_topic)

    def _on_message(self, name: str, data: bytes, info: dict[str, Any]) -> None:
        assert self._watch is not None
        log_ns, publish_ns = self._times(info)
        stamp = header_stamp(data) if self._watch.topics[name].has_header else None
        sequence = info.get("publication_sequence_number")
        publisher = info.get("publisher_gid") or {}
        self._count(name).add(stamp or publish_ns, publisher.get("data", b""), sequence)
        if name in self._latched:
            self._latched[name].append((data, publish_ns))
        if not self._paused:
            self._write(name, data, log_ns, publish_ns, sequence or 0)

    def _times(self, info: dict[str, Any]) -> tuple[int, int]:
        """When a message was received and published; one clock for both in simulated time."""
        if self.get_clock().ros_time_is_active:
            now = self.get_clock().now().nanoseconds
            return now, now
        log_ns = info["received_timestamp"] or time.time_ns()
        return log_ns, info["source_timestamp"] or log_ns

    def _write(self, name: str, data: bytes, log_ns: int, publish_ns: int, sequence: int) -> None:
        if self._bag is None:
            return
        try:
            self._bag.write(
                self._channels[name], data, log_ns=log_ns, publish_ns=publish_ns, sequence=sequence
            )
        except OutputError as error:
            self._fail(error)

    def _flush(self) -> None:
        if self._bag is not None:
            try:
                self._bag.flush()
            except OutputError as error:
                self._fail(error)

    def _fail(self, error: OutputError) -> None:
        """End a recording that cannot be written; what is on the disk stays there."""
        self._error = str(error)
        self._bag = None
        self.get_logger().error(f"recording ended: {error}")

    def _on_lost(self, name: str, count: int) -> None:
        self._count(name).reported_lost += count

    def _count(self, name: str) -> TopicStatistics:
        return self._statistics.setdefault(name, TopicStatistics(round(1e9 * self._max_gap)))

    def _publish_diagnostics(self) -> None:
        assert self._watch is not None
        name = self.get_name()
        state = "watching" if self._bag is None else "paused" if self._paused else "recording"
        written = self._bag.message_count if self._bag is not None else 0
        message = DiagnosticArray()
        message.header.stamp = self.get_clock().now().to_msg()
        message.status = [
            recorder_status(name, state, self._last_bag, written, self._error),
            *(
                topic_status(name, topic, self._statistics.get(topic), problem)
                for topic, problem in self._watch.health().items()
            ),
        ]
        self._diagnostics.publish(message)

    def _on_start(self, request: Start.Request, response: Start.Response) -> Start.Response:
        refusal = self._refusal_to_start()
        if not refusal:
            try:
                self._start()
            except OutputError as error:
                refusal = str(error)
        response.success, response.message = not refusal, refusal
        response.bag_path = "" if refusal else self._last_bag
        return response

    def _refusal_to_start(self) -> str:
        if not self._watching:
            return "the recorder is not active"
        return f"already writing {self._last_bag}" if self._bag is not None else ""

    def _on_stop(self, request: Stop.Request, response: Stop.Response) -> Stop.Response:
        if self._bag is None:
            response.message = self._error or "nothing is being written"
        else:
            response.message = self.stop_writing()
        response.success = not response.message
        response.bag_path = self._last_bag
        return response

    def _on_pause(self, request: Pause.Request, response: Pause.Response) -> Pause.Response:
        self._paused = self._bag is not None
        return response

    def _on_resume(self, request: Resume.Request, response: Resume.Response) -> Resume.Response:
        self._paused = False
        return response

    def _on_is_paused(
        self, request: IsPaused.Request, response: IsPaused.Response
    ) -> IsPaused.Response:
        response.paused = self._paused
        return response


def main(args: Sequence[str] | None = None) -> int:
    """Run the node.

    Returns:
      The exit status.
    """

    def make() -> Recorder:
        recorder = Recorder()
        if recorder.autostart:
            recorder.trigger_configure()
            recorder.trigger_activate()
        return recorder

    def ready_to_end(recorder: Recorder) -> bool:
        recorder.stop_writing()
        return True

    return run_node(make, args, ready_to_end=ready_to_end)


if __name__ == "__main__":
    sys.exit(main())
