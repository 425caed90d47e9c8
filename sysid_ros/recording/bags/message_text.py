# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Text that a bag carries in messages, such as the robot's description."""

from __future__ import annotations

from sysid_ros.errors import BagError, unknown_name
from sysid_ros.recording.bags.bag import Recording
from sysid_ros.recording.messages import Text, locate

_FIELD = "data"


def read_text(recording: Recording, topic: str) -> str:
    """Return the string ``data`` of a topic's last message.

    Raises:
      BagError: The topic is absent or empty, or its type has no such string field.
    """
    info, types = recording.topic(topic), recording.types(topic)
    last = None
    for message in recording.messages([topic]):
        if last is None or message.log_ns >= last.log_ns:
            last = message
    if last is None:
        raise BagError(f"bag {recording.path}: topic {topic} holds no messages")
    root = locate(last.data, info.msgtype, types, serialization=info.serialization).root
    node = root.fields.get(_FIELD)
    if not isinstance(node, Text):
        texts = [name for name, other in root.fields.items() if isinstance(other, Text)]
        raise BagError(
            f"bag {recording.path}, topic {topic}: "
            f"{unknown_name(f'text field of {info.msgtype}', _FIELD, texts)}"
        )
    return node.value
