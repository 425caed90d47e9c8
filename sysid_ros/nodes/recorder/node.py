# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lifecycle node ``recorder``: writes what an experiment needs to a rosbag2 MCAP.

Active means subscribed and watching; ``~/start`` writes. It runs in a process of its own with
one thread and takes messages as raw bytes, which is what keeps up with kilohertz in Python.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.timer import Timer
from std_msgs.msg import String

from sysid_ros.errors import ExperimentError, OutputError, SysidError
from sysid_ros.experiment import Experiment, load_experiment
from sysid_ros.nodes.clocks import ClockWatch, motion_clock, steady_clock, uses_simulated_time
from sysid_ros.nodes.diagnostic_names import diagnostic_name
from sysid_ros.nodes.latched import LATCHED
from sysid_ros.nodes.lifecycle import bring_up, reported
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.process import run_node
from sysid_ros.nodes.recorder.arrivals import Arrivals
from sysid_ros.nodes.recorder.bag_contents import (
    closing_contents,
    description_contents,
    experiment_contents,
    joined,
)
from sysid_ros.nodes.recorder.bag_session import BagContents, BagSession
from sysid_ros.nodes.recorder.diagnostics import recorder_status, topic_status
from sysid_ros.nodes.recorder.message_losses import Losses, SilenceWatch, losses
from sysid_ros.nodes.recorder.qos_overrides import read_qos_overrides
from sysid_ros.nodes.recorder.services import RecorderServices
from sysid_ros.nodes.recorder.settings import READ_WHEN_CONFIGURED, declare_recorder
from sysid_ros.nodes.recorder.snapshot_buffer import OVERHEAD, SnapshotBuffer
from sysid_ros.nodes.recorder.topic_selection import TopicSelection, is_pattern, topics_of
from sysid_ros.nodes.recorder.topic_statistics import (
    TopicStatistics,
    header_stamp,
    message_times,
)
from sysid_ros.nodes.recorder.topic_watch import TopicWatch, WatchCallbacks, WatchedTopic
from sysid_ros.nodes.sending import send
from sysid_ros.recording.mapping import CLOCK_TOPIC

_POLL_PERIOD = 0.02  # s between takings of messages; a queue must last that long
_NEVER_NS = 1 << 63
_CATCH_UP_PERIOD = 0.005  # s likewise, at the end
_WATCH_PERIOD = 0.2  # s between looks at the graph
_FLUSH_PERIOD = 0.5  # s
_DIAGNOSTICS_PERIOD = 1.0  # s


