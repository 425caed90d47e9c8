# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``excite``: moves a robot such that its parameters show, within limits, and only if armed.

It waits for ``~/arm`` (or the parameter ``armed``), starts softly from where the robot stands,
plays a multisine or a trajectory file to the topic ``command``, or as a goal of the controller's
action, and ends softly. It stops when joint states stop, do not follow or leave their limits, when
its own messages fall behind or the controller says nothing, and when others move the robot, too.
``~/state`` tells where it is: ``waiting``, ``ready``, ``running``, ``done``, ``stopped: <why>``;
``~/motion`` which motion that is: the path of a file, or ``multisine <seed>``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import SysidError
from sysid_ros.excitation import ExcitationError
from sysid_ros.nodes.clocks import motion_clock, steady_clock
from sysid_ros.nodes.excite.controller_motion import ControllerMotion
from sysid_ros.nodes.excite.controller_parameters import ControllerParameters
from sysid_ros.nodes.excite.controller_watch import ControllerWatch
from sysid_ros.nodes.excite.driver_watch import DriverWatch
from sysid_ros.nodes.excite.settings import ExcitationSettings, NamedMotion, declare_excitation
from sysid_ros.nodes.excite.streamed_motion import StreamedMotion
from sysid_ros.nodes.excite.trajectory_motion import TrajectoryMotion
from sysid_ros.nodes.latched import LATCHED
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.process import run_node
from sysid_ros.nodes.sending import send

_WATCH = 0.5  # s between looks at who else is there
_CLOCK_STANDS = 2.0  # s without a tick after which nothing more is waited for at the end
# s that the end waits for a controller that has a goal and does not answer: longer than Fast DDS
# takes, 20 s, to forget one, to which nothing could be sent any more.
_NO_ANSWER = 30.0


