"""Subscriptions that appear with their publishers and take messages as raw bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from sysid_ros.errors import BagError
from sysid_ros.nodes.bag_folder import BagTopic, QosProfile
from sysid_ros.nodes.message_definitions import definition, has_header, message_class

# Longer than any duration a publisher means: DDS's infinity.
_INFINITE_NS = (1 << 63) - 1


@dataclass(frozen=True)
class WatchedTopic:
    """A topic with a publisher, and how it is subscribed to."""

    bag_topic: BagTopic
    has_header: bool
    latched: bool  # its publishers keep messages for late subscribers
    reliable: bool


MessageCallback = Callable[[WatchedTopic, bytes, Any], None]


class TopicWatch:
    """Looks for publishers of the wanted topics and subscribes as they allow.

    The quality of service is the strictest that every publisher offers, with a queue deep enough
    for the recorder to be held up for seconds.
    """

    def __init__(
        self,
        node: Node,
        names: Iterable[str],
        *,
        depth: int,
        on_topic: Callable[[WatchedTopic], None],
        on_message: MessageCallback,
        on_lost: Callable[[str, int], None],
    ) -> None:
        """Prepare the watch; :meth:`refresh` starts it.

        Args:
          node: Owns the subscriptions.
          names: Topics, absolute.
          depth: Messages that a subscription may hold.
          on_topic: Called when a topic is found, before its first message.
          on_message: Called with the topic, the serialized message, and rclpy's message info,
            a dictionary.
          on_lost: Called when the middleware reports that messages of a topic were lost.
        """
        self._node = node
        self._names = tuple(dict.fromkeys(names))
        self._depth = depth
        self._on_topic = on_topic
        self._on_message = on_message
        self._on_lost = on_lost
        self._subscriptions: dict[str, Subscription[Any]] = {}
        self.topics: dict[str, WatchedTopic] = {}
        self.problems: dict[str, str] = {}

    def health(self) -> dict[str, str | None]:
        """What is wrong with each wanted topic, ``None`` where nothing is."""
        return {name: self.problems.get(name) for name in self._names}

    def refresh(self) -> None:
        """Look at the graph and adapt the subscriptions to it."""
        for name in self._names:
            publishers = self._node.get_publishers_info_by_topic(name)
            if not publishers:
                if name not in self._subscriptions:
                    self.problems[name] = "no publisher"
                continue
            try:
                self._adapt(name, publishers)
            except BagError as error:
                self.problems[name] = str(error)

    def close(self) -> None:
        """End all subscriptions."""
        for subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()
        self.topics.clear()

    def _adapt(self, name: str, publishers: list[TopicEndpointInfo]) -> None:
        types = sorted({publisher.topic_type for publisher in publishers})
        known = self.topics.get(name)
        if len(types) > 1 or (known and known.bag_topic.msgtype != types[0]):
            was = f"recorded as {known.bag_topic.msgtype}, " if known else ""
            self.problems[name] = f"{was}published as {' and '.join(types)}"
            return
        self.problems.pop(name, None)
        found = _describe(name, types[0], publishers, known)
        if known and (known.reliable, known.latched) == (found.reliable, found.latched):
            return
        if known:  # a publisher has come that offers less
            self._node.destroy_subscription(self._subscriptions.pop(name))
        self.topics[name] = found
        if not known:
            self._on_topic(found)
        self._subscriptions[name] = self._subscribe(found)

    def _subscribe(self, topic: WatchedTopic) -> Subscription[Any]:
        name = topic.bag_topic.name
        reliability = (
            ReliabilityPolicy.RELIABLE if topic.reliable else ReliabilityPolicy.BEST_EFFORT
        )
        durability = (
            DurabilityPolicy.TRANSIENT_LOCAL if topic.latched else DurabilityPolicy.VOLATILE
        )
        profile = QoSProfile(
            history=HistoryPolicy.KEEP_LAST,
            depth=self._depth,
            reliability=reliability,
            durability=durability,
        )

        def received(message: bytes, info: Any) -> None:
            self._on_message(topic, message, info)

        return self._node.create_subscription(
            message_class(topic.bag_topic.msgtype),
            name,
            received,
            profile,
            raw=True,
            event_callbacks=SubscriptionEventCallbacks(
                message_lost=lambda event: self._on_lost(name, event.total_count_change)
            ),
        )


def _describe(
    name: str, msgtype: str, publishers: list[TopicEndpointInfo], known: WatchedTopic | None
) -> WatchedTopic:
    profiles = [publisher.qos_profile for publisher in publishers]
    reliable = all(profile.reliability == ReliabilityPolicy.RELIABLE for profile in profiles)
    latched = all(profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for profile in profiles)
    if known:
        # What was recorded so far keeps its description, and no subscription grows stricter.
        return WatchedTopic(
            known.bag_topic,
            known.has_header,
            known.latched and latched,
            known.reliable and reliable,
        )
    type_hash = publishers[0].topic_type_hash
    described = BagTopic(
        name=name,
        msgtype=msgtype,
        definition=definition(msgtype),
        type_hash=f"RIHS{type_hash.version:02d}_{bytes(type_hash.value).hex()}",
        qos=tuple(_qos(profile) for profile in profiles),
    )
    return WatchedTopic(described, has_header(msgtype), latched, reliable)


def _qos(profile: QoSProfile) -> QosProfile:
    def finite(nanoseconds: int) -> int:
        return 0 if nanoseconds >= _INFINITE_NS else nanoseconds

    return QosProfile(
        history=profile.history.name.lower(),
        depth=profile.depth,
        reliability=profile.reliability.name.lower(),
        durability=profile.durability.name.lower(),
        deadline_ns=finite(profile.deadline.nanoseconds),
        lifespan_ns=finite(profile.lifespan.nanoseconds),
        liveliness=profile.liveliness.name.lower(),
        lease_ns=finite(profile.liveliness_lease_duration.nanoseconds),
    )
