# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Topics and parts of messages that are recorded and read by no signal."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.recording.messages import parse_fields


def unread(
    channels: Sequence[Channel], lines: Sequence[Line], others: Collection[str]
) -> tuple[str, ...]:
    """Name topics that nothing is mapped from, and what changes in the rest and is not mapped.

    Args:
      channels: What was recorded.
      lines: The signals.
      others: Topics that are read for something else.
    """
    used = {
        (line.channel.topic, _part(str(term.path)))
        for line in lines
        for term in parse_fields(line.channel.field)
    }
    topics = {topic for topic, _ in used}
    told = {
        (one.topic, _part(one.field)) for one in channels if one.topic not in topics or one.moves
    }
    left = sorted((topic, part) for topic, part in told - used if topic not in others)
    shown = (f"{part} of {topic}" if topic in topics else topic for topic, part in left)
    return tuple(dict.fromkeys(shown))


def _part(field: str) -> str:
    """The part of a message that a field is in, such as ``position`` or ``orientation``."""
    return re.split(r"[.\[]", field, maxsplit=1)[0]