class Excite(Node):
    """Plays one motion at a time."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__("excite", **node_options)
        self._settings: ExcitationSettings = declare_excitation(self)
        self._monitor = self._settings.monitor()
        clock, self._now = motion_clock(self)
        self._ticked = time.monotonic()  # when time last went on, or was not asked about
        self._ending = math.inf  # time.monotonic() when it was first asked to end
        self._armed = NodeParameters(self).flag(
            "armed", False, "whether to move once as soon as joint states arrive, unasked"
        )
        self._controller = ControllerWatch(self)
        self._states = self.create_publisher(String, "~/state", LATCHED)
        self._sources = self.create_publisher(String, "~/motion", LATCHED)
        self._played = 0  # motions to their end
        self._motion = self._player()
        self._taken_as = ControllerParameters(self, self._settings)
        self._passes: list[float] = []  # that are still to come
        self._rest = self._monitor.positions  # the command before and after the motion
        self._state, self._is_told = "", True
        self._tell("waiting")
        if self._settings.is_effort:
            log_of(self).warning("interface is effort: every stop lets go of the robot")
        # Reliable publishers match, too; the latest state counts, not one that was sent again.
        latest = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
        heard = self.create_subscription(JointState, "joint_states", self._on_joint_states, latest)
        self._driver = DriverWatch(self, heard.topic_name)
        self.create_service(SetBool, "~/arm", self._on_arm)
        self.create_timer(self._settings.period, self._tick, clock=clock)
        self.create_timer(_WATCH, self._watch, clock=steady_clock())

    def _player(self) -> ControllerMotion | StreamedMotion:
        if self._settings.is_controlled:
            return ControllerMotion(self, self._settings, self._now)
        plays = TrajectoryMotion if self._settings.announces else StreamedMotion
        return plays(self, self._settings, self._now)

    def _on_joint_states(self, message: JointState) -> None:
        stamp = message.header.stamp
        self._monitor.observe(
            self._now(),
            message.name,
            message.position,
            message.velocity,
            message.effort,
            stamp=stamp.sec + 1e-9 * stamp.nanosec,
        )

    def _on_arm(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        if request.data:
            response.message = self._begin()
        elif not self._motion.moves:
            response.message = "nothing is moving"
        else:
            self._stop("disarmed")
        response.success = not response.message
        return response

    def _begin(self) -> str:
        """Start the motion.

        Returns:
          Why not, or an empty text.
        """
        self._armed = False  # whoever asks for more must ask again
        if self._motion.moves:
            return "a motion is running"
        try:
            self._refuse_obstacles()
            self._passes = list(self._settings.passes)
            if len(self._passes) > 1:  # a slow pass must not begin what cannot go on
                self._settings.refuse_beyond_limits(self._next.reference, self._monitor.positions)
            self._play(self._monitor.positions)
        except SysidError as error:
            log_of(self).error(f"not moving: {error}")
            return str(error)
        send(self, self._sources, String(data=self._next.source))
        self._tell("running")
        return ""

    @property
    def _next(self) -> NamedMotion:
        """The motion that is played, or would be; one that did not end well is the next again."""
        motions = self._settings.motions
        return motions[self._played % len(motions)]

    def _play(self, position: FloatArray) -> None:
        """Begin the next pass from a position (n,)."""
        speed = self._passes.pop(0)
        if speed < 1.0:
            log_of(self).info(f"a slow pass first, at {100.0 * speed:g} % of the speed")
        self._rest = self._motion.begin(self._next.reference, position, speed)
        self._monitor.start(self._now(), self._rest)

    def _end_pass(self) -> None:
        """Go on to the next pass, if the last one ended well and there is one."""
        if self._state != "running":
            self._monitor.end()
        elif not self._passes:
            self._monitor.end()
            self._played += 1
            self._tell("done")
        elif strayed := self._settings.strayed(self._monitor.farthest):
            self._monitor.end()
            self._tell(f"stopped: {strayed}")
        else:
            try:
                self._play(self._rest)
            except SysidError as error:
                self._monitor.end()
                self._tell(f"stopped: {error}")

    def _refuse_obstacles(self) -> None:
        self._look_at_driver()
        reason = self._motion.obstacle() or self._controller.problem()
        reason = reason or self._taken_as.problem()
        reason = reason or self._monitor.fault(self._now()) or self._unrest()
        if isinstance(self._motion, TrajectoryMotion):
            reason = reason or self._motion.misdated(self._monitor.clock_offset)
        if reason:
            raise ExcitationError(reason)

    def _unrest(self) -> str:
        """Say which joint moves that a first position would stop; an effort begins at zero."""
        return "" if self._settings.is_effort else self._monitor.unrest(self._now())

    def _tick(self) -> None:
        self._ticked = time.monotonic()
        if not self._motion.moves:
            return
        now = self._now()
        self._note(now, self._motion.reached(now))
        self._stop(self._motion.fault(now) or self._monitor.fault(now))
        if self._monitor.astray:  # as after an emergency stop, it may not hold what it was told
            self._motion.forget()
        self._note(now, self._motion.go_on(now))
        self._stop(self._motion.fault(self._now()))  # sending takes time
        if self._motion.ended():
            self._end_pass()

    def _note(self, now: float, command: FloatArray | None) -> None:
        if command is not None:
            self._monitor.commanded(now, command)

    def _watch(self) -> None:
        """Look at who else is there, which takes too long to do it with every command."""
        self._is_told = self._is_told or send(self, self._states, String(data=self._state))
        self._controller.look()
        self._look_at_driver()
        others = self._motion.rivals() or self._controller.problem()
        if others:
            self._motion.forget()
        if self._motion.moves:
            self._stop(others or self._taken_as.problem())
            return
        self._taken_as.look(self._motion.listeners(), self._motion.heard)
        if self._state == "waiting" and self._monitor.complete and not self._motion.settles:
            self._say_ready()
        # What may still be on its way is waited for; anything else refuses the start for good.
        may_begin = self._motion.heard and self._controller.settled
        if self._armed and self._state == "ready" and may_begin:
            if self._taken_as.is_expected:
                self._say_who_is_silent()
            elif unrest := self._unrest():
                log_of(self).repeated_warning(f"waiting: {unrest}", period=5.0)
            else:
                self._begin()

    def _say_ready(self) -> None:
        """Say that a motion may begin, once it is known what it would be taken as."""
        if self._taken_as.settled:
            self._tell("ready")
        else:
            self._say_who_is_silent()

    def _say_who_is_silent(self) -> None:
        if silent := self._taken_as.silent():
            log_of(self).repeated_warning(
                f"waiting: {silent}, which hears commands, does not answer what its parameters are",
                period=5.0,
            )

    def _look_at_driver(self) -> None:
        """Forget what the robot was told last where its driver has not heard it."""
        if self._driver.is_anew():
            self._motion.forget()

    def _stop(self, reason: str | None) -> None:
        """Begin a soft stop if there is a reason and none has begun."""
        if reason and self._motion.moves and self._state == "running":
            self._motion.stop()
            self._tell(f"stopped: {reason}")

    def come_to_rest(self) -> bool:
        """Begin a soft stop if something moves.

        Returns:
          Whether the robot rests, or is known to come to rest; also where no word of it comes.
        """
        self._stop("the node is ending")
        now = time.monotonic()
        self._ending = min(self._ending, now)  # it may have been held up before
        if not self._motion.moves and not self._motion.left_alone:
            return True
        if self._motion.left_alone and now - self._ending < _NO_ANSWER:
            self._ticked = now  # time may go on only after the answer
            if now - self._ending > _CLOCK_STANDS:
                log_of(self).repeated_warning(
                    "waiting for the controller to say that it has heard that it is to brake: "
                    f"without this node it would play its goal to the end; ends {_NO_ANSWER:g} s "
                    "after it was asked to, or once the controller is gone",
                    period=5.0,
                )
            return False
        if self._motion.moves and now - max(self._ticked, self._ending) <= _CLOCK_STANDS:
            return False
        log_of(self).warning(
            "ended in mid motion, as no time passes on /clock or the controller does not answer: "
            "once it does, the robot may go on with what it was told; look after it first"
        )
        return True

    def _tell(self, state: str) -> None:
        self._state = state
        self._is_told = send(self, self._states, String(data=state))
        log_of(self).info(state)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit status."""
    return run_node(Excite, args, ready_to_end=Excite.come_to_rest)
