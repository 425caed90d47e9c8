"""What the recorder tells on ``/diagnostics``, one status per topic and one for itself."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

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


def recorder_status(node: str, state: str, bag: str, written: int, error: str) -> DiagnosticStatus:
    """The health of the recorder itself.

    Args:
      node: Its name.
      state: ``watching``, ``recording`` or ``paused``.
      bag: The bag being written or last written, empty if none.
      written: Messages in that bag.
      error: Why the last recording ended early, empty if it did not.
    """
    level = DiagnosticStatus.ERROR if error else DiagnosticStatus.OK
    return _status(level, f"{node}: {node}", error or state, {"bag": bag, "messages": written})


def _status(level: bytes, name: str, message: str, values: dict[str, object]) -> DiagnosticStatus:
    pairs = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
    return DiagnosticStatus(level=level, name=name, message=message, values=pairs)
