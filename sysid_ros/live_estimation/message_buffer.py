# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The latest messages of a robot as signals of its model, on a time axis that stays."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from sysid_ros.errors import BagError
from sysid_ros.experiment import Experiment
from sysid_ros.recording.bags import ColumnReader, TopicTypes
from sysid_ros.recording.mapping import MappedRecording, SendingHabit, WantedFields, map_columns
from sysid_ros.recording.messages import RawMessage

PATIENCE = 1.0  # s that a topic may lag behind the others before they go on without it
IDLE = 60.0  # s that are kept until every topic has spoken


class MessageBuffer:
    """Keeps messages as long as something needs them.

    Attributes:
      topics: Those that the experiment maps.
      received_ns: When the latest message was received, nanoseconds since the epoch.
    """

    def __init__(self, experiment: Experiment, recording: TopicTypes) -> None:
        """Begin without messages.

        Args:
          experiment: With the robot's own topics.
          recording: Tells the types of topics; a bag need not stay open.

        Raises:
          SysidError: A topic is missing, or a field is not in its type.
        """
        self._wanted = WantedFields.of(recording, experiment)
        self._recording = recording
        self.topics = frozenset(self._wanted.fields)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget all messages and when time began."""
        self._reader = ColumnReader(self._recording, self._wanted.fields)
        self.received_ns = 0
        self._latest: dict[str, int] = {}  # when each topic's latest message was received, ns
        self._start_ns: int | None = None
        self._habits: dict[str, SendingHabit] = {}  # of commands, by signal
        # Up to when everything was known, and what had been received then.
        self._known: deque[tuple[float, int]] = deque()

    def add(self, messages: Iterable[RawMessage]) -> float:
        """Take over messages, each topic's in the order of receipt.

        Where the clock that dates receipt was set back, or a simulation's began anew, only messages
        from after that are kept, and time begins with them.

        Returns:
          By how much it was set back, s; 0 where it was not.

        Raises:
          BagError: A message is damaged.
        """
        kept, back = self._after_steps_back(list(messages))
        if back:
            self.begin_anew()
            self._latest = {message.topic: message.log_ns for message in kept}
        self._reader.read(iter(kept))
        self.received_ns = max([self.received_ns, *(message.log_ns for message in kept)])
        return back

    def _after_steps_back(self, messages: list[RawMessage]) -> tuple[list[RawMessage], float]:
        """The messages from after their topic's times of receipt step back, and by how much, s."""
        kept, back = [], dict[str, int]()
        for message in messages:
            topic, now = message.topic, message.log_ns
            step = self._latest.get(topic, now) - now
            self._latest[topic] = now
            if step > 1e9 * PATIENCE:
                back[topic] = step
            if topic in back:
                kept.append(message)
        return (kept, 1e-9 * max(back.values())) if back else (messages, 0.0)

    def mapped(self, name: str) -> MappedRecording:
        """The signals of what is kept; t = 0 is the first message's of all.

        Raises:
          SysidError: There is no message of a topic yet, or the samples cannot be used.
        """
        columns = self._reader.columns()
        for topic in {signal.topic for signal in self._wanted.settings.signals}:
            if not len(columns[topic].log_ns):
                # A robot may rest for days before it is commanded. Time begins with what is kept.
                self._reader.forget_before(self.received_ns - round(1e9 * IDLE))
                raise BagError(f"no message of {topic} yet")
        found = map_columns(
            columns, self._wanted, name=name, start_ns=self._start_ns, whole=False,
            habits=self._habits,
        )  # fmt: skip
        self._start_ns = found.start_ns
        self._habits = {one.name: one.habit for one in found.controls if one.habit is not None}
        self._known.append((known_until(found), self.received_ns))
        return found

    def forget_before(self, time: float) -> None:
        """Forget messages that belong to the time before an instant, s."""
        received = None
        while self._known and self._known[0][0] < time:
            received = self._known.popleft()[1]
        if received is not None:
            self._reader.forget_before(received)


def known_until(mapped: MappedRecording) -> float:
    """The instant up to which all signals have arrived, s.

    A held command says nothing about when the next one comes; a signal that has stopped is not
    waited for.
    """
    ends = [
        float(signal.times[-1])
        for signal in (*mapped.measured, *mapped.controls)
        if len(signal.times) and not signal.held
    ]
    # A trajectory is known beyond what was measured.
    return min(max(min(ends), max(ends) - PATIENCE), mapped.end)
