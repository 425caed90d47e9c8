# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion that ``excite`` times itself: one command after the other on a topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation import Motion, Reference
from sysid_ros.nodes.excite.command_topic import CommandTopic
from sysid_ros.nodes.excite.settings import ExcitationSettings


class StreamedMotion:
    """Plays one motion at a time to the topic ``command``."""

    def __init__(self, node: Node, settings: ExcitationSettings, now: Callable[[], float]) -> None:
        """Create the publisher; nothing moves. ``now`` gives the time in s."""
        self._node = node
        self._settings = settings
        self._now = now
        self._topic = CommandTopic(node, settings)
        self._motion: Any = None
        self._held: FloatArray | None = None  # (n,) the command that the last motion ended with
        self._alone = True  # since that motion began the robot has held our commands and no others
        self._sent = 0.0  # when the last command was ready

    @property
    def heard(self) -> bool:
        """True if anybody would obey."""
        return self._topic.heard

    @property
    def settles(self) -> bool:
        """False: nothing that is still to come says whether a motion may begin."""
        return False

    @property
    def moves(self) -> bool:
        """True if a motion has begun and not ended."""
        return self._motion is not None

    @property
    def left_alone(self) -> bool:
        """False: a robot that gets no more commands does not move on."""
        return False

    def obstacle(self) -> str:
        """Return the reason why a motion must not begin; empty if it may."""
        return self._topic.problem()

    def listeners(self) -> set[str]:
        """The names of the nodes that hear commands."""
        return self._topic.listeners()

    def rivals(self) -> str:
        """Name others that move the robot, in a sentence; empty if nobody does."""
        return self._topic.rivals()

    def forget(self) -> None:
        """Begin the next motion where the robot stands, as it may not hold our last command."""
        self._alone = False

    def begin(self, reference: Reference, position: FloatArray, speed: float) -> FloatArray:
        """Begin a motion where the robot stands, at ``position`` (n,), at a share of its speed.

        One that still follows what the last motion ended with obeys that, though it may sag: then
        the motion begins there, as any other command would be a step.

        Returns:
          The command (n,) that counts from now on.

        Raises:
          ExcitationError: The motion would leave the limits.
        """
        position = self._held_at(position)
        self._motion = self._planned(self._settings.streamed(reference, position, speed))
        self._alone = True
        self._sent = self._now()
        return np.asarray(self._motion.last)

    def _held_at(self, position: FloatArray) -> FloatArray:
        """The command (n,) that holds a robot at ``position``, (n,), as far as that is known."""
        held = self._held if self._alone else None
        if held is None or np.any(np.abs(position - held) > self._settings.tolerance):
            return position
        return held

    def _planned(self, motion: Motion) -> Any:
        """Return the player of a planned motion."""
        return motion

    def fault(self, now: float) -> str | None:
        """The reason to stop; ``None`` without one."""
        return self._motion.fault(now - self._sent) if self._motion else None

    def stop(self) -> None:
        """Begin a soft stop."""
        if self._motion is not None:
            self._motion.stop()

    def reached(self, now: float) -> FloatArray | None:
        """Return nothing: no command counts that was not sent, whatever ``now`` is."""
        return None

    def go_on(self, now: float) -> FloatArray | None:
        """Publish the next command if it is due, whenever the tick began, and return it, (n,).

        One that did not go out never was: the next one is planned from what the robot was told.
        """
        message = self._motion.message(self._sent, self._now) if self._motion else None
        if message is None or not self._topic.publish(message.commands[0]):
            return None
        self._motion, self._sent = message.motion, message.instant
        return np.asarray(message.commands[0])

    def ended(self) -> bool:
        """Return whether the motion is over now, and forget it then."""
        if self._motion is None or not self._motion.finished:
            return False
        self._held, self._motion = self._motion.last, None
        return True
