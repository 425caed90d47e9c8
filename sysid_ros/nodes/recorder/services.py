# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder's services, named as rosbag2 names its recorder's."""

from __future__ import annotations

from typing import Any, Protocol

from rclpy.node import Node

from sysid_ros.errors import OutputError
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.recorder.bag_session import BagSession
from sysid_ros.nodes.recorder.message_losses import Losses
from sysid_ros_interfaces.srv import IsPaused, Pause, Resume, Snapshot, SplitBagfile, Start, Stop


class Recording(Protocol):
    """The recording that the services act on."""

    def start_writing(self) -> None:
        """Begin a bag.

        Raises:
          OutputError: The recorder is not active or the bag cannot be created.
        """

    def stop_writing(self) -> None:
        """Complete the bag if there is one."""

    def losses(self) -> Losses:
        """The losses of the bag."""

    def pause(self, paused: bool) -> None:
        """Leave out what comes from now on, or go on with it."""

    def take_snapshot(self) -> None:
        """Write what the snapshot buffer holds.

        Raises:
          OutputError: There is nothing to write or it cannot be written.
        """

    def split(self) -> None:
        """Go on in a new file of the same bag."""


class RecorderServices:
    """``~/start ~/stop ~/pause ~/resume ~/is_paused ~/snapshot ~/split_bagfile``."""

    def __init__(self, node: Node, session: BagSession, recording: Recording) -> None:
        """Offer the services."""
        self._session = session
        self._recording = recording
        self._logger = log_of(node)
        self._stop_service = node.resolve_service_name("~/stop")
        for kind, name, answer in (
            (Start, "~/start", self._start),
            (Stop, "~/stop", self._stop),
            (Pause, "~/pause", self._pause),
            (Resume, "~/resume", self._resume),
            (IsPaused, "~/is_paused", self._is_paused),
            (Snapshot, "~/snapshot", self._snapshot),
            (SplitBagfile, "~/split_bagfile", self._split),
        ):
            node.create_service(kind, name, answer)

    def _start(self, request: Any, response: Any) -> Any:
        try:
            if self._session.in_snapshot_mode:
                raise OutputError("in snapshot mode a bag is written by ~/snapshot")
            if self._session.writing:
                raise OutputError(
                    f"already writing {self._session.last_bag}; {self._stop_service} completes it"
                )
            self._recording.start_writing()
        except OutputError as error:
            response.message = str(error)
            return response
        response.success, response.bag_path = True, self._session.last_bag
        return response

    def _stop(self, request: Any, response: Any) -> Any:
        session = self._session
        if session.writing:
            self._recording.stop_writing()
            losses = self._recording.losses()
            empty = "" if session.last_count else "the bag holds no message"
            reasons = [session.error or empty, str(losses)]
            response.success = not reasons[0]
            response.message = "; ".join(reason for reason in reasons if reason)
            response.lost = losses.count
        else:
            response.message = session.error or session.limit or "nothing is being written"
        response.bag_path, response.messages = session.last_bag, session.last_count
        return response

    def _pause(self, request: Any, response: Any) -> Any:
        self._recording.pause(self._session.writing or self._session.in_snapshot_mode)
        return response

    def _resume(self, request: Any, response: Any) -> Any:
        self._recording.pause(False)
        return response

    def _is_paused(self, request: Any, response: Any) -> Any:
        response.paused = self._session.paused
        return response

    def _snapshot(self, request: Any, response: Any) -> Any:
        try:
            self._recording.take_snapshot()
        except OutputError as error:
            self._logger.error(str(error))
            return response
        response.success = True
        return response

    def _split(self, request: Any, response: Any) -> Any:
        if self._session.writing:
            self._recording.split()
        else:
            self._logger.warning("nothing is being written that could be split")
        return response
