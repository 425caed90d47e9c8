"""What the recorder tells on ``/diagnostics``, one status per topic and one for itself."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from sysid_ros.nodes.bag_session import BagSession
from sysid_ros.nodes.clocks import ClockWatch
from sysid_ros.nodes.topic_statistics import TopicStatistics


def topic_status(
    node: str, topic: str, statistics: TopicStatistics | None, problem: str | None
) -> DiagnosticStatus:
    """The health of one topic.

    Args:
      node: The recorder's name.
      topic: The topic's name.
      statistics: Its counts, ``None`` before its first message.
      problem: Why it cannot be subscribed to, if so.

    Returns:
      OK, WARN where messages were lost or are missing, ERROR where nothing can be recorded.
    """
    level, message = DiagnosticStatus.OK, "receiving"
    if problem is not None:
        level, message = DiagnosticStatus.ERROR, problem
    elif statistics is None or not statistics.received:
        level, message = DiagnosticStatus.WARN, "no message yet"
    elif statistics.lost:
        level, message = DiagnosticStatus.WARN, f"{statistics.lost} messages lost"
    elif statistics.gaps:
        level, message = DiagnosticStatus.WARN, f"{statistics.gaps} gaps"
    elif statistics.backwards:
        level, message = DiagnosticStatus.WARN, f"{statistics.backwards} stamps run backwards"
    counts = statistics or TopicStatistics(max_gap_ns=0)
    values = {
        "received": counts.received,
        "rate (Hz)": f"{counts.rate:.1f}",
        "lost": counts.lost,
        "gaps": counts.gaps,
        "longest gap (s)": f"{1e-9 * counts.longest_gap_ns:.4f}",
        "duplicate stamps": counts.duplicates,
        "backward stamps": counts.backwards,
    }
    return _status(level, f"{node}: {topic}", message, values)


def recorder_status(node: str, session: BagSession, clock: ClockWatch) -> DiagnosticStatus:
    """The health of the recorder itself.

    Args:
      node: Its name.
      session: What it writes.
      clock: What dates it.
    """
    level, message = DiagnosticStatus.OK, session.limit or session.state
    if session.error:
        level, message = DiagnosticStatus.ERROR, session.error
    elif clock.waiting:
        level, message = DiagnosticStatus.WARN, "waiting for the topic /clock"
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


def _status(level: bytes, name: str, message: str, values: dict[str, object]) -> DiagnosticStatus:
    pairs = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
    return DiagnosticStatus(level=level, name=name, message=message, values=pairs)
