# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Subscriptions that appear with their publishers and take messages as raw bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import EventHandler, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from sysid_ros.errors import BagError
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.recorder.message_definitions import definition, has_header, message_class
from sysid_ros.nodes.recorder.qos_overrides import QosOverride
from sysid_ros.nodes.recorder.topic_selection import TopicSelection, alike
from sysid_ros.recording.bags import BagTopic, QosProfile

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


@dataclass(frozen=True)
class WatchCallbacks:
    """The listeners of a watch."""

    found: Callable[[WatchedTopic], None]  # called when a topic is found, before its first message
    gone: Callable[[str], None]  # called with the name of a topic that is looked for anew
    # called with the topic, the serialized message, and rclpy's message info, a dictionary
    message: MessageCallback
    # called when the middleware reports that messages of a topic were lost
    lost: Callable[[str, int], None]


class _PolledGroup(ReentrantCallbackGroup):
    """Keeps an executor from waking up for every message: :meth:`TopicWatch.poll` takes them.

    rclpy's executors build a wait set and a task per message, several times the work of taking
    and writing it. Nor do they wait for a subscription's events: of Fast DDS such a wait ends at
    once as long as a message has not been taken, and an executor goes round and round.
    """

    def can_execute(self, entity: Any) -> Any:
        return False


class _Ready:
    """Stands in for a wait set in which everything is ready, so that an event can be asked for."""

    def add_event(self, event: Any) -> int:
        return 0

    def is_ready(self, kind: str, index: int) -> bool:
        return True


class TopicWatch:
    """Looks for publishers of the wanted topics and subscribes as they allow.

    The quality of service is the strictest that every publisher offers, with a queue deep enough
    for the recorder to be held up for seconds.
    """

    def __init__(
        self,
        node: Node,
        selection: TopicSelection | None,
        callbacks: WatchCallbacks,
        *,
        depth: int,
        overrides: Mapping[str, QosOverride] | None = None,
    ) -> None:
        """Prepare the watch; :meth:`refresh` starts it.

        Args:
          node: Owns the subscriptions.
          selection: The wanted topics; ``None`` for none.
          callbacks: Who is told what.
          depth: Messages that a subscription may hold.
          overrides: Quality of service by topic that takes precedence over the publishers'.
        """
        self._node = node
        self._selection = selection
        self._callbacks = callbacks
        self._depth = depth
        self._overrides = dict(overrides or {})
        self._group = _PolledGroup()
        self._subscriptions: dict[str, Subscription[Any]] = {}
        self._names: tuple[str, ...] = selection.names if selection else ()
        # What patterns need not find: it may be recorded by the name that is remapped to it.
        self._heard = {node.resolve_topic_name(name) for name in self._names}
        self.topics: dict[str, WatchedTopic] = {}
        self.problems: dict[str, str] = {}

    def health(self) -> dict[str, str | None]:
        """Return the fault of each wanted topic, ``None`` where there is none."""
        return {name: self.problems.get(name) for name in self._names}

    def publishers(self, name: str) -> list[bytes]:
        """The identities of a topic's publishers, as its messages name them."""
        found = self._node.get_publishers_info_by_topic(name)
        return [bytes(publisher.endpoint_gid) for publisher in found]

    def reliable_publishers(self) -> list[bytes]:
        """The identities of the publishers that send lost messages again."""
        reliable = (name for name, topic in self.topics.items() if topic.reliable)
        return [publisher for name in reliable for publisher in self.publishers(name)]

    def refresh(self) -> None:
        """Look at the graph and adapt the subscriptions to it."""
        if self._selection is None:
            return
        if self._selection.has_patterns:
            present = {name for name, _ in self._node.get_topic_names_and_types()}
            self._names = self._selection.matching({*present, *self.topics} - self._heard)
        for name in self._names:
            publishers = self._node.get_publishers_info_by_topic(name)
            if not publishers:
                gone = name in self._subscriptions
                self.problems[name] = "its publisher is gone" if gone else self._unpublished(name)
                continue
            try:
                self._adapt(name, publishers)
            except BagError as error:
                self.problems[name] = str(error)

    def renew(self) -> None:
        """Give up topics that are no longer published as they were found, and look anew."""
        for name, topic in list(self.topics.items()):
            published = self._node.get_publishers_info_by_topic(name)
            types = {publisher.topic_type for publisher in published}
            if types and topic.bag_topic.msgtype not in types:
                self._node.destroy_subscription(self._subscriptions.pop(name))
                del self.topics[name]
                self._callbacks.gone(name)
        self.refresh()

    def poll(self) -> None:
        """Take all messages and events that have arrived."""
        for name, subscription in list(self._subscriptions.items()):
            topic, taken = self.topics[name], self._callbacks.message
            take, kind = subscription.handle.take_message, subscription.msg_type
            with subscription.handle:
                for _ in range(self._depth):  # one flooded topic must not starve the others
                    message: Any = take(kind, True)
                    if message is None:
                        break
                    taken(topic, *message)
            for handler in subscription.event_handlers:
                _take_event(handler)

    def close(self) -> None:
        """End all subscriptions."""
        for subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()
        self.topics.clear()

    def _unpublished(self, name: str) -> str:
        """Say that nobody publishes a topic, and which others may be meant."""
        resolved = self._node.resolve_topic_name  # another name where it is remapped
        heard = resolved(name)
        there = {one for one, _ in self._node.get_topic_names_and_types()}
        others = there - {resolved(wanted) for wanted in self._names}
        meant = [one for one in alike(heard, others) if self._node.count_publishers(one)]
        problem = "no publisher" if heard == name else f"no publisher of {heard}, its remapping"
        return f"{problem}; there is {', '.join(meant)}" if meant else problem

    def _adapt(self, name: str, publishers: list[TopicEndpointInfo]) -> None:
        types = sorted({publisher.topic_type for publisher in publishers})
        known = self.topics.get(name)
        if len(types) > 1 or (known and known.bag_topic.msgtype != types[0]):
            was = f"recorded as {known.bag_topic.msgtype}, " if known else ""
            problem = f"{was}published as {' and '.join(types)}"
            if self.problems.get(name) != problem:  # it may be over before anybody looks
                log_of(self._node).warning(f"{name} is {problem}: other types are not recorded")
            self.problems[name] = problem
            return
        found = _describe(name, types[0], publishers, known)
        if refused := _refused(self._profile(found), publishers):
            self.problems[name] = refused
        else:
            self.problems.pop(name, None)
        if known and (known.reliable, known.latched) == (found.reliable, found.latched):
            return
        if known:  # a publisher has come that offers less
            log_of(self._node).info(
                f"{name} is heard anew as {'reliable' if found.reliable else 'best effort'} and "
                f"{'latched' if found.latched else 'volatile'}: a publisher came that offers less"
            )
            self.poll()
            self._node.destroy_subscription(self._subscriptions.pop(name))
        self.topics[name] = found
        if not known:
            self._callbacks.found(found)
        self._subscriptions[name] = self._subscribe(found)

    def _profile(self, topic: WatchedTopic) -> QoSProfile:
        override = self._overrides.get(topic.bag_topic.name, QosOverride())
        return _profile(topic, self._depth, override)

    def _subscribe(self, topic: WatchedTopic) -> Subscription[Any]:
        name = topic.bag_topic.name
        return self._node.create_subscription(
            message_class(topic.bag_topic.msgtype),
            name,
            _taken_by_poll,
            self._profile(topic),
            callback_group=self._group,
            raw=True,
            event_callbacks=SubscriptionEventCallbacks(
                message_lost=lambda event: self._callbacks.lost(name, event.total_count_change),
                # rclpy would say that no messages come, before the topic is heard anew
                incompatible_qos=_taken_by_poll,
            ),
        )