class Recorder(LifecycleNode):
    """Subscribes while active and writes between ``~/start`` and ``~/stop``."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__("recorder", **node_options)
        self._settings = declare_recorder(self)
        self._statistics: dict[str, TopicStatistics] = {}
        self._arrivals = Arrivals()
        self._silence = SilenceWatch()
        self._end_ns = _NEVER_NS  # what was sent later belongs to no bag
        self._session = BagSession(
            self._settings.bag,
            self._snapshot_buffer(),
            closing=lambda: closing_contents(self._statistics, self._now_ns()),
            catch_up=self._catch_up,
            now_ns=self._now_ns,
            ages_by=motion_clock(self)[1],
        )
        self._experiment: Experiment | None = None
        self._watch = self._make_watch(None)
        self._clock_watch = ClockWatch(self)
        self._timers_while_active: list[Timer] = []
        self._description = BagContents()
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        if self._settings.robot_description:
            self._listen_for_description(self._settings.robot_description)
        self._recorder_services = RecorderServices(self, self._session, self)
        self._configured = False
        NodeParameters(self).refuse_once_configured(READ_WHEN_CONFIGURED, lambda: self._configured)

    @property
    def autostart(self) -> bool:
        """True if the node is to configure and activate itself."""
        return self._settings.autostart

    @reported
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the experiment and learn which topics to watch."""
        selection = self._selection()
        self._watch = self._make_watch(selection)
        self._configured = True
        log_of(self).info(f"configured for {selection}")
        return TransitionCallbackReturn.SUCCESS

    @reported
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Subscribe, and go on subscribing as publishers appear."""
        try:
            if self._settings.record_on_activate and not self._session.in_snapshot_mode:
                self._start()  # before anything is heard that would belong to no bag
            else:
                self._watch.refresh()
        except BaseException:
            self._end_watching()
            raise
        clock = steady_clock()
        self._timers_while_active = [
            self.create_timer(period, callback, clock=clock)
            for period, callback in (
                (_POLL_PERIOD, self._poll),
                (_WATCH_PERIOD, self._watch.refresh),
                (_FLUSH_PERIOD, self._flush),
                (_DIAGNOSTICS_PERIOD, self._publish_diagnostics),
            )
        ]
        return super().on_activate(state)

    @reported
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the bag and end the subscriptions."""
        self.stop_writing()
        self._end_watching()
        return super().on_deactivate(state)

    @reported
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the experiment."""
        self._watch = self._make_watch(None)
        self._configured = False
        self._experiment = None
        self._statistics.clear()
        return TransitionCallbackReturn.SUCCESS

    @reported
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the bag and end the subscriptions, as it may be active."""
        self.stop_writing()
        self._end_watching()
        return super().on_shutdown(state)

    def start_writing(self) -> None:
        """Begin a bag.

        Raises:
          OutputError: The recorder is not active or the bag cannot be created.
        """
        if not self._timers_while_active:
            raise OutputError("the recorder is not active")
        self._start()

    def stop_writing(self) -> None:
        """Complete the bag if there is one, with what is still on its way, and say so."""
        if self._session.writing:
            self._catch_up()
        if self._session.writing:
            self._session.stop()
            self._say_how_it_ended()

    def _poll(self) -> None:
        """Take what has arrived."""
        self._arrivals.look(time.monotonic())
        self._watch.poll()

    def _catch_up(self) -> None:
        """Take what was sent until now, for which a while may have to pass.

        Messages lost on the way are sent again; what is sent meanwhile is no part of the bag.
        """
        self._end_ns, last = time.time_ns(), time.monotonic() + self._settings.stop_timeout
        try:
            self._poll()
            while (
                self._session.writing
                and not (self._session.paused or time.monotonic() > last)
                and self._arrivals.lack(self._watch.reliable_publishers(), self._end_ns)
            ):
                time.sleep(_CATCH_UP_PERIOD)
                self._poll()
        finally:  # or the next bag would stay empty
            self._end_ns = _NEVER_NS

    def _end_watching(self) -> None:
        """End timers and subscriptions."""
        for timer in self._timers_while_active:
            self.destroy_timer(timer)
        self._timers_while_active = []
        self._watch.close()
        self._session.forget_topics()
        self._statistics.clear()
        self._arrivals = Arrivals()

    def losses(self) -> Losses:
        """The losses of the bag that was written last."""
        return losses(self._statistics, self._watch.health(), self._session.kept_topics)

    def pause(self, paused: bool) -> None:
        """Leave out what comes from now on, or go on with it."""
        self._poll()  # what came before is treated as it was to be
        self._session.paused = paused

    def take_snapshot(self) -> None:
        """Write what the snapshot buffer holds.

        Raises:
          OutputError: There is nothing to write or it cannot be written.
        """
        self._poll()
        self._session.take_snapshot(self._contents())
        self._say_how_it_ended()

    def split(self) -> None:
        """Go on in a new file of the same bag."""
        self._poll()
        self._session.split()

    def _snapshot_buffer(self) -> SnapshotBuffer | None:
        settings = self._settings
        if not settings.snapshot_mode:
            return None
        return SnapshotBuffer(settings.snapshot_size, settings.snapshot_duration, overhead=OVERHEAD)

    def _make_watch(self, selection: TopicSelection | None) -> TopicWatch:
        path = str(self.get_parameter("qos_overrides").value or "")
        return TopicWatch(
            self,
            selection,
            WatchCallbacks(
                found=self._on_topic,
                gone=self._session.forget_topic,
                message=self._on_message,
                lost=self._on_lost,
            ),
            depth=self._settings.queue_depth,
            overrides=read_qos_overrides(Path(path).expanduser()) if path else None,
        )

    def _selection(self) -> TopicSelection:
        path = str(self.get_parameter("experiment").value or "")
        given = NodeParameters(self)
        names: list[str] = []
        if path:
            self._experiment = load_experiment(Path(path).expanduser())
            robot = str(self.get_parameter("robot").value or "")
            names = topics_of(self._experiment, robot)
        heard = {self._absolute(name, remapped=True) for name in names}
        further = (self._absolute(name) for name in given.current_texts("topics"))
        return TopicSelection(
            [*names, *(name for name in further if name not in heard)],
            regex=str(self.get_parameter("regex").value or ""),
            exclude=given.current_texts("exclude"),
        )

    def _absolute(self, name: str, *, remapped: bool = False) -> str:
        if not is_pattern(name):
            try:
                return str(self.resolve_topic_name(name, only_expand=not remapped))
            except RuntimeError as error:
                raise ExperimentError(f"topics of recorder: {name!r}: {error}") from error
        return name if name.startswith("/") else f"{self.get_namespace().rstrip('/')}/{name}"

    def _start(self) -> None:
        self._poll()  # what came before is not part of the bag
        self._watch.renew()
        self._session.start(self._contents())
        self._begin_counting()
        self._silence.begin(time.monotonic())
        log_of(self).info(f"writing {self._session.last_bag}")

    def _begin_counting(self) -> None:
        before, self._statistics = self._statistics, {}
        for name in self._watch.topics:
            self._statistics[name] = before[name].anew()
            self._statistics[name].expect(self._watch.publishers(name))

    def _contents(self) -> BagContents:
        try:
            return joined(experiment_contents(self._experiment), self._description)
        except SysidError as error:  # no reason to lose the recording
            log_of(self).warning(f"the bag will not name its model: {error}")
            return self._description

    def _listen_for_description(self, topic: str) -> None:

        def on_description(message: String) -> None:
            self._description = description_contents(subscription.topic_name, message.data)
            self._session.attach(self._description)

        subscription = self.create_subscription(String, topic, on_description, LATCHED)

    def _on_topic(self, topic: WatchedTopic) -> None:
        self._count(topic.bag_topic.name)  # whoever publishes now was there before
        self._session.add_topic(topic.bag_topic, latched=topic.latched)

    def _on_message(self, topic: WatchedTopic, data: bytes, info: Any) -> None:
        if self._clock_watch.waiting:
            return
        name = topic.bag_topic.name
        counts = self._count(name)
        sequence = info.get("publication_sequence_number")
        publisher = (info.get("publisher_gid") or {}).get("data", b"")
        sent_ns = self._arrivals.add(publisher, info)
        if sent_ns > self._end_ns and not topic.latched:  # which belongs to the next bag, too
            counts.pass_over(publisher, sequence)
            return
        log_ns, publish_ns = message_times(
            self, info, counts.last_log_ns, has_clock=CLOCK_TOPIC in self._statistics
        )
        stamp = header_stamp(data) if topic.has_header else None
        if stamp is None:  # of the clock that receipt is dated by
            stamp = log_ns if uses_simulated_time(self) else publish_ns
        counts.add(stamp, log_ns, publisher, sequence, len(data))
        was_writing = self._session.writing
        self._session.write(name, data, log_ns, publish_ns, sequence or 0)
        if was_writing and not self._session.writing:
            self._say_how_it_ended()

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _on_lost(self, name: str, count: int) -> None:
        self._count(name).reported_lost += count

    def _count(self, name: str) -> TopicStatistics:
        if name not in self._statistics:
            counts = self._statistics[name] = TopicStatistics(self._settings.max_gap_ns)
            counts.expect(self._watch.publishers(name))
        return self._statistics[name]

    def _flush(self) -> None:
        was_writing, warning = self._session.writing, self._session.warning
        self._session.flush()
        if was_writing and not self._session.writing:
            self._say_how_it_ended()
        elif self._session.warning != warning:
            log_of(self).warning(self._session.warning)

    def _say_how_it_ended(self) -> None:
        session, logger = self._session, log_of(self)
        if session.error:
            logger.error(f"{session.last_bag} ended early: {session.error}")
        else:
            logger.info(session.limit or f"wrote {session.last_bag}")
        if lacking := str(self.losses()):
            logger.warning(f"{session.last_bag}: {lacking}")

    def _publish_diagnostics(self) -> None:
        self._flush()  # what is reported as received stays, should this process be killed
        if jump := self._clock_watch.look():
            goes_on = "; recording goes on" if self._session.writing else ""
            log_of(self).warning(f"{jump}{goes_on}")
        told = self._session.writing and self._silence.is_to_be_told(time.monotonic())
        if told and (silent := self.losses().silent_topics):
            log_of(self).warning(f"recording, but {silent}")
        name = diagnostic_name(self)
        message, now_ns, kept = DiagnosticArray(), self._now_ns(), self._session.kept_topics
        message.header.stamp = self.get_clock().now().to_msg()
        message.status = [
            recorder_status(name, self._session, self._clock_watch, self._watch.health()),
            *(
                topic_status(
                    name, topic, self._statistics.get(topic), problem, now_ns, kept=topic in kept
                )
                for topic, problem in self._watch.health().items()
            ),
        ]
        send(self, self._diagnostics, message)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit status."""

    def make() -> Recorder:
        recorder = Recorder()
        bring_up(recorder)
        return recorder

    def ready_to_end(recorder: Recorder) -> bool:
        recorder.stop_writing()
        return True

    return run_node(make, args, ready_to_end=ready_to_end)
