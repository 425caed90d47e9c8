# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The life of a node's process: start, spin, and end in good order."""

from __future__ import annotations

import atexit
import gc
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import rclpy
from rclpy.exceptions import NameValidationException, ParameterException
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from sysid_ros.errors import ExperimentError, SysidError
from sysid_ros.nodes.clocks import steady_clock, uses_simulated_time
from sysid_ros.nodes.ending import EndRequest
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.printable import print_text

AnyNode = TypeVar("AnyNode", bound=Node)

_SPIN = 0.1  # s between looks at whether a signal has come
_SILENCE = 5.0  # s without /clock
_LAST = 10.0  # s that a node may take to end in good order once a callback has failed


def run_node(
    make_node: Callable[[], AnyNode],
    args: Sequence[str] | None = None,
    *,
    make_executor: Callable[[], Executor] = SingleThreadedExecutor,
    ready_to_end: Callable[[AnyNode], bool] = lambda node: True,
    done: Callable[[AnyNode], bool] = lambda node: False,
    is_busy: Callable[[AnyNode], bool] = lambda node: False,
) -> int:
    """Run one node until SIGINT or SIGTERM, or until it is done.

    rclpy's own signal handlers end its context at once, in the middle of whatever a callback is
    doing; here the node keeps its topics until it is ready, so that a motion can brake and a bag
    can be completed.

    It ends alike when a callback fails, as nobody else brings a robot to rest then.

    Args:
      make_node: Creates the node once rclpy is up.
      args: Command line, including ROS arguments; ``None`` for the process's own.
      make_executor: Creates the executor.
      ready_to_end: Asked repeatedly after the signal, while the node still spins, until true.
      done: Whether the node has nothing more to do and ends by itself.
      is_busy: Whether a thread of it still works at the end, which Python would wait for, such as
        for code being compiled; the process ends without it.

    Returns:
      The exit status: 0, also where a signal came before the node was made, or the code of the
      error that kept it from starting or ended it.
    """
    ending = EndRequest.listen()
    if ending.made():  # while the node was imported; it would still configure itself and begin
        return 0
    try:
        node = started(make_node, args)
    except SysidError as error:
        print_text(f"error: {error}", stream=sys.stderr)
        return int(error.code)
    executor = make_executor()
    for sentence in NodeParameters(node).unknown():
        log_of(node).warning(sentence)
    _say_if_time_stands(node)
    code = 0
    try:
        executor.add_node(node)
        _spin(executor, lambda: ending.made() or done(node), lambda: ready_to_end(node))
    except SysidError as error:
        log_of(node).error(str(error))
        code = int(error.code)
    finally:
        # Its end goes on for a while, in which a signal would count as its death.
        EndRequest.ignore()
        # The order matters: a thread that still spins at exit aborts the process.
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown()
    if is_busy(node):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def stand_back(node: Node, usual: int) -> None:
    """Let this process stand back behind the robot's, by what the parameter ``nice`` says.

    Raises:
      ExperimentError: It is out of range.
    """
    what = "how much this stands back behind the robot's processes"
    os.nice(NodeParameters(node).integer("nice", usual, what, low=0, high=19))


def started(make_node: Callable[[], AnyNode], args: Sequence[str] | None) -> AnyNode:
    """Bring up rclpy and a node.

    Args:
      make_node: Creates the node.
      args: Command line, including ROS arguments; ``None`` for the process's own.

    Raises:
      ExperimentError: ROS cannot read the command line, or takes a parameter neither for what it is
        nor for the name of a topic or service.
      SysidError: What the node says of its parameters; rclpy is down again.
    """
    # Else the interpreter looks for cycles among all that was imported, for half a second, in which
    # a launch may lose its patience on a busy machine.
    atexit.register(gc.freeze)
    try:
        rclpy.init(
            args=list(args) if args is not None else None,
            signal_handler_options=SignalHandlerOptions.NO,
        )
    except RuntimeError as error:  # its text begins with what it stands at
        raise ExperimentError(f"ROS arguments: {error}") from error
    try:
        return make_node()
    except (SysidError, NameValidationException, ParameterException) as error:
        with suppress(AttributeError):  # half made, it lacks what its end would close
            rclpy.shutdown()
        if isinstance(error, SysidError):
            raise
        raise ExperimentError(f"ROS parameters: {error}") from error


def _spin(
    executor: Executor, is_to_end: Callable[[], bool], ready_to_end: Callable[[], bool]
) -> None:
    """Spin until a node is to end, or one of its callbacks fails, and it is ready to.

    Raises:
      Exception: What the first callback that failed has raised.
    """
    failure, last = None, math.inf
    while not ((failure or is_to_end()) and ready_to_end()) and time.monotonic() < last:
        try:
            executor.spin_once(timeout_sec=_SPIN)
        except Exception as error:
            if failure is None:
                failure, last = error, time.monotonic() + _LAST
    if failure is not None:
        raise failure


def _say_if_time_stands(node: Node) -> None:
    """Say it every few seconds while a node on simulated time has not heard of any."""
    if not uses_simulated_time(node):
        return

    def look() -> None:
        if node.get_clock().now().nanoseconds:
            timer.cancel()
        else:
            log_of(node).warning(
                f"use_sim_time is set and nothing came on /clock for {_SILENCE:g} s: until then no "
                "time passes here; start the simulation, or set use_sim_time to false"
            )

    timer = node.create_timer(_SILENCE, look, clock=steady_clock())