def _take_event(handler: EventHandler) -> None:
    """Call an event's listener if something has happened since it was asked for last."""
    ready: Any = _Ready()
    handler.add_to_wait_set(ready)
    handler.is_ready(ready)
    event: Any = handler.take_data()
    if event is not None and event.total_count_change:
        handler.callback(event)


def _taken_by_poll(message: Any) -> None:
    """Stand in for the callback of a message, which poll takes, or event, which refresh notices."""


def _profile(topic: WatchedTopic, depth: int, override: QosOverride) -> QoSProfile:
    reliability = "reliable" if topic.reliable else "best_effort"
    durability = "transient_local" if topic.latched else "volatile"
    return QoSProfile(
        history=HistoryPolicy[(override.history or "keep_last").upper()],
        depth=override.depth or depth,
        reliability=ReliabilityPolicy[(override.reliability or reliability).upper()],
        durability=DurabilityPolicy[(override.durability or durability).upper()],
    )


def _refused(profile: QoSProfile, publishers: list[TopicEndpointInfo]) -> str:
    """Return what is asked for and not offered, whose messages the middleware keeps back."""
    offered = [publisher.qos_profile for publisher in publishers]
    refused = []
    if profile.reliability == ReliabilityPolicy.RELIABLE and any(
        offer.reliability == ReliabilityPolicy.BEST_EFFORT for offer in offered
    ):
        refused.append("reliability: reliable")
    if profile.durability == DurabilityPolicy.TRANSIENT_LOCAL and any(
        offer.durability == DurabilityPolicy.VOLATILE for offer in offered
    ):
        refused.append("durability: transient_local")
    asked = ", ".join(refused)
    return f"qos_overrides asks for {{{asked}}}, which a publisher does not offer" if asked else ""


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
