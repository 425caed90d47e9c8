# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The steps of an identification, as calls to the recorder, the excitation and the fit server."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.action import ActionClient
from rclpy.client import Client
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import SetBool

from sysid_ros.errors import ErrorCode, ExperimentError, StopRequestedError, SysidError
from sysid_ros.judgement import forecast_path
from sysid_ros.nodes.fit_server import REPLACE_SEQUENCES, failed_result
from sysid_ros.nodes.identify.recorded_motion import RecordedMotion, as_yaml, refuse_unfit
from sysid_ros.nodes.latched import LATCHED
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.printable_log import log_of
from sysid_ros_interfaces.action import FitModel
from sysid_ros_interfaces.srv import Start, Stop

_SERVICE_TIMEOUT = 10.0  # s
_LAST_TIMEOUT = 4.0  # s likewise when this node is about to end: a recorder waits for 2 s
_FITTED = GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING
_REST = 0.5  # s recorded before the motion
_TURN = 0.05  # s between looks at what is waited for


class PeerError(SysidError):
    """Another node is absent, silent or refuses."""

    code = ErrorCode.DATA_UNUSABLE


class PeerGoneError(PeerError):
    """Another node has ended before it answered."""


class Identification(Node):
    """Client of ``recorder``, ``excite`` and ``fit_server``.

    Whatever waits raises :class:`~sysid_ros.errors.StopRequestedError` once it is to end.
    """

    def __init__(
        self, *, is_to_end: Callable[[], bool] = lambda: False, **node_options: Any
    ) -> None:
        super().__init__("identify", **node_options)
        self._is_to_end = is_to_end
        given = NodeParameters(self)
        self._experiment = given.text(
            "experiment", "", "experiment file, as the fit server sees it"
        )
        self.true_parameters = given.path(
            "true_parameters", "YAML with true values to compare with, for simulations"
        )
        self._bag = given.text("bag", "", "fit this bag instead of recording a new one")
        self.records = not self._bag
        self._may_arm = given.flag(
            "arm", False, "whether to arm the excitation instead of waiting for a person to"
        )
        self._count = given.integer("recordings", 1, "motions, each in a bag of its own", low=1)
        self._holds_out = given.flag(
            "hold_out_last", False, "whether the last of several is held out, not fitted"
        )
        self._overrides = given.texts(
            "overrides", "settings on top of the experiment, such as fit.max_iterations=20"
        )
        self._patience = given.number(
            "patience", 30.0, "seconds to wait for the other nodes to appear"
        )
        self.canceled_status = given.integer(
            "canceled_status",
            int(ErrorCode.CANCELED),
            "exit status where a signal ends this node; launch takes all but 0 for a death",
            low=0,
        )
        recorder = given.text("recorder", "recorder", "name of the recorder")
        excite = given.text("excite", "excite", "name of the excitation")
        fit_server = given.text("fit_server", "fit_server", "name of the fit server")
        self._recorder = recorder
        self._start: Client[Any, Any] = self.create_client(Start, f"{recorder}/start")
        self._stop: Client[Any, Any] = self.create_client(Stop, f"{recorder}/stop")
        self._arm: Client[Any, Any] = self.create_client(SetBool, f"{excite}/arm")
        self._fit: Any = ActionClient(self, FitModel, f"{fit_server}/fit")
        self._server_fits = False  # a goal of anybody's
        self._fits_topic = f"{fit_server}/fit/_action/status"
        qos = qos_profile_action_status_default
        self.create_subscription(GoalStatusArray, self._fits_topic, self._on_fits, qos)
        self._goal_service = self.resolve_service_name(f"{fit_server}/fit/_action/send_goal")
        self._motion = ""
        self._source = ""  # which motion excite plays, in its words
        self.create_subscription(String, f"{excite}/state", self._on_motion, LATCHED)
        self.create_subscription(String, f"{excite}/motion", self._on_source, LATCHED)
        self._spinner = SingleThreadedExecutor(context=self.context)
        self._spinner.add_node(self)
        self._recording = False
        # By this node, or a person whom it asked to, and no end of it heard.
        self._asked_to_move = False
        self._goal: Future[Any] | None = None  # sent, its result not heard

    @property
    def experiment_file(self) -> Path:
        """The experiment file, absolute.

        Raises:
          ExperimentError: None is given.
        """
        if not self._experiment:
            raise ExperimentError("the parameter experiment must name a file")
        return Path(self._experiment).expanduser().absolute()

    def wait_for_nodes(self, topics: Sequence[str]) -> None:
        """Wait until everything is there, and the recorder listens to every topic.

        Args:
          topics: What the experiment maps; names without a slash are absolute, too.

        Raises:
          PeerError: Something is missing when patience ends; says what.
        """
        self._wait_for("the action of the fit server", self._fit.server_is_ready)
        if not self.records:
            self._wait_for_one_each(self._goal_service)
            return
        asked = self._start, self._stop, self._arm
        for client in asked:
            self._wait_for(f"the service {client.service_name}", client.service_is_ready)
        self._wait_for("joint states, without which excite does not move", self._motion_possible)
        for topic in sorted({f"/{topic.lstrip('/')}" for topic in topics}):
            self._wait_for(
                f"{self._recorder} to subscribe to {topic}, as it does once somebody publishes it; "
                "the launch argument command names the topic that excite publishes",
                functools.partial(self._is_recorded, topic),
            )
        # Or a motion is recorded that is not fitted; clients that were killed leave such a goal.
        self._wait_for("the fit server to end another fit", lambda: not self._server_fits)
        # Last, when whoever else is there has been heard of.
        self._wait_for_one_each(self._goal_service, *(client.service_name for client in asked))

    def _wait_for_one_each(self, *services: str) -> None:
        """Wait until services have one server each, as two would both obey.

        A node that was killed counts for up to 20 s, until the middleware forgets it.
        """
        for service in services:
            name = service.removesuffix("/_action/send_goal")
            self._wait_for(
                f"all nodes but one that offer {name} to end; give them names of their own",
                functools.partial(lambda name: self.count_services(name) <= 1, service),
            )

    def record_motions(self, on_bag: Callable[[str], None]) -> tuple[RecordedMotion, ...]:
        """Record the robot while the excitation moves it, as often as asked for.

        Each motion is armed by itself, by this node or by a person, and has a bag of its own.

        Args:
          on_bag: Told every bag's path on the recorder's machine.

        Raises:
          PeerError: A node refuses, or a motion stops early.
        """
        if not self.records:
            return (RecordedMotion(self._bag),)
        found = []
        for number in range(1, self._count + 1):
            if self._count > 1:
                log_of(self).info(f"recording {number} of {self._count}")
            bag = self._record_motion()
            found.append(RecordedMotion(bag, self._designed(self._source)))
            on_bag(bag)
        return tuple(found)

    def _record_motion(self) -> str:
        if self._may_arm:
            self._start_recording()
            self._arm_excitation()
        else:
            self._wait_for_arming()
            self._start_recording()
        while not self._motion.startswith(("done", "stopped")):
            self._turn_with_peers()
            if self._motion in ("waiting", "ready"):
                raise PeerError("excite has begun anew while the robot was moving")
        if self._motion != "done":
            raise PeerError(f"the motion {self._motion}")
        return self._stop_recording()

    def fit(
        self, recorded: Sequence[RecordedMotion], on_feedback: Callable[[FitModel.Feedback], None]
    ) -> Any:
        """Have the fit server fit recordings.

        Args:
          recorded: Their bags are on the server's machine.
          on_feedback: Called with every feedback message.

        Returns:
          The action's result.

        Raises:
          PeerError: The fit server has gone.
        """
        last = self._holds_out and len(recorded) > 1
        fitted = recorded[:-1] if last else recorded
        goal = FitModel.Goal(
            experiment_file=str(self.experiment_file),
            bags=[one.bag for one in fitted],
            overrides=[
                REPLACE_SEQUENCES,
                *([f"sequences={as_yaml(fitted)}"] if any(one.motion for one in fitted) else []),
                *([f"validation={{bags: {as_yaml(recorded[-1:])}}}"] if last else []),
                *self._overrides,
            ],
        )
        servers = self._fit_servers()
        sent = self._fit.send_goal_async(
            goal, feedback_callback=lambda message: on_feedback(message.feedback)
        )
        self._goal = sent
        handle = self._await(sent, _SERVICE_TIMEOUT, "the fit server", self._fit.server_is_ready)
        if not handle.accepted:
            self._goal = None
            return failed_result(ErrorCode.BUSY, "the fit server is busy with another goal")
        result = handle.get_result_async()
        while not result.done():
            self._spin(_TURN)
            if not servers <= self._fit_servers():  # another in its place knows nothing of the goal
                raise PeerError("the fit server has gone while it was fitting")
        self._goal = None
        return result.result().result

    def _fit_servers(self) -> set[bytes]:
        """The fit servers that are there, by what tells of their goals."""
        told = self.get_publishers_info_by_topic(self._fits_topic)
        return {bytes(publisher.endpoint_gid) for publisher in told}

    def call_off(self) -> None:
        """Stop what this node has started and not ended, as far as the other nodes are there."""
        self._is_to_end = lambda: False  # these calls are the end
        moves = self._asked_to_move and self._motion in ("", "running")
        if moves and self._arm.service_is_ready():
            self._try(lambda: self._call(self._arm, SetBool.Request(data=False), _LAST_TIMEOUT))
        if self._recording and self._stop.service_is_ready():
            self._try(lambda: self._call(self._stop, Stop.Request(), _LAST_TIMEOUT))
        goal = self._goal
        if goal is not None and self._fit.server_is_ready():
            self._try(lambda: self._cancel(goal))

    def _cancel(self, goal: Future[Any]) -> None:
        server = _LAST_TIMEOUT, "the fit server", self._fit.server_is_ready
        handle = self._await(goal, *server)
        if handle.accepted:
            self._await(handle.cancel_goal_async(), *server)

    def _try(self, last_call: Callable[[], Any]) -> None:
        """Make a call whose failure must not keep from the next one."""
        try:
            last_call()
        except PeerGoneError:  # Ctrl-C reaches all nodes, and each ends its own work first
            pass
        except SysidError as error:
            log_of(self).error(str(error))

    def close(self) -> None:
        """Release everything."""
        self._spinner.shutdown()
        self._fit.destroy()
        self.destroy_node()

    def _start_recording(self) -> None:
        self._recording = True  # from now on: the answer may come late
        started = self._call(self._start, Start.Request())
        if not started.success:
            self._recording = False
            raise PeerError(f"the recorder does not start: {started.message}")

    def _arm_excitation(self) -> None:
        self._spin(_REST)
        self._motion, self._asked_to_move = "", True  # from now on: the answer may come late
        armed = self._call(self._arm, SetBool.Request(data=True))
        if not armed.success:
            self._asked_to_move = False
            raise PeerError(f"the robot does not move: {armed.message}")

    def _wait_for_arming(self) -> None:
        """Wait, for as long as it takes, until somebody lets the robot move."""
        service = self.resolve_service_name(self._arm.service_name)
        if self._motion == "running":
            log_of(self).warning(
                "the robot moves already, which is not recorded: wait until it has ended"
            )
        while self._motion == "running":
            self._turn_with_peers()
        self._asked_to_move = True
        log_of(self).warning(
            "the robot will move once you arm it: "
            f"ros2 service call {service} std_srvs/srv/SetBool '{{data: true}}'"
        )
        while self._motion != "running":
            self._turn_with_peers()

    def _turn_with_peers(self) -> None:
        """Wait a moment while a motion is awaited or recorded.

        Raises:
          PeerGoneError: It would be in vain.
        """
        self._spin(_TURN)
        for peer in (self._arm, self._stop):
            if not peer.service_is_ready():
                raise PeerGoneError(f"the service {peer.service_name} has gone")

    def _on_motion(self, message: String) -> None:
        self._motion = message.data
        if message.data.startswith(("done", "stopped")):
            self._asked_to_move = False

    def _on_fits(self, message: GoalStatusArray) -> None:
        self._server_fits = any(one.status in _FITTED for one in message.status_list)

    def _on_source(self, message: String) -> None:
        self._source = message.data

    @staticmethod
    def _designed(source: str) -> str | None:
        """The file of a motion, where its forecast lies beside it."""
        return source if source and forecast_path(Path(source)).is_file() else None

    def _motion_possible(self) -> bool:
        return bool(self._motion) and self._motion != "waiting"

    def _is_recorded(self, topic: str) -> bool:
        subscribers = self.get_subscriptions_info_by_topic(topic)
        name = self._recorder.rpartition("/")[2]
        return any(info.node_name == name for info in subscribers)

    def _stop_recording(self) -> str:
        self._recording = False
        stopped = self._call(self._stop, Stop.Request())
        refuse_unfit(stopped)
        if stopped.message:
            log_of(self).warning(f"the recording is not complete: {stopped.message}")
        return str(stopped.bag_path)

    def _wait_for(self, what: str, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + self._patience
        while not condition():
            if time.monotonic() > deadline:
                raise PeerError(f"waited {self._patience:.0f} s in vain for {what}")
            self._spin(_TURN)

    def _call(
        self, client: Client[Any, Any], request: Any, timeout: float = _SERVICE_TIMEOUT
    ) -> Any:
        answer, who = client.call_async(request), f"the service {client.service_name}"
        return self._await(answer, timeout, who, client.service_is_ready)

    def _await(
        self,
        future: Future[Any],
        timeout: float,
        who: str,
        is_there: Callable[[], bool] = lambda: True,
    ) -> Any:
        deadline = time.monotonic() + timeout
        while not future.done():
            if not is_there():
                raise PeerGoneError(f"{who} has gone")
            if time.monotonic() > deadline:
                raise PeerError(f"{who} did not answer within {timeout:.0f} s")
            self._go_on()
            rclpy.spin_until_future_complete(self, future, self._spinner, _TURN)
        return future.result()

    def _spin(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._go_on()
            self._spinner.spin_once(timeout_sec=min(left, _TURN))
        self._go_on()

    def _go_on(self) -> None:
        if self._is_to_end():
            raise StopRequestedError
