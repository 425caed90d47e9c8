# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The goals that controllers say they follow, whoever sent them."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default

from sysid_ros.nodes.excite.command_topic import named

_FOLLOWED = (
    GoalStatus.STATUS_ACCEPTED,
    GoalStatus.STATUS_EXECUTING,
    GoalStatus.STATUS_CANCELING,
)
_LONG = 60  # looks, half a minute, after which one that was never found has gone


class FollowedGoals:
    """Listens to the status of an action, controller by controller."""

    def __init__(self, node: Node, action: str) -> None:
        """Subscribe; ``action`` is its full name."""
        self._node = node
        # By the words of each controller; b"" where that is not known.
        self._followed: dict[bytes, list[bytes]] = {}
        self._tellers: set[bytes] = set()  # controllers, at the latest look
        self._missed: dict[bytes, int] = {}  # looks at which one that has told was not found
        self._status = f"{action}/_action/status"
        node.create_subscription(
            GoalStatusArray, self._status, self.observe, qos_profile_action_status_default
        )

    def tellers(self) -> set[str]:
        """The names of the nodes that offer the action."""
        return named(self._node.get_publishers_info_by_topic(self._status))

    def look(self) -> bool:
        """Forget goals of controllers that have gone.

        Returns:
          Whether the same are there as at the last look. One that was found just now, also in the
          place of another, may follow a goal.
        """
        publishers = self._node.get_publishers_info_by_topic(self._status)
        there = {bytes(one.endpoint_gid) for one in publishers}
        same = there == self._tellers
        # Goals that no known controller told of are forgotten when none is left.
        gone = self._tellers - there if there or not self._tellers else set(self._followed)
        # A controller that went before it was ever found says nothing of its goal's end either. One
        # whose name is of another kind than those on the graph may be any of them.
        missed = self._followed.keys() - there
        self._missed = {teller: self._missed.get(teller, 0) + 1 for teller in missed}
        kinds = {len(teller) for teller in there}
        gone |= {one for one, looks in self._missed.items() if looks > _LONG and len(one) in kinds}
        self._tellers = there
        for teller in gone:
            self._followed.pop(teller, None)
        return same

    def beside(self, own: Collection[bytes]) -> bool:
        """Return whether a goal is followed that is none of ``own``, by their identities."""
        return not set(chain.from_iterable(self._followed.values())) <= set(own)

    def observe(self, message: GoalStatusArray, info: Any) -> None:
        """Take one message."""
        teller = bytes((info.get("publisher_gid") or {}).get("data", b""))
        self._followed[teller] = [
            bytes(one.goal_info.goal_id.uuid)
            for one in message.status_list
            if one.status in _FOLLOWED
        ]
