# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Transitions of lifecycle nodes that say why they fail, and nodes that bring themselves up."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from sysid_ros.errors import SysidError
from sysid_ros.nodes.printable_log import log_of

_Node = TypeVar("_Node", bound=LifecycleNode)
Transition = Callable[[_Node, LifecycleState], TransitionCallbackReturn]


class _Startable(Protocol):
    @property
    def autostart(self) -> bool: ...
    def trigger_configure(self) -> TransitionCallbackReturn: ...
    def trigger_activate(self) -> TransitionCallbackReturn: ...


def reported(transition: Transition[_Node]) -> Transition[_Node]:
    """Say why a transition fails; rclpy would keep the exception to itself."""

    @functools.wraps(transition)
    def wrapper(node: _Node, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return transition(node, state)
        except SysidError as error:
            log_of(node).error(str(error))
            return TransitionCallbackReturn.FAILURE
        except Exception:
            log_of(node).error(traceback.format_exc())
            raise

    return wrapper


def bring_up(node: _Startable) -> None:
    """Configure and activate a node that is to start by itself, and say how to try again."""
    if not node.autostart:
        return
    for verb, trigger in (
        ("configure", node.trigger_configure),
        ("activate", node.trigger_activate),
    ):
        if trigger() != TransitionCallbackReturn.SUCCESS:
            named = cast(LifecycleNode, node)
            again = f"ros2 lifecycle set {named.get_fully_qualified_name()} {verb}"
            log_of(named).error(f"nothing happens until that is mended; then try again: {again}")
            return
