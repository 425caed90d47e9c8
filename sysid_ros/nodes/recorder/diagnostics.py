# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder's ``/diagnostics``, one status per topic and one for itself."""

from __future__ import annotations

from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from sysid_ros.nodes.clocks import ClockWatch
from sysid_ros.nodes.recorder.bag_session import BagSession
from sysid_ros.nodes.recorder.topic_statistics import TopicStatistics
from sysid_ros.recording.bags import FASTEST_CLOCK

_ANOTHER_BEGINNING = 1e8  # s; no computer's clock is three years off
_ANOTHER_PACE = 10 * FASTEST_CLOCK  # s/s; what a few seconds of queueing do not look like


def topic_status(
    node: str,
    topic: str,
    statistics: TopicStatistics | None,
    problem: str | None,
    now_ns: int,
    *,
    kept: bool = False,
) -> DiagnosticStatus:
    """The health of one topic.

    Args:
      node: The recorder's name.
      topic: The topic's name.
      statistics: Its counts, ``None`` before its first message.
      problem: Why it cannot be subscribed to, if so.
      now_ns: By the clock that dates the receipt of messages.
      kept: Whether latched messages came before, which are in every bag.

    Returns:
      OK, WARN where messages were lost or are missing, ERROR where nothing can be recorded.
    """
    level, message = DiagnosticStatus.OK, "receiving"
    if problem is not None:
        level, message = DiagnosticStatus.ERROR, problem
    elif statistics is None or not statistics.received:
        if kept:
            message = "latched earlier"
        else:
            level, message = DiagnosticStatus.WARN, "no message yet"
    elif statistics.has_fallen_silent(now_ns):
        silence = statistics.silence(now_ns)
        level, message = DiagnosticStatus.WARN, f"no message for {silence:.1f} s"
    elif statistics.lost:
        level, message = DiagnosticStatus.WARN, f"{statistics.lost} messages lost"
    elif statistics.unheard:
        unheard = f"up to {statistics.unheard} messages of a publisher that came later missed"
        level, message = DiagnosticStatus.WARN, unheard
    elif statistics.gaps:
        level, message = DiagnosticStatus.WARN, f"{statistics.gaps} gaps"
    elif statistics.backwards:
        level, message = DiagnosticStatus.WARN, f"{statistics.backwards} stamps run backwards"
    values = topic_values(statistics or TopicStatistics(max_gap_ns=0), now_ns)
    return _status(level, f"{node}: {topic}", message, values)


def topic_values(counts: TopicStatistics, now_ns: int) -> dict[str, str]:
    """Return the counts of one topic, as on ``/diagnostics`` and at the end of a bag.

    Args:
      counts: The counts.
      now_ns: By the clock that dates the receipt of messages.
    """
    values = {
        "received": str(counts.received),
        "rate (Hz)": f"{counts.rate:.1f}",
        "jitter (s)": f"{counts.jitter:.6f}",
        "lost": str(counts.lost),
        "missed at most": str(counts.unheard),
        "largest (MB)": f"{1e-6 * counts.largest:.6f}",
        "late": str(counts.late),
        "out of order": str(counts.reordered),
        "gaps": str(counts.gaps),
        "longest gap (s)": f"{1e-9 * counts.longest_gap_ns:.4f}",
        "silent since (s)": f"{counts.silence(now_ns):.1f}",
        "duplicate stamps": str(counts.duplicates),
        "backward stamps": str(counts.backwards),
    }
    clock = counts.clock
    if clock is not None:  # receipt minus stamp, without queueing
        values["clock offset (s)"] = f"{clock.offset:.6f}"
        values["clock drift (s/s)"] = f"{clock.drift:.3g}"
        if abs(clock.offset) > _ANOTHER_BEGINNING:
            values["clock offset (s)"] = (
                "none (stamps count from another beginning: a simulation's)"
            )
        if abs(clock.drift) > _ANOTHER_PACE:
            values["clock drift (s/s)"] = "none (stamps run at another pace: a simulation's)"
            values["late"] = "unknown"
    return values


def recorder_status(
    node: str, session: BagSession, clock: ClockWatch, health: Mapping[str, str | None]
) -> DiagnosticStatus:
    """The health of the recorder itself, by what is wrong with each topic (``None``: nothing)."""
    problems = [f"{topic}: {problem}" for topic, problem in health.items() if problem]
    level, message = DiagnosticStatus.OK, session.limit or session.state
    if session.error:
        level, message = DiagnosticStatus.ERROR, session.error
    elif clock.waiting:
        level, message = DiagnosticStatus.WARN, "waiting for the topic /clock"
    elif problems:
        level, message = DiagnosticStatus.ERROR, "; ".join(problems)
    elif session.warning:
        level, message = DiagnosticStatus.WARN, session.warning
    values = {
        "state": session.state,
        "bag": session.last_bag,
        "messages": session.message_count,
        "size (MB)": f"{1e-6 * session.size:.3f}",
        "clock jumps": clock.jumps,
    }
    return _status(level, f"{node}: {node}", message, values)


def _status(
    level: bytes, name: str, message: str, values: Mapping[str, object]
) -> DiagnosticStatus:
    pairs = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
    return DiagnosticStatus(level=level, name=name, message=message, values=pairs)
