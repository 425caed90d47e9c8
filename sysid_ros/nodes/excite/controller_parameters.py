# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of the controllers that would obey: what they make of a command.

A list of numbers says neither of which joints they are nor whether they are positions. Those of
ros2_control say it with their parameters, which every node can be asked for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

from sysid_ros.nodes.excite.settings import ExcitationSettings

# Of forward_command_controller the first two, of joint_trajectory_controller all but the second.
_ASKED = (
    "joints",
    "interface_name",
    "interpolation_method",
    "allow_partial_joints_goal",
    "allow_trajectory_replacement",
)
_PATIENCE = 2.0  # s for which a service that is not there yet, or an answer, is waited for


class ControllerParameters:
    """Asks the nodes that hear commands, as long as nothing moves.

    No motion begins before all who hear them at a look told, or have no such service, and one of
    those is still there. Who joins them later, such as a recorder, is not waited for.
    """

    def __init__(self, node: Node, settings: ExcitationSettings) -> None:
        """Prepare; ``settings`` say what is sent to them."""
        self._node = node
        self._settings = settings
        self._asked: dict[str, _Asked] = {}  # by the name of the node
        self._told: set[str] = set()  # names, of those who were there when all had told
        self._heard = math.inf  # time.monotonic() since which somebody hears commands

    @property
    def settled(self) -> bool:
        """True if all who hear commands have told, or nobody hears."""
        return not self._awaited and (self._is_known or math.isinf(self._heard))

    @property
    def is_expected(self) -> bool:
        """True if somebody who was found just now may tell soon."""
        return not self._is_known or any(not asked.is_silent for asked in self._awaited.values())

    @property
    def _awaited(self) -> dict[str, _Asked]:
        return {name: asked for name, asked in self._asked.items() if asked.is_awaited}

    @property
    def _is_known(self) -> bool:
        """True if it is known what those who hear commands make of them."""
        # Not every program that hears commands has a name, and a name comes later than its owner.
        if not self._asked:
            return time.monotonic() - self._heard > _PATIENCE
        return bool(self._told) and not math.isinf(self._heard)

    def silent(self) -> str:
        """Name somebody who was asked some time ago and has not told; or nothing."""
        return next((name for name, asked in self._asked.items() if asked.is_silent), "")

    def look(self, names: Collection[str], heard: bool) -> None:
        """Ask the nodes of these names, which may lack some, where commands are ``heard``."""
        here = set(names)
        for name in self._asked.keys() - here:
            self._node.destroy_client(self._asked.pop(name).client)
        for name in here - self._asked.keys():
            self._asked[name] = _Asked(
                self._node.create_client(GetParameters, f"{name}/get_parameters")
            )
        for asked in self._asked.values():
            asked.ask()
        self._heard = min(self._heard, time.monotonic()) if heard else math.inf
        self._told = self._told & here if self._awaited else here

    def problem(self) -> str:
        """Return the reason why no command must go to them, by what they told; empty if one may."""
        for name, asked in self._asked.items():
            asked.take()
            if found := misunderstanding(asked.told or {}, self._settings):
                return f"controller {name} {found}"
        if not self._is_known:
            who = next(iter(self._awaited), "somebody")
            return (
                f"{who}, who hears commands, has not told yet what its parameters "
                "are; try again in some seconds"
            )
        return ""


class _Asked:
    """A node that is asked for its parameters."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.told: dict[str, Any] | None = None
        self._since = time.monotonic()
        self._answers: dict[str, Any] = {}  # futures by name of the parameter
        self._asked = -math.inf  # time.monotonic()
        self._patience = _PATIENCE

    @property
    def is_awaited(self) -> bool:
        """True if it has not told and may still; a node need not have this service."""
        return self.told is None and (self._is_new or self.client.service_is_ready())

    @property
    def is_silent(self) -> bool:
        """True if it has the service and has not told."""
        return self.is_awaited and not self._is_new

    @property
    def _is_new(self) -> bool:
        return time.monotonic() - self._since < _PATIENCE

    def take(self) -> None:
        """Take what it has answered since it was asked, if that is all."""
        answers = self._answers.items()
        if answers and all(answer.done() for _, answer in answers):
            self.told = {name: _value(answer.result().values) for name, answer in answers}

    def ask(self) -> None:
        """Ask, once more where an answer is missing for long, as it may have been lost.

        Longer from time to time, as a slow node answers only what is still waited for. Once it has
        told, it is asked for what it has: of the rest some nodes warn in their logs.
        """
        self.take()
        missing = [name for name, answer in self._answers.items() if not answer.done()]
        if missing and time.monotonic() - self._asked < self._patience:
            return
        self._asked = time.monotonic()
        self._patience = 2.0 * self._patience if missing else _PATIENCE
        for name in missing:
            self.client.remove_pending_request(self._answers.pop(name))
        if not self.client.service_is_ready():
            self._answers.clear()
            return
        told = self.told or dict.fromkeys(_ASKED, True)
        # By themselves, as some nodes answer nothing where one of several is not theirs.
        for name in missing or [name for name, value in told.items() if value is not None]:
            self._answers[name] = self.client.call_async(GetParameters.Request(names=[name]))


def _value(values: Sequence[Any]) -> Any:
    return parameter_value_to_python(values[0]) if values else None


def _joints(told: Any) -> list[str]:
    """The joints of a controller; none where a node has a parameter of this name for else."""
    if not isinstance(told, list) or not all(isinstance(name, str) for name in told):
        return []
    return [name.rpartition("/")[2] for name in told]  # of another controller that it feeds


def misunderstanding(told: Mapping[str, Any], settings: ExcitationSettings) -> str:
    """Say what a controller would make of the commands of ``excite`` that they do not mean.

    Args:
      told: Its parameters by name; ``None`` for those that it does not have.
      settings: What it is sent.

    Returns:
      The rest of a sentence that begins with the controller; empty if it understands them.
    """
    interface, method = told.get("interface_name"), told.get("interpolation_method")
    joints, own = _joints(told.get("joints")), _joints([*settings.joints])
    if settings.sends_numbers and interface and joints:
        sent = "effort" if settings.is_effort else "position"
        if interface != sent:
            return (
                f"takes numbers as {interface} (its parameter interface_name), and excite sends "
                f"them as {sent}"
            )
        if joints != own:
            return (
                f"takes numbers of the joints {', '.join(joints)}, in this order (its parameter "
                f"joints), and parameter joints of excite is {', '.join(own)}"
            )
    if settings.sends_numbers or not method or not joints:
        return ""
    if method == "none":
        return (
            "goes from point to point of a trajectory in steps: set its parameter "
            "interpolation_method to splines"
        )
    if told.get("allow_trajectory_replacement"):
        return (
            "begins each trajectory that reaches it on its way as if that began then, whatever its "
            "stamp, so that one that goes on or brakes is a step: set its parameter "
            "allow_trajectory_replacement to false"
        )
    lacking = set(joints) - set(own) if not told.get("allow_partial_joints_goal") else set()
    if lacking or not set(own) <= set(joints):
        return (
            f"takes trajectories of the joints {', '.join(joints)} (its parameter joints), and "
            f"parameter joints of excite is {', '.join(own)}"
        )
    return ""
