"""Dating the messages of a recording: one time axis for topics with clocks of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.errors import DataError
from sysid_ros.experiment.schema import Clock, MaskConfig, SignalConfig, SignalKind
from sysid_ros.recording.clocks import ClockRelation, Stamps, choose_stamps, put_in_order, relate
from sysid_ros.recording.columns import TopicColumns

FloatArray = npt.NDArray[np.float64]

_SUSPICIOUS_DELAY = 0.05  # s; from stamp to receipt a message rarely takes longer


@dataclass(frozen=True)
class DatedTopic:
    """A topic's messages dated by one clock.

    Attributes:
      columns: The messages, in the order of receipt.
      stamps: Their stamps, in order.
      times: (m,) the stamps in seconds from the recording's start.
    """

    columns: TopicColumns
    stamps: Stamps
    times: FloatArray

    def delay(self) -> ClockRelation:
        """Compare the stamps with the times of receipt."""
        return relate(self.stamps.ns, self.columns.log_ns[self.stamps.rows])


Source = tuple[str, Clock]  # a topic and the clock asked for


@dataclass(frozen=True)
class DatedRecording:
    """The mapped topics of a recording on one time axis.

    Attributes:
      start_ns: Epoch nanoseconds of t = 0: the first stamp of a measured signal's topic.
      topics: Each topic by each clock asked for.
    """

    start_ns: int
    topics: Mapping[Source, DatedTopic]


def source_of(used: SignalConfig | MaskConfig, clock: Clock) -> Source:
    """Return a signal's or mask's topic and clock; ``clock`` counts where it does not say."""
    return used.topic, used.clock or clock


def date_topics(
    columns: Mapping[str, TopicColumns],
    signals: Sequence[SignalConfig],
    masks: Sequence[MaskConfig],
    clock: Clock,
) -> DatedRecording:
    """Date every topic by the clocks asked for.

    Args:
      columns: The messages of each topic, none empty.
      signals: What is read from them.
      masks: What says when they count.
      clock: Which of a message's times counts, where a signal or mask does not say.

    Raises:
      DataError: Header stamps are missing, stamps jump back, or two clocks have nothing in common.
    """
    stamps: dict[Source, Stamps] = {}
    read: list[SignalConfig | MaskConfig] = [*signals, *masks]
    for source in dict.fromkeys(source_of(used, clock) for used in read):
        topic, wanted = source
        stamps[source] = put_in_order(*choose_stamps(columns[topic], wanted), topic)
    _check_overlap(stamps)
    measured = {
        source_of(signal, clock) for signal in signals if signal.kind is not SignalKind.ACTUATOR
    }
    start_ns = min(int(stamps[source].ns[0]) for source in measured or stamps)
    return DatedRecording(
        start_ns,
        {
            source: DatedTopic(columns[source[0]], one, (one.ns - start_ns) / 1e9)
            for source, one in stamps.items()
        },
    )


def _check_overlap(stamps: Mapping[Source, Stamps]) -> None:
    """Refuse topics whose clocks have no instant in common."""
    latest = max(stamps, key=lambda source: int(stamps[source].ns[0]))
    earliest = min(stamps, key=lambda source: int(stamps[source].ns[-1]))
    late, early = stamps[latest], stamps[earliest]
    if late.ns[0] > early.ns[-1]:
        apart = (int(late.ns[0]) - int(early.ns[-1])) / 1e9
        raise DataError(
            f"the times of {earliest[0]} ({early.clock.value}) end {apart:.6g} s before those of "
            f"{latest[0]} ({late.clock.value}) begin; if both were recorded together, date them "
            "by the same clock, such as 'clock: receive'"
        )


def clock_warnings(dated: DatedRecording) -> list[str]:
    """Say what looks wrong with the clocks, one sentence each.

    Where header stamps of one topic are compared with times of publishing or receipt of another,
    a clock offset between the machines would be identified as a delay.
    """
    found = []
    used = {topic.stamps.clock for topic in dated.topics.values()}
    for (name, _), topic in dated.topics.items():
        if topic.stamps.unset:
            found.append(
                f"{topic.stamps.unset} messages of {name} have a header stamp of zero and were "
                "left out."
            )
        if topic.stamps.clock is Clock.HEADER and used != {Clock.HEADER}:
            delay = topic.delay()
            if abs(delay.median) > _SUSPICIOUS_DELAY:
                relation = "before" if delay.median > 0.0 else "after"
                found.append(
                    f"The header stamps of {name} lie {abs(delay.median):.3g} s {relation} their "
                    "receipt, while other topics are dated by publishing or receipt: if the "
                    "clocks differ, this will look like a delay of the robot."
                )
    return found
